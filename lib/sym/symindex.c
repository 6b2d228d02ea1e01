/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"
#include "lib/sym/cursor.h"
#include "lib/sym/symindex_internal.h"

#define SEGMENTS_MAX 4096

struct symindex {
	const uint8_t *p;
	uint8_t *heap;	    /* where the bytes are, or */
	struct elf_map map; /* here */
	size_t n;
	struct symindex_key key;
	uint32_t flags, type, blocks_crc;
	uint32_t count[NTABLES];
	const uint8_t *table[NTABLES];
	uint8_t *blocks; /* enum block of each */
};

enum block { BLOCK_UNKNOWN, BLOCK_WHOLE, BLOCK_DAMAGED };

static size_t tables_bytes(const struct symindex *x)
{
	return x->table[BLOCKS] - x->table[0];
}

static bool block_is_whole(const struct symindex *x, size_t i)
{
	size_t at = i * BLOCK_BYTES, n = tables_bytes(x) - at;
	struct cursor c;

	if (x->blocks[i] == BLOCK_UNKNOWN) {
		c = cursor_at(x->table[BLOCKS], (size_t)x->count[BLOCKS] * 4, i * 4,
			      SWAP);
		x->blocks[i] =
			unpack_crc32(0, x->table[0] + at,
				     n < BLOCK_BYTES ? n : BLOCK_BYTES) == cursor_u32(&c)
				? BLOCK_WHOLE
				: BLOCK_DAMAGED;
	}
	return x->blocks[i] == BLOCK_WHOLE;
}

/* Are these n bytes of the tables as they were written? n > 0. */
static bool is_whole(const struct symindex *x, const void *p, size_t n)
{
	size_t at = (const uint8_t *)p - x->table[0], i;

	for (i = at / BLOCK_BYTES; i <= (at + n - 1) / BLOCK_BYTES; i++)
		if (!block_is_whole(x, i))
			return false;
	return true;
}

static struct cursor unchecked(const struct symindex *x, enum table t, uint32_t i)
{
	return cursor_at(x->table[t] + (size_t)i * record_size[t], record_size[t], 0,
			 SWAP);
}

/* False: there is no such record, or it is not as it was written. */
static bool record(const struct symindex *x, enum table t, uint32_t i, struct cursor *out)
{
	if (i >= x->count[t])
		return false;
	*out = unchecked(x, t, i);
	return is_whole(x, out->p, record_size[t]);
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
	x->blocks_crc = cursor_u32(&c);
	if (at != x->n || x->key.build_id_n > BUILD_ID_MAX ||
	    x->count[SEGMENTS] > SEGMENTS_MAX || x->count[STARTS] != x->count[ANSWERS] ||
	    !x->count[TEXT] || x->count[BLOCKS] != blocks_of(tables_bytes(x)) ||
	    unpack_crc32(0, x->table[BLOCKS], x->p + x->n - x->table[BLOCKS]) !=
		    x->blocks_crc)
		return err_set(e, EBADMSG, "damaged index");
	x->blocks = xcalloc(x->count[BLOCKS], 1);
	if (x->count[SEGMENTS] &&
	    !is_whole(x, x->table[SEGMENTS],
		      (size_t)x->count[SEGMENTS] * record_size[SEGMENTS]))
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
	free(x->blocks);
	elf_unmap(&x->map);
	free(x);
}

bool symindex_is_whole(const struct symindex *x)
{
	return is_whole(x, x->table[0], tables_bytes(x));
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

uint32_t symindex_nfunctions(const struct symindex *x)
{
	return x->count[FUNCTIONS];
}

uint32_t symindex_nstrings(const struct symindex *x)
{
	return x->count[STRINGS];
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
		struct cursor c = unchecked(x, SEGMENTS, i);
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
	struct cursor c = unchecked(x, STARTS, i);

	return cursor_u64(&c);
}

/*
 * How many stretches start at vaddr or before; *out. The way there may lead over damage: what it
 * has come to is right if the two starts around it are as they were written.
 */
static bool count_starts(const struct symindex *x, uint64_t vaddr, uint32_t *out)
{
	uint32_t lo = 0, hi = x->count[STARTS], mid;
	struct cursor c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (start_at(x, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*out = lo;
	return (!lo || record(x, STARTS, lo - 1, &c)) &&
	       (lo == x->count[STARTS] || record(x, STARTS, lo, &c));
}

struct sym_answer symindex_find(const struct symindex *x, uint64_t vaddr)
{
	static const struct sym_answer damaged = {.location = SYM_NONE,
						  .reason = SYM_DAMAGED};
	struct sym_answer a = {.location = SYM_NONE, .reason = SYM_NO_FUNCTION};
	struct cursor c;
	uint32_t n;

	if (!count_starts(x, vaddr, &n))
		return damaged;
	if (!n)
		return a;
	if (!record(x, ANSWERS, n - 1, &c))
		return damaged;
	a.location = cursor_u32(&c);
	a.source = cursor_u8(&c);
	a.reason = cursor_u8(&c);
	if (a.location >= x->count[LOCATIONS])
		a.location = SYM_NONE;
	return a.source < SYM_NSOURCES && a.reason < SYM_NREASONS ? a : damaged;
}

bool symindex_location(const struct symindex *x, uint32_t id, struct sym_location *out)
{
	struct cursor c;

	if (!record(x, LOCATIONS, id, &c))
		return false;
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

	if (!record(x, FUNCTIONS, id, &c))
		return false;
	out->name = cursor_u32(&c);
	out->system = cursor_u32(&c);
	out->start_line = cursor_u32(&c);
	return true;
}

bool symindex_string(const struct symindex *x, uint32_t id, struct str *out)
{
	struct cursor c;
	uint32_t off, left;
	const char *p;

	if (!record(x, STRINGS, id, &c))
		return false;
	off = cursor_u32(&c);
	if (off >= x->count[TEXT])
		return false;
	p = (const char *)x->table[TEXT] + off;
	left = x->count[TEXT] - off;
	*out = (struct str){p, strnlen(p, left)};
	return out->n < left && is_whole(x, p, (size_t)out->n + 1);
}
