/* SPDX-License-Identifier: Apache-2.0 */
/* Reading perf maps and jitdumps. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cursor.h"
#include "lib/sym/jitmap.h"
#include "lib/sym/jitmap_internal.h"

#define NAME_MAX_BYTES 4096
#define RECORD_MAX_BYTES (256u << 20)

const char *jitmap_string(struct jitmap *m, const char *p, size_t n)
{
	if (n > JITMAP_TEXT_MAX - m->text_bytes) {
		m->full = true;
		return NULL;
	}
	m->text_bytes += n + 1;
	return arena_bytes(&m->text, p, n);
}

struct jit_code *jitmap_add(struct jitmap *m, uint64_t start, uint64_t size,
			    const char *name, size_t n)
{
	struct jit_code *c;
	const char *s;

	if (!size || start > UINT64_MAX - size)
		return NULL;
	if (m->n == JITMAP_CODES_MAX) {
		m->full = true;
		return NULL;
	}
	s = jitmap_string(m, name, n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES);
	if (!s)
		return NULL;
	XGROW(m->codes, m->n, m->cap);
	c = &m->codes[m->n++];
	*c = (struct jit_code){
		.start = start,
		.size = size,
		.name = s,
		.file = "",
		.seq = ++m->last_seq,
	};
	m->sorted = false;
	return c;
}

/* --- perf map ------------------------------------------------------------------------------ */

/* A hexadecimal number, with or without 0x, and the blanks behind it. */
static bool take_hex(const char **p, const char *end, uint64_t *v)
{
	const char *at = *p;
	int digits = 0;
	char c;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (*v = 0; at < end; at++, digits++) {
		c = *at;
		if (c >= '0' && c <= '9')
			c -= '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			c = (c | 0x20) - 'a' + 10;
		else
			break;
		*v = *v << 4 | (uint8_t)c;
	}
	if (!digits || digits > 16 || at == end || (*at != ' ' && *at != '\t'))
		return false;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	*p = at;
	return true;
}

