/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"
#include "lib/sym/cursor.h"
#include "lib/sym/elf_internal.h"

/* Deflate cannot shrink by more than 1032; a zstd block of 128 KiB needs 4 bytes at least. */
#define ZLIB_RATIO_MAX 1032
#define ZSTD_RATIO_MAX 32768

#define MAP_MIN (1u << 20) /* bytes; less than that is not worth pages of its own */

struct packed {
	const uint8_t *p;
	size_t n;
	uint64_t unpacked_n;
	bool zstd;
};

static int packed_header(const struct elf_file *f, const struct elf_section *s,
			 const uint8_t *raw, struct packed *k, struct err *e)
{
	struct cursor c = cursor_at(raw, s->size, 0, f->swap);
	uint32_t type;

	*k = (struct packed){0};
	if (s->flags & SHF_COMPRESSED) {
		type = cursor_u32(&c);
		if (f->is64)
			cursor_skip(&c, 4);
		k->unpacked_n = cursor_uint(&c, f->is64 ? 8 : 4);
		cursor_skip(&c, f->is64 ? 8 : 4);
		k->zstd = type == 2; /* ELFCOMPRESS_ZSTD, newer than our elf.h */
		if (type != ELFCOMPRESS_ZLIB && !k->zstd)
			return err_set(e, ENOTSUP, "%s: unknown compression %u", s->name,
				       type);
	} else { /* "ZLIB" and the size, big-endian in any file */
		cursor_skip(&c, 4);
		c.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
		k->unpacked_n = cursor_u64(&c);
	}
	if (c.bad)
		return err_set(e, EBADMSG, "%s: cut short", s->name);
	k->p = c.p;
	k->n = cursor_left(&c);
	if (k->unpacked_n / (k->zstd ? ZSTD_RATIO_MAX : ZLIB_RATIO_MAX) > k->n)
		return err_set(e, EBADMSG, "%s: impossible size", s->name);
	return 0;
}

static bool is_packed(const struct elf_section *s, const uint8_t *raw)
{
	return (s->flags & SHF_COMPRESSED) || (!strncmp(s->name, ".zdebug_", 8) &&
					       s->size >= 12 && !memcmp(raw, "ZLIB", 4));
}

static bool is_debug(const struct elf_section *s)
{
	return !strncmp(s->name, ".debug_", 7) || !strncmp(s->name, ".zdebug_", 8);
}

static int check_size(struct elf_file *f, const struct elf_section *s, uint64_t n,
		      struct err *e)
{
	if (n > elf_room(f) || n > ELF_DATA_MAX - f->data_bytes)
		return err_set(e, EFBIG, "%s: %llu bytes are over the limit", s->name,
			       (unsigned long long)n);
	return 0;
}

static void count(struct elf_file *f, struct elf_section *s, uint64_t n)
{
	s->held = n;
	f->data_bytes += n;
	if (f->budget)
		f->budget->used += n;
}

/* Bytes of a section as they are in the file: mapped if they may be, else read. */
static int take_raw(struct elf_file *f, const struct elf_section *s, struct elf_map *map,
		    uint8_t **heap, const uint8_t **raw, struct err *e)
{
	int r;

	if (s->size >= MAP_MIN && f->fd >= 0 && is_debug(s) && !elf_relocations(f, s)) {
		*raw = elf_map_file(map, f->fd, s->offset, s->size);
		if (*raw) {
			f->mapped = true;
			return 0;
		}
	}
	r = check_size(f, s, s->size, e);
	if (r)
		return r;
	*heap = xmalloc(s->size + 1);
	*raw = *heap;
	r = elf_read_at(f, *heap, s->size, s->offset, e);
	if (r) {
		free(*heap);
		*heap = NULL;
	}
	return r;
}

static int inflate(struct elf_file *f, struct elf_section *s, const uint8_t *raw,
		   struct err *e)
{
	struct packed k;
	uint8_t *out;
	int r = packed_header(f, s, raw, &k, e);

	if (!r)
		r = check_size(f, s, k.unpacked_n, e);
	if (r)
		return r;
	out = k.unpacked_n >= MAP_MIN ? elf_map_memory(&s->map, k.unpacked_n) : NULL;
	if (!out)
		out = xmalloc(k.unpacked_n + 1);
	s->data = out;
	s->data_n = k.unpacked_n;
	r = k.zstd ? unpack_zstd(k.p, k.n, out, k.unpacked_n, e)
		   : unpack_zlib(k.p, k.n, out, k.unpacked_n, e);
	if (!r) {
		count(f, s, k.unpacked_n);
		return 0;
	}
	elf_drop_section(f, s);
	err_prefix(e, "%s", s->name);
	return r;
}

static int load(struct elf_file *f, struct elf_section *s, struct err *e)
{
	struct elf_map map = {0};
	const uint8_t *raw;
	uint8_t *heap = NULL;
	int r = take_raw(f, s, &map, &heap, &raw, e);

	if (r)
		return r;
	if (is_packed(s, raw)) {
		r = inflate(f, s, raw, e);
		free(heap);
		elf_unmap(&map);
		return r;
	}
	s->data = (uint8_t *)raw;
	s->data_n = s->size;
	s->map = map;
	if (heap)
		count(f, s, s->size);
	return 0;
}

