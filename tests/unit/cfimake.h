/* SPDX-License-Identifier: Apache-2.0 */
/* Writes call frame information for tests: little-endian, as many forms as there are. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "lib/base/buf.h"
#include "tests/symbolize/elfmake.h"

#define EH_ADDR 0x3000 /* of .eh_frame */
#define GOT_ADDR 0x5000
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

enum { /* DWARF 5, 7.24 */
       DEF_CFA = 0x0c,
       DEF_CFA_REGISTER = 0x0d,
       DEF_CFA_OFFSET = 0x0e,
       DEF_CFA_EXPRESSION = 0x0f,
       EXPRESSION = 0x10,
       UNDEFINED = 0x07,
       REMEMBER = 0x0a,
       RECALL = 0x0b,
       ADVANCE = 0x40, /* + bytes */
       OFFSET = 0x80,  /* + register */
       RESTORE = 0xc0,
};

struct cfimake {
	struct buf b;
	size_t cie;	     /* offset of the last one */
	bool debug, dwarf64; /* .debug_frame; 64-bit lengths */
	uint8_t version, encoding;
	bool z;
	uint8_t data_align; /* SLEB128, one byte */
};

static inline struct cfimake cfimake_new(void)
{
	return (struct cfimake){.b = BUF_INIT(1 << 20),
				.version = 1,
				.encoding = 0x1b, /* pcrel | sdata4 */
				.data_align = 0x78};
}

static inline void put(struct cfimake *k, uint64_t v, unsigned n)
{
	for (; n; n--, v >>= 8)
		buf_putc(&k->b, (char)v);
}

static inline void put_leb(struct cfimake *k, uint64_t v, bool is_signed)
{
	int64_t s = (int64_t)v;
	bool more = true;

	while (more) {
		uint8_t byte = s & 0x7f;

		s = is_signed ? s >> 7 : (int64_t)((uint64_t)s >> 7);
		more = !(s == 0 && (!is_signed || !(byte & 0x40))) &&
		       !(is_signed && s == -1 && (byte & 0x40));
		put(k, byte | (more ? 0x80 : 0), 1);
	}
}

static inline size_t begin_entry(struct cfimake *k)
{
	size_t at = k->b.len;

	if (k->dwarf64)
		put(k, 0xffffffff, 4);
	put(k, 0, k->dwarf64 ? 8 : 4);
	return at;
}

static inline void end_entry(struct cfimake *k, size_t at)
{
	size_t start = at + (k->dwarf64 ? 12 : 4);
	uint32_t n;

	while (k->b.len % 8)
		put(k, 0, 1); /* DW_CFA_nop */
	n = (uint32_t)(k->b.len - start);
	memcpy(k->b.data + start - (k->dwarf64 ? 8 : 4), &n, sizeof(n));
}

/* A CIE with the data of the letters "zR", or as letters says with data given. */
static inline void put_cie(struct cfimake *k, const char *letters, uint8_t ra,
			   const uint8_t *insns, size_t n)
{
	size_t at = begin_entry(k);
	const char *s;
	uint8_t data = 0;

	k->cie = at;
	put(k, k->debug ? UINT64_MAX : 0, k->dwarf64 ? 8 : 4);
	put(k, k->version, 1);
	buf_put(&k->b, letters, strlen(letters) + 1);
	if (k->version == 4)
		put(k, 8, 2); /* addresses of 8 bytes, no segments */
	put(k, 1, 1);
	put(k, k->data_align, 1);
	put(k, ra, 1);
	k->z = letters[0] == 'z';
	for (s = letters; *s; s++)
		data += *s == 'R' || *s == 'L' ? 1 : *s == 'P' ? 5 : 0;
	if (k->z)
		put(k, data, 1);
	for (s = letters; *s; s++) {
		if (*s == 'P')
			put(k, 0x9b, 5); /* indirect | pcrel | sdata4, and where */
		if (*s == 'R')
			put(k, k->encoding, 1);
		if (*s == 'L')
			put(k, 0x1b, 1);
	}
	buf_put(&k->b, insns, n);
	end_entry(k, at);
}

static inline void put_format(struct cfimake *k, uint8_t format, uint64_t v)
{
	static const uint8_t size[16] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8};

	if (format == 1 || format == 9)
		put_leb(k, v, format == 9);
	else
		put(k, v, size[format]);
}

/* A pointer as the CIE says. */
static inline void put_pointer(struct cfimake *k, uint64_t v)
{
	switch (k->encoding & 0x70) {
	case 0x10:
		v -= EH_ADDR + k->b.len;
		break;
	case 0x20:
		v -= TEXT_ADDR;
		break;
	case 0x30:
		v -= GOT_ADDR;
		break;
	case 0x50:
		while (k->b.len % 8)
			put(k, 0, 1);
		break;
	}
	put_format(k, k->encoding & 15, v);
}

static inline void put_fde(struct cfimake *k, uint64_t start, uint64_t size,
			   const uint8_t *insns, size_t n)
{
	size_t at = begin_entry(k);

	put(k, k->debug ? k->cie : k->b.len - k->cie, k->dwarf64 ? 8 : 4);
	put_pointer(k, start);
	put_format(k, k->encoding & 15, size);
	if (k->z)
		put(k, 0, 1);
	buf_put(&k->b, insns, n);
	end_entry(k, at);
}

/* A file with .text, .got and what was made; k may be used no more. The rows' pcs are addresses. */
static inline struct elfmake cfimake_elf(struct cfimake *k, uint16_t machine)
{
	struct elfmake m = elfmake_new();

	m.machine = machine;
	elfmake_segment(&m, 0, 0, 0x400, 0x400, PF_R, 0x1000);
	elfmake_segment(&m, 0x400, TEXT_ADDR, TEXT_SIZE, TEXT_SIZE, PF_R | PF_X, 0x400);
	elfmake_section(&m, ".got", SHT_NOBITS, SHF_ALLOC, GOT_ADDR, NULL, 8);
	elfmake_section(&m, k->debug ? ".debug_frame" : ".eh_frame", SHT_PROGBITS,
			k->debug ? 0 : SHF_ALLOC, k->debug ? 0 : EH_ADDR, k->b.data,
			k->b.len);
	buf_release(&k->b);
	return m;
}
