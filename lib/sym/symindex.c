/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/symindex.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"
#include "lib/sym/cursor.h"

#define MAGIC "PPSYMX01"
#define MAGIC_NAME 6 /* bytes of it; the rest is the version */
#define SWAP (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#define SEGMENTS_MAX 4096
#define NO_LOCATION UINT32_MAX

enum { FLAG_LINES = 1, FLAG_64 = 2, FLAG_SYMBOLS = 4 };

/* Tables of the file, in order; sizes of their records. */
enum table { SEGMENTS, STARTS, ANSWERS, LOCATIONS, FUNCTIONS, STRINGS, TEXT, NTABLES };

static const uint32_t record_size[NTABLES] = {
	[SEGMENTS] = 48,  [STARTS] = 8,	 [ANSWERS] = 8, [LOCATIONS] = 20,
	[FUNCTIONS] = 12, [STRINGS] = 4, [TEXT] = 1,
};

/* magic, CRC of the rest of the header, flags, type, id's size, id, files, counts, CRC of the
 * tables */
#define HEADER_BYTES (8 + 4 * 4 + BUILD_ID_MAX + 8 + 4 * NTABLES + 4)

struct symindex {
	const uint8_t *p;
	uint8_t *heap;	    /* where the bytes are, or */
	struct elf_map map; /* here */
	size_t n;
	struct symindex_key key;
	uint32_t flags, type, tables_crc;
	uint32_t count[NTABLES];
	const uint8_t *table[NTABLES];
};

static uint64_t pad8(uint64_t n)
{
	return (n + 7) & ~7ull;
}

static struct cursor record(const struct symindex *x, enum table t, uint32_t i)
{
	return cursor_at(x->table[t] + (size_t)i * record_size[t], record_size[t], 0,
			 SWAP);
}

static int read_header(struct symindex *x, struct err *e)
{
	struct cursor c = cursor_at(x->p, x->n, 8, SWAP);
	uint32_t crc = cursor_u32(&c);
	uint64_t at = pad8(HEADER_BYTES);
	int i;

	if (x->n < at || memcmp(x->p, MAGIC, MAGIC_NAME) != 0)
		return err_set(e, EBADMSG, "not an index of symbols");
	if (memcmp(x->p, MAGIC, 8) != 0)
		return err_set(e, ENOTSUP, "index of another version");
	if (unpack_crc32(0, x->p + 12, HEADER_BYTES - 12) != crc)
		return err_set(e, EBADMSG, "damaged index");
	x->flags = cursor_u32(&c);
	x->type = cursor_u32(&c);
	x->key.build_id_n = cursor_u32(&c);
	memcpy(x->key.build_id, c.p, BUILD_ID_MAX);
	cursor_skip(&c, BUILD_ID_MAX);
	x->key.files = cursor_u64(&c);
	for (i = 0; i < NTABLES; i++) {
		x->count[i] = cursor_u32(&c);
		x->table[i] = x->p + (at < x->n ? at : x->n);
		at += pad8((uint64_t)x->count[i] * record_size[i]);
	}
	x->tables_crc = cursor_u32(&c);
	if (at != x->n || x->key.build_id_n > BUILD_ID_MAX ||
	    x->count[SEGMENTS] > SEGMENTS_MAX || x->count[STARTS] != x->count[ANSWERS] ||
	    !x->count[TEXT] || x->table[TEXT][x->count[TEXT] - 1])
		return err_set(e, EBADMSG, "damaged index");
	return 0;
}

static int parse(const uint8_t *p, size_t n, uint8_t *heap, struct elf_map map,
		 struct symindex **out, struct err *e)
{
	struct symindex *x = xcalloc(1, sizeof(*x));
	int r;

	x->p = p;
	x->n = n;
	x->heap = heap;
	x->map = map;
	r = read_header(x, e);
	if (r)
		symindex_free(x);
	else
		*out = x;
	return r;
}

int symindex_parse(uint8_t *p, size_t n, struct symindex **out, struct err *e)
{
	return parse(p, n, p, (struct elf_map){0}, out, e);
}