void elf_drop_section(struct elf_file *f, struct elf_section *s)
{
	f->data_bytes -= s->held;
	if (f->budget)
		f->budget->used -= s->held;
	s->held = 0;
	if (s->failed == -EFBIG)
		s->failed = 0;
	if (s->map.p)
		elf_unmap(&s->map);
	else
		free(s->data);
	s->data = NULL;
}

static int load_whole(struct elf_file *f, struct elf_section *s, struct err *e)
{
	int r = load(f, s, e);

	if (!r && is_debug(s) && elf_relocations(f, s))
		r = elf_relocate(f, s, e);
	return r;
}

int elf_data(struct elf_file *f, struct elf_section *s, const uint8_t **p, size_t *n,
	     struct err *e)
{
	*p = (const uint8_t *)"";
	*n = 0;
	if (!s || s->type == SHT_NOBITS || !s->size)
		return 0;
	if (s->failed)
		return err_set(e, -s->failed, "%s: unreadable", s->name);
	if (!s->data)
		s->failed = load_whole(f, s, e);
	if (s->failed)
		return s->failed;
	*p = s->data;
	*n = s->data_n;
	return 0;
}

int elf_load(struct elf_file *f, uint64_t vaddr, size_t max, uint8_t **p, size_t *n,
	     struct err *e)
{
	const struct elf_segment *s = f->segments, *end = s + f->nsegments;
	uint64_t left, off;
	uint8_t *out;
	int r;

	while (s < end && (vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz))
		s++;
	if (s == end || !max)
		return err_set(e, ENXIO, "no contents at address 0x%llx",
			       (unsigned long long)vaddr);
	left = s->filesz - (vaddr - s->vaddr);
	off = s->offset + (vaddr - s->vaddr);
	if (off >= f->size)
		return err_set(e, EBADMSG, "file is shorter than its headers say");
	if (left > f->size - off)
		left = f->size - off;
	if (left > max)
		left = max;
	out = xmalloc(left);
	r = elf_read_at(f, out, left, off, e);
	if (r) {
		free(out);
		return r;
	}
	*p = out;
	*n = left;
	return 0;
}

static struct elf_section *debug_section(struct elf_file *f, const char *name)
{
	char full[64];
	struct elf_section *s;

	snprintf(full, sizeof(full), ".debug_%s", name);
	s = elf_section(f, full);
	if (s && s->type != SHT_NOBITS)
		return s;
	snprintf(full, sizeof(full), ".zdebug_%s", name);
	s = elf_section(f, full);
	return s && s->type != SHT_NOBITS ? s : NULL;
}

int elf_debug_data(struct elf_file *f, const char *name, const uint8_t **p, size_t *n,
		   struct err *e)
{
	return elf_data(f, debug_section(f, name), p, n, e);
}

bool elf_has_debug(struct elf_file *f, const char *name)
{
	struct elf_section *s = debug_section(f, name);

	return s && s->size;
}

bool elf_debuglink(struct elf_file *f, const char **name, uint32_t *crc)
{
	struct err ignored;
	const uint8_t *p;
	struct cursor c;
	size_t n, name_n;

	if (elf_data(f, elf_section(f, ".gnu_debuglink"), &p, &n, &ignored) || !n)
		return false;
	c = cursor_at(p, n, 0, f->swap);
	*name = cursor_str(&c, &name_n);
	/* padding counts from the section's start, which may lie anywhere */
	cursor_skip(&c, -(uint64_t)(c.p - p) & 3);
	*crc = cursor_u32(&c);
	return !c.bad && name_n;
}

/* .debug_sup: whether this is the supplementary file, else its name; its id in both. */
static bool read_sup(struct elf_file *f, bool *supplementary, const char **name,
		     const uint8_t **id, size_t *n)
{
	struct err ignored;
	const uint8_t *p;
	struct cursor c;
	size_t size, name_n;

	if (elf_data(f, elf_section(f, ".debug_sup"), &p, &size, &ignored) || !size)
		return false;
	c = cursor_at(p, size, 0, f->swap);
	if (cursor_u16(&c) != 5)
		return false;
	*supplementary = cursor_u8(&c) == 1;
	*name = cursor_str(&c, &name_n);
	*n = cursor_uleb(&c);
	*id = c.p;
	return cursor_skip(&c, *n) && !c.bad && *n && *n <= BUILD_ID_MAX;
}

void elf_supplementary_id(struct elf_file *f)
{
	bool supplementary;
	const uint8_t *id;
	const char *name;
	size_t n;

	if (!read_sup(f, &supplementary, &name, &id, &n) || !supplementary)
		return;
	memcpy(f->build_id, id, n);
	f->build_id_n = n;
}

bool elf_debugaltlink(struct elf_file *f, const char **name, const uint8_t **id,
		      size_t *n)
{
	bool supplementary;
	struct err ignored;
	const uint8_t *p;
	struct cursor c;
	size_t size, name_n;

	if (elf_data(f, elf_section(f, ".gnu_debugaltlink"), &p, &size, &ignored) ||
	    !size)
		return read_sup(f, &supplementary, name, id, n) && !supplementary &&
		       (*name)[0];
	c = cursor_at(p, size, 0, f->swap);
	*name = cursor_str(&c, &name_n);
	*id = c.p;
	*n = cursor_left(&c);
	return !c.bad && name_n && *n && *n <= BUILD_ID_MAX;
}
