/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "lib/io/unpack.h"
#include "lib/sym/cursor.h"
#include "lib/sym/symindex_internal.h"

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

static void put_header(const struct symindex_parts *p, const uint64_t count[NTABLES],
		       struct buf *b)
{
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

static void set_u32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

/* Of the blocks, of their checksums, of the header with that. */
void symindex_seal(uint8_t *p, size_t n)
{
	size_t at = pad8(HEADER_BYTES), size, blocks, i;
	struct cursor c = cursor_at(p, n, HEADER_BYTES - 8, SWAP);

	blocks = pad8((uint64_t)cursor_u32(&c) * record_size[BLOCKS]);
	if (n < at || blocks > n - at)
		return;
	blocks = n - blocks;
	for (i = blocks; at < blocks && n - i >= 4; at += size, i += 4) {
		size = blocks - at < BLOCK_BYTES ? blocks - at : BLOCK_BYTES;
		set_u32(p + i, unpack_crc32(0, p + at, size));
	}
	set_u32(p + HEADER_BYTES - 4, unpack_crc32(0, p + blocks, n - blocks));
	set_u32(p + 8, unpack_crc32(0, p + 12, HEADER_BYTES - 12));
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
		at += object_string(p->object, i).n + 1;
	}
	put_pad(b);
	for (i = 0; i < p->nstrings; i++)
		buf_put(b, object_string(p->object, i).p,
			object_string(p->object, i).n + 1);
	put_pad(b);
}

int symindex_write(const struct symindex_parts *p, struct buf *out, struct err *e)
{
	uint64_t count[NTABLES] = {
		[SEGMENTS] = p->elf->nsegments,
		[STARTS] = p->n,
		[ANSWERS] = p->n,
		[LOCATIONS] = p->nlocations,
		[FUNCTIONS] = p->nfunctions,
		[STRINGS] = p->nstrings,
	};
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < p->nstrings; i++)
		count[TEXT] += object_string(p->object, i).n + 1;
	if (count[TEXT] > SYMINDEX_MAX || p->n > UINT32_MAX || p->nlocations >= SYM_NONE)
		return err_set(e, EFBIG, "too much for an index");
	for (i = 0; i < TEXT; i++)
		bytes += pad8(count[i] * record_size[i]);
	count[BLOCKS] = blocks_of(bytes + pad8(count[TEXT]));
	put_header(p, count, out);
	put_code(p, out);
	put_names(p, out);
	for (i = 0; i < count[BLOCKS]; i++)
		put_u32(out, 0);
	put_pad(out);
	if (out->overflow)
		return err_set(e, EFBIG, "too much for an index");
	symindex_seal(out->data, out->len);
	return 0;
}