static int read_all(int fd, uint8_t *p, size_t n, struct err *e)
{
	ssize_t got;

	while (n) {
		got = read(fd, p, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(e, errno, "read");
		if (!got)
			return err_set(e, EBADMSG, "damaged index");
		p += got;
		n -= got;
	}
	return 0;
}

int symindex_read(const char *path, struct symindex **out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r = 0;
	struct elf_map map = {0};
	const uint8_t *p = NULL;
	uint8_t *heap = NULL;
	struct stat st;

	if (fd < 0)
		return err_set(e, errno, "%s", strerror(errno));
	if (fstat(fd, &st) < 0)
		r = err_errno(e, errno, "fstat");
	else if (!S_ISREG(st.st_mode) || st.st_size < 8 ||
		 (uint64_t)st.st_size > SYMINDEX_MAX)
		r = err_set(e, EBADMSG, "not an index of symbols");
	if (!r)
		p = elf_map_file(&map, fd, 0, st.st_size);
	if (!r && !p) {
		p = heap = xmalloc(st.st_size);
		r = read_all(fd, heap, st.st_size, e);
	}
	close(fd);
	if (r) {
		free(heap);
		return r;
	}
	return parse(p, st.st_size, heap, map, out, e);
}

void symindex_free(struct symindex *x)
{
	if (!x)
		return;
	free(x->heap);
	elf_unmap(&x->map);
	free(x);
}

bool symindex_is_whole(const struct symindex *x)
{
	size_t at = pad8(HEADER_BYTES);

	return unpack_crc32(0, x->p + at, x->n - at) == x->tables_crc;
}

struct str symindex_file(const struct symindex *x)
{
	return (struct str){(const char *)x->p, x->n};
}

struct symindex_key symindex_key(const struct symindex *x)
{
	return x->key;
}

enum symindex_quality symindex_quality(const struct symindex *x)
{
	return x->flags & FLAG_LINES	 ? SYMINDEX_LINES
	       : x->flags & FLAG_SYMBOLS ? SYMINDEX_SYMBOLS
					 : SYMINDEX_EXPORTS;
}

uint64_t symindex_bytes(const struct symindex *x)
{
	return x->heap ? x->n : 0;
}

uint32_t symindex_nlocations(const struct symindex *x)
{
	return x->count[LOCATIONS];
}

struct elf_file *symindex_elf(const struct symindex *x)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));
	uint32_t i;

	f->fd = -1;
	f->type = x->type;
	f->is64 = x->flags & FLAG_64;
	f->build_id_n = x->key.build_id_n;
	memcpy(f->build_id, x->key.build_id, f->build_id_n);
	f->segments = xcalloc(x->count[SEGMENTS] + 1, sizeof(*f->segments));
	for (i = 0; i < x->count[SEGMENTS]; i++) {
		struct cursor c = record(x, SEGMENTS, i);
		struct elf_segment *s = &f->segments[f->nsegments++];

		s->vaddr = cursor_u64(&c);
		s->offset = cursor_u64(&c);
		s->filesz = cursor_u64(&c);
		s->memsz = cursor_u64(&c);
		s->align = cursor_u64(&c);
		s->exec = cursor_u64(&c);
		/* as the reader of ELF files leaves no others */
		if (!s->align || (s->align & (s->align - 1)) ||
		    s->vaddr + s->memsz < s->vaddr || s->offset + s->filesz < s->offset)
			f->nsegments--;
	}
	return f;
}

static uint64_t start_at(const struct symindex *x, uint32_t i)
{
	struct cursor c = record(x, STARTS, i);

	return cursor_u64(&c);
}