/* ":NUMBER" at the end of [p, *end), which then ends in front of it. */
static bool take_number_back(const char *p, const char **end, uint32_t *v)
{
	const char *at = *end, *digits;
	uint64_t n = 0;

	while (at > p && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (at == *end || *end - at > 9 || at == p || at[-1] != ':')
		return false;
	for (digits = at; digits < *end; digits++)
		n = n * 10 + (uint64_t)(*digits - '0');
	*v = (uint32_t)n;
	*end = at - 1;
	return true;
}

/*
 * V8 writes "KIND:NAME FILE:LINE:COLUMN", with no NAME for functions that have none. Before it had
 * the kind JS, as in Node 18, it wrote no COLUMN.
 */
static void split_v8(struct jitmap *m, struct jit_code *c)
{
	const char *name = c->name, *end = name + strlen(name), *space, *file;
	uint32_t line, column;
	bool js = !strncmp(name, "JS:", 3);

	if (!js && strncmp(name, "LazyCompile:", 12) && strncmp(name, "Function:", 9) &&
	    strncmp(name, "Script:", 7) && strncmp(name, "Eval:", 5))
		return;
	space = strchr(name, ' ');
	if (!space || !take_number_back(space + 1, &end, &column))
		return;
	if (!take_number_back(space + 1, &end, &line)) {
		if (js)
			return;
		line = column;
	}
	if (end == space + 1)
		return;
	file = jitmap_string(m, space + 1, end - space - 1);
	if (!file)
		return;
	c->file = file;
	c->start_line = line;
	if (strchr(":*~^+", space[-1])) {
		/* the mark in front of the name tells the compiler's tier */
		static const char none[] = "(anonymous)";
		char text[64 + sizeof(none)];
		size_t n = space - name;

		if (n > 64)
			return;
		memcpy(text, name, n);
		memcpy(text + n, none, sizeof(none));
		name = jitmap_string(m, text, n + sizeof(none) - 1);
	} else {
		name = jitmap_string(m, name, space - name);
	}
	if (name)
		c->name = name;
}

static void take_line(struct jitmap *m, const char *p, const char *end)
{
	struct jit_code *c;
	uint64_t start, size;

	if (!take_hex(&p, end, &start) || !take_hex(&p, end, &size))
		return;
	while (end > p && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (p == end || memchr(p, 0, end - p))
		return;
	c = jitmap_add(m, start, size, p, end - p);
	if (c)
		split_v8(m, c);
}

size_t jitmap_feed_text(struct jitmap *m, const char *p, size_t n)
{
	const char *at = p, *end = p + n, *nl;

	while (at < end && (nl = memchr(at, '\n', end - at))) {
		take_line(m, at, nl);
		at = nl + 1;
	}
	return at - p;
}

/* --- jitdump ------------------------------------------------------------------------------- */

#define DUMP_MAGIC 0x4A695444
#define DUMP_HEADER_BYTES 40
#define DUMP_FLAG_ARCH_TIME 1 /* of the CPU's counter, not of a clock */
#define RECORD_HEADER_BYTES 16

enum record { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

/* Bytes of the header, 0 if it is not whole yet. */
static int64_t take_header(struct jitmap *m, const uint8_t *p, size_t n, struct err *e)
{
	struct cursor c = cursor_at(p, n, 0, false);
	uint32_t magic, version, size;
	uint64_t flags;

	if (n < DUMP_HEADER_BYTES)
		return 0;
	magic = cursor_u32(&c);
	version = cursor_u32(&c);
	size = cursor_u32(&c);
	cursor_skip(&c, 20); /* machine, pad, process, time */
	flags = cursor_u64(&c);
	if (magic != DUMP_MAGIC || version != 1)
		return err_set(e, EBADMSG, "not a jitdump of this machine's byte order");
	if (size < DUMP_HEADER_BYTES || size > RECORD_MAX_BYTES)
		return err_set(e, EBADMSG, "jitdump: header of %" PRIu32 " bytes", size);
	if (size > n)
		return 0;
	m->timed = !(flags & DUMP_FLAG_ARCH_TIME);
	m->headed = true;
	return size;
}

/* The string at c, and the position behind its NUL. */
static const char *take_string(struct cursor *c, size_t *n)
{
	const char *s = (const char *)c->p;
	const uint8_t *nul = memchr(c->p, 0, cursor_left(c));

	if (!nul) {
		cursor_fail(c);
		return NULL;
	}
	*n = nul - c->p;
	c->p = nul + 1;
	return s;
}

static void take_load(struct jitmap *m, struct cursor *c, uint64_t time_ns)
{
	uint64_t addr, size;
	struct jit_code *code;
	const char *name;
	size_t n;

	cursor_skip(c, 16); /* process, thread, the address it was linked for */
	addr = cursor_u64(c);
	size = cursor_u64(c);
	cursor_skip(c, 8); /* index */
	name = take_string(c, &n);
	if (!name)
		return;
	code = jitmap_add(m, addr, size, name, n);
	if (!code)
		return;
	code->time_ns = time_ns;
	if (m->debug_line0 != UINT32_MAX && m->debug_addr == addr) {
		code->line0 = m->debug_line0;
		code->nlines = m->nlines - m->debug_line0;
	}
	m->debug_line0 = UINT32_MAX;
	split_v8(m, code);
	/* V8's lines are garbage where it inlined (11.3, seen); its names tell file and line */
	if (*code->file)
		code->nlines = 0;
}

static void take_move(struct jitmap *m, struct cursor *c, uint64_t time_ns)
{
	uint64_t from, to, size;
	const struct jit_code *old;
	struct jit_code *code, was;

	cursor_skip(c, 16);
	from = cursor_u64(c);
	to = cursor_u64(c);
	size = cursor_u64(c);
	old = c->bad ? NULL : jitmap_find(m, from, UINT64_MAX);
	if (!old)
		return;
	was = *old;
	code = jitmap_add(m, to, size, was.name, strlen(was.name));
	if (!code)
		return;
	code->time_ns = time_ns;
	code->file = was.file;
	code->start_line = was.start_line;
	/* its lines are for where it was: they do not hold any more */
}

static int cmp_lines(const void *pa, const void *pb)
{
	const struct jit_line *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void take_debug_info(struct jitmap *m, struct cursor *c)
{
	static const char same[] = "\xff"; /* the file of the entry before */
	const char *file = "", *s;
	struct jit_line l;
	uint64_t i, count;
	size_t n;

	m->debug_addr = cursor_u64(c);
	count = cursor_u64(c);
	m->debug_line0 = m->nlines;
	for (i = 0; i < count && !c->bad; i++) {
		l.addr = cursor_u64(c);
		l.line = cursor_u32(c);
		cursor_skip(c, 4); /* discriminator */
		s = take_string(c, &n);
		if (!s)
			break;
		if (m->nlines == JITMAP_LINES_MAX) {
			m->full = true;
			break;
		}
		if (strcmp(s, same))
			file = jitmap_string(m, s,
					     n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES);
		if (!file)
			break;
		l.file = file;
		XGROW(m->lines, m->nlines, m->lines_cap);
		m->lines[m->nlines++] = l;
	}
	if (m->nlines > m->debug_line0)
		qsort(m->lines + m->debug_line0, m->nlines - m->debug_line0,
		      sizeof(*m->lines), cmp_lines);
}

int64_t jitmap_feed_dump(struct jitmap *m, const uint8_t *p, size_t n, struct err *e)
{
	uint32_t id, size;
	uint64_t time_ns;
	struct cursor c;
	size_t at = 0;
	int64_t r;

	if (!m->headed) {
		r = take_header(m, p, n, e);
		if (r <= 0)
			return r;
		at = r;
	}
	while (n - at >= RECORD_HEADER_BYTES) {
		c = cursor_at(p, n, at, false);
		id = cursor_u32(&c);
		size = cursor_u32(&c);
		time_ns = cursor_u64(&c);
		if (size < RECORD_HEADER_BYTES || size > RECORD_MAX_BYTES)
			return err_set(e, EBADMSG, "jitdump: record of %" PRIu32 " bytes",
				       size);
		if (size > n - at)
			break;
		c.end = p + at + size;
		if (!m->timed)
			time_ns = 0;
		if (id == CODE_LOAD)
			take_load(m, &c, time_ns);
		else if (id == CODE_MOVE)
			take_move(m, &c, time_ns);
		else if (id == CODE_DEBUG_INFO)
			take_debug_info(m, &c);
		if (c.bad)
			return err_set(e, EBADMSG,
				       "jitdump: record %" PRIu32 " is too short", id);
		at += size;
	}
	return at;
}
