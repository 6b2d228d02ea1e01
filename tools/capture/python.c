/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind the frames of a Python interpreter. */
#include "tools/capture/python.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "lib/base/hash.h"
#include "lib/base/idtable.h"
#include "lib/base/xalloc.h"
#include "lib/sym/pycode.h"
#include "tools/capture/clock.h"

#define TEXT_MAX 4096		     /* characters */
#define LINES_MAX (1 << 20)	     /* bytes of a location table */
#define CODES_MAX 65536		     /* of one process; then all are forgotten */
#define PROCESS_MAX_BYTES (16 << 20) /* the same: objects may be made to be large */
#define SURE_NS NS_PER_S /* after that it may be another object at the same address */

/* Objects of 3.11's 64-bit builds (Include/cpython/code.h, unicodeobject.h, bytesobject.h). */
enum {
	CODE_FIRST_LINE = 72,
	CODE_FILE = 112,
	CODE_NAME = 128, /* the qualified one */
	CODE_LINES = 136,
	CODE_BEGIN = 184,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	TEXT_ASCII = 48,   /* where the characters of ASCII begin */
	TEXT_COMPACT = 72, /* and of others */
	BYTES_LENGTH = 16,
	BYTES_DATA = 32,
};

/* What tells one code object from another that took its place. */
struct head {
	uint32_t first_line;
	uint64_t file, name, lines;
};

struct entry {
	uint64_t addr, seen_ns;
	struct head head;
	struct python_code code;
	size_t bytes; /* that it takes */
	bool good;
};

struct python {
	struct entry *v;
	size_t n, cap;
	struct id_table ids;
	size_t bytes;	   /* of all of v */
	size_t *all_bytes; /* of the names of all processes */
};

static bool is_same(const struct head *a, const struct head *b)
{
	return a->first_line == b->first_line && a->file == b->file &&
	       a->name == b->name && a->lines == b->lines;
}

static bool read_at(uint32_t tgid, uint64_t addr, void *out, size_t n)
{
	struct iovec to = {out, n}, from = {(void *)(uintptr_t)addr, n};

	return process_vm_readv((pid_t)tgid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

static bool read_head(uint32_t tgid, uint64_t addr, struct head *h)
{
	uint8_t object[CODE_BEGIN];

	if (!read_at(tgid, addr, object, sizeof(object)))
		return false;
	memcpy(&h->first_line, object + CODE_FIRST_LINE, sizeof(h->first_line));
	memcpy(&h->file, object + CODE_FILE, sizeof(h->file));
	memcpy(&h->name, object + CODE_NAME, sizeof(h->name));
	memcpy(&h->lines, object + CODE_LINES, sizeof(h->lines));
	return true;
}

static char *read_text(uint32_t tgid, uint64_t addr)
{
	struct buf utf8 = BUF_INIT(4 * TEXT_MAX + 1);
	uint8_t object[TEXT_STATE + 4], *chars;
	unsigned int state, width;
	char *text = NULL;
	uint64_t n;

	if (!read_at(tgid, addr, object, sizeof(object)))
		return NULL;
	memcpy(&n, object + TEXT_LENGTH, sizeof(n));
	memcpy(&state, object + TEXT_STATE, sizeof(state));
	width = state >> 2 & 7;
	/* compact ones only: all others are made by programs of long ago */
	if (!(state & 1 << 5) || (width != 1 && width != 2 && width != 4) || !n ||
	    n > TEXT_MAX)
		return NULL;
	chars = xmalloc(n * width);
	if (read_at(tgid, addr + (state & 1 << 6 ? TEXT_ASCII : TEXT_COMPACT), chars,
		    n * width)) {
		pycode_text(&utf8, chars, n, width);
		text = xstrdup(buf_str(&utf8));
	}
	free(chars);
	buf_release(&utf8);
	return text;
}

static bool read_lines(uint32_t tgid, uint64_t addr, struct python_code *c)
{
	uint64_t n;

	if (!read_at(tgid, addr + BYTES_LENGTH, &n, sizeof(n)) || n > LINES_MAX)
		return false;
	c->lines = xmalloc(n + 1);
	c->nlines = (uint32_t)n;
	return !n || read_at(tgid, addr + BYTES_DATA, c->lines, n);
}

static void count(struct python *py, struct entry *e, size_t bytes)
{
	py->bytes += bytes - e->bytes;
	*py->all_bytes += bytes - e->bytes;
	e->bytes = bytes;
}

static void release(struct python *py, struct entry *e)
{
	free(e->code.name);
	free(e->code.file);
	free(e->code.lines);
	e->code = (struct python_code){0};
	e->good = false;
	count(py, e, 0);
}

static void read_code(struct python *py, uint32_t tgid, struct entry *e)
{
	struct python_code *c = &e->code;

	if (*py->all_bytes >= NAMES_MAX_BYTES)
		return;

	c->first_line = e->head.first_line;
	c->begin = e->addr + CODE_BEGIN;
	c->name = read_text(tgid, e->head.name);
	c->file = c->name ? read_text(tgid, e->head.file) : NULL;
	e->good = c->file && read_lines(tgid, e->head.lines, c);
	count(py, e,
	      sizeof(*e) + c->nlines + (c->name ? strlen(c->name) : 0) +
		      (c->file ? strlen(c->file) : 0));
}

static void forget_all(struct python *py)
{
	size_t i;

	for (i = 0; i < py->n; i++)
		release(py, &py->v[i]);
	py->n = 0;
	id_table_clear(&py->ids);
}

void python_free(struct python *py)
{
	if (!py)
		return;
	forget_all(py);
	free(py->v);
	id_table_release(&py->ids);
	free(py);
}

static struct entry *entry_of(struct python *py, uint64_t addr)
{
	uint64_t h = hash_u64(0, addr);
	size_t slot = id_table_first(&py->ids, h);
	uint32_t id;

	for (; (id = id_table_at(&py->ids, h, &slot)) != ID_NONE; slot++) {
		if (py->v[id].addr == addr)
			return &py->v[id];
	}
	if (py->n == CODES_MAX || py->bytes >= PROCESS_MAX_BYTES)
		forget_all(py);
	XGROW(py->v, py->n, py->cap);
	py->v[py->n] = (struct entry){.addr = addr};
	id_table_put(&py->ids, h, (uint32_t)py->n);
	return &py->v[py->n++];
}

const struct python_code *python_code(struct proc *p, uint64_t addr, size_t *all_bytes)
{
	uint64_t now = monotonic_ns();
	struct head head;
	struct entry *e;

	if (!p->python) {
		p->python = xcalloc(1, sizeof(*p->python));
		id_table_init(&p->python->ids);
		p->python->all_bytes = all_bytes;
	}
	e = entry_of(p->python, addr);
	if (!e->seen_ns || now - e->seen_ns > SURE_NS) {
		if (!read_head(p->tgid, addr, &head))
			return e->good ? &e->code : NULL; /* it has ended since */
		if (!e->good || !is_same(&head, &e->head)) {
			release(p->python, e);
			e->head = head;
			read_code(p->python, p->tgid, e);
		}
		e->seen_ns = now;
	}
	return e->good ? &e->code : NULL;
}

uint32_t python_line(const struct python_code *c, uint64_t instruction)
{
	/* a frame that has not begun is in front of its first one */
	if (instruction < c->begin)
		return c->first_line;
	return pycode_line(c->lines, c->nlines, c->first_line,
			   (uint32_t)((instruction - c->begin) / 2));
}