struct sym_answer symindex_find(const struct symindex *x, uint64_t vaddr)
{
	struct sym_answer a = {.location = SYM_NONE, .reason = SYM_NO_FUNCTION};
	uint32_t lo = 0, hi = x->count[STARTS], mid;
	struct cursor c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (start_at(x, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return a;
	c = record(x, ANSWERS, lo - 1);
	a.location = cursor_u32(&c);
	a.source = cursor_u8(&c);
	a.reason = cursor_u8(&c);
	if (a.location >= x->count[LOCATIONS])
		a.location = SYM_NONE;
	if (a.source >= SYM_NSOURCES || a.reason >= SYM_NREASONS)
		a = (struct sym_answer){.location = SYM_NONE, .reason = SYM_DAMAGED};
	return a;
}

bool symindex_location(const struct symindex *x, uint32_t id, struct sym_location *out)
{
	struct cursor c;

	if (id >= x->count[LOCATIONS])
		return false;
	c = record(x, LOCATIONS, id);
	out->function = cursor_u32(&c);
	out->file = cursor_u32(&c);
	out->line = cursor_u32(&c);
	out->column = cursor_u32(&c);
	out->caller = cursor_u32(&c);
	return out->function < x->count[FUNCTIONS] &&
	       (out->caller == SYM_NONE || out->caller < id);
}

bool symindex_function(const struct symindex *x, uint32_t id, struct sym_function *out)
{
	struct cursor c;

	if (id >= x->count[FUNCTIONS])
		return false;
	c = record(x, FUNCTIONS, id);
	out->name = cursor_u32(&c);
	out->system = cursor_u32(&c);
	out->start_line = cursor_u32(&c);
	return true;
}

struct str symindex_string(const struct symindex *x, uint32_t id)
{
	struct str none = {"", 0};
	struct cursor c;
	uint32_t off;
	const char *p;

	if (id >= x->count[STRINGS])
		return none;
	c = record(x, STRINGS, id);
	off = cursor_u32(&c);
	if (off >= x->count[TEXT])
		return none;
	p = (const char *)x->table[TEXT] + off;
	return (struct str){p, strnlen(p, x->count[TEXT] - off)};
}

/* --- writing --------------------------------------------------------------------------------- */

static void put_u32(struct buf *b, uint32_t v)
{
	v = htole32(v);
	buf_put(b, &v, sizeof(v));
}

static void put_u64(struct buf *b, uint64_t v)
{
	v = htole64(v);
	buf_put(b, &v, sizeof(v));
}

static void put_pad(struct buf *b)
{
	while (b->len % 8 && !b->overflow)
		buf_putc(b, 0);
}

static void put_header(const struct symindex_parts *p, uint32_t text, struct buf *b)
{
	const uint32_t count[NTABLES] = {
		[SEGMENTS] = p->elf->nsegments,
		[STARTS] = p->n,
		[ANSWERS] = p->n,
		[LOCATIONS] = p->nlocations,
		[FUNCTIONS] = p->nfunctions,
		[STRINGS] = p->nstrings,
		[TEXT] = text,
	};
	int i;

	buf_puts(b, MAGIC);
	put_u32(b, 0);
	put_u32(b, (p->quality == SYMINDEX_LINES ? FLAG_LINES : 0) |
			   (p->quality == SYMINDEX_SYMBOLS ? FLAG_SYMBOLS : 0) |
			   (p->elf->is64 ? FLAG_64 : 0));
	put_u32(b, p->elf->type);
	put_u32(b, p->key.build_id_n);
	buf_put(b, p->key.build_id, BUILD_ID_MAX);
	put_u64(b, p->key.files);
	for (i = 0; i < NTABLES; i++)
		put_u32(b, count[i]);
	put_u32(b, 0);
	put_pad(b);
}

static void put_checksums(struct buf *b)
{
	size_t at = pad8(HEADER_BYTES);
	uint32_t crc = htole32(unpack_crc32(0, b->data + at, b->len - at));

	memcpy(b->data + HEADER_BYTES - sizeof(crc), &crc, sizeof(crc));
	crc = htole32(unpack_crc32(0, b->data + 12, HEADER_BYTES - 12));
	memcpy(b->data + 8, &crc, sizeof(crc));
}

static void put_code(const struct symindex_parts *p, struct buf *b)
{
	size_t i;

	for (i = 0; i < p->elf->nsegments; i++) {
		const struct elf_segment *s = &p->elf->segments[i];

		put_u64(b, s->vaddr);
		put_u64(b, s->offset);
		put_u64(b, s->filesz);
		put_u64(b, s->memsz);
		put_u64(b, s->align);
		put_u64(b, s->exec);
	}
	for (i = 0; i < p->n; i++)
		put_u64(b, p->starts[i]);
	for (i = 0; i < p->n; i++) {
		put_u32(b, p->answers[i].location);
		put_u32(b, p->answers[i].source | p->answers[i].reason << 8);
	}
}

static void put_names(const struct symindex_parts *p, struct buf *b)
{
	struct sym_location l;
	struct sym_function f;
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < p->nlocations; i++) {
		l = object_location(p->object, i);
		put_u32(b, l.function);
		put_u32(b, l.file);
		put_u32(b, l.line);
		put_u32(b, l.column);
		put_u32(b, l.caller);
	}
	put_pad(b);
	for (i = 0; i < p->nfunctions; i++) {
		f = object_function(p->object, i);
		put_u32(b, f.name);
		put_u32(b, f.system);
		put_u32(b, f.start_line);
	}
	put_pad(b);
	for (i = 0; i < p->nstrings; i++) {
		put_u32(b, at);
		at += strlen(object_string(p->object, i)) + 1;
	}
	put_pad(b);
	for (i = 0; i < p->nstrings; i++)
		buf_put(b, object_string(p->object, i),
			strlen(object_string(p->object, i)) + 1);
	put_pad(b);
}

int symindex_write(const struct symindex_parts *p, struct buf *out, struct err *e)
{
	uint64_t text = 0;
	size_t i;

	for (i = 0; i < p->nstrings; i++)
		text += strlen(object_string(p->object, i)) + 1;
	if (text > SYMINDEX_MAX || p->n > UINT32_MAX || p->nlocations >= NO_LOCATION)
		return err_set(e, EFBIG, "too much for an index");
	put_header(p, text, out);
	put_code(p, out);
	put_names(p, out);
	if (!out->overflow)
		put_checksums(out);
	return out->overflow ? err_set(e, EFBIG, "too much for an index") : 0;
}
