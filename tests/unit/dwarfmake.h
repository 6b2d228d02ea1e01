/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the sections of DWARF for tests: units with their abbreviations, and line tables. */
#pragma once

#include <dwarf.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/buf.h"

struct dbg {
	struct buf abbrev, info, line, ranges, rnglists, addr, str_offsets, str;
	size_t unit, table; /* where the open unit and line table start */
};

static inline struct dbg dbg_new(void)
{
	struct buf b = BUF_INIT(1 << 22);

	return (struct dbg){b, b, b, b, b, b, b, b, 0, 0};
}

static inline void u8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

static inline void u16(struct buf *b, uint16_t v)
{
	buf_put(b, &v, 2);
}

static inline void u32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, 4);
}

static inline void u64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, 8);
}

static inline void uleb(struct buf *b, uint64_t v)
{
	do {
		u8(b, (v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
}

static inline void str(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s) + 1);
}

/* abbrev(d, code, tag, children, attribute, form, …, 0) */
static inline void abbrev(struct dbg *d, unsigned code, unsigned tag, int children, ...)
{
	va_list ap;
	int v;

	uleb(&d->abbrev, code);
	uleb(&d->abbrev, tag);
	u8(&d->abbrev, children);
	va_start(ap, children);
	while ((v = va_arg(ap, int))) {
		uleb(&d->abbrev, v);
		v = va_arg(ap, int);
		uleb(&d->abbrev, v);
		if (v == DW_FORM_implicit_const)
			uleb(&d->abbrev, va_arg(ap, int));
	}
	va_end(ap);
	u16(&d->abbrev, 0);
}

static inline void patch(struct buf *b, size_t at)
{
	uint32_t n = b->len - at - 4;

	memcpy(b->data + at, &n, 4);
}

static inline void unit_begin(struct dbg *d, int version)
{
	d->unit = d->info.len;
	u32(&d->info, 0);
	u16(&d->info, version);
	if (version >= 5) {
		u8(&d->info, DW_UT_compile);
		u8(&d->info, 8);
		u32(&d->info, 0);
	} else {
		u32(&d->info, 0);
		u8(&d->info, 8);
	}
}

static inline void unit_end(struct dbg *d)
{
	patch(&d->info, d->unit);
}

/*
 * A version 4 line table for files "a.c", "b.c"; the program follows. dir: NULL, or that of a
 * third file.
 */
static inline uint32_t line_begin_in(struct dbg *d, const char *dir, const char *file)
{
	static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	size_t header;

	d->table = d->line.len;
	u32(&d->line, 0);
	u16(&d->line, 4);
	header = d->line.len;
	u32(&d->line, 0);
	u8(&d->line, 1);	   /* minimum instruction length */
	u8(&d->line, 1);	   /* operations per instruction */
	u8(&d->line, 1);	   /* default is_stmt */
	u8(&d->line, (uint8_t)-5); /* line base */
	u8(&d->line, 14);	   /* line range */
	u8(&d->line, 13);	   /* opcode base */
	buf_put(&d->line, lengths, sizeof(lengths));
	if (dir && dir[0])
		str(&d->line, dir);
	str(&d->line, "");
	str(&d->line, "a.c");
	u8(&d->line, 0), u8(&d->line, 0), u8(&d->line, 0);
	str(&d->line, "b.c");
	u8(&d->line, 0), u8(&d->line, 0), u8(&d->line, 0);
	if (dir) {
		str(&d->line, file);
		u8(&d->line, dir[0] != 0), u8(&d->line, 0), u8(&d->line, 0);
	}
	str(&d->line, "");
	patch(&d->line, header);
	return d->table;
}

static inline uint32_t line_begin(struct dbg *d)
{
	return line_begin_in(d, NULL, NULL);
}

static inline void line_address(struct dbg *d, uint64_t addr)
{
	u8(&d->line, 0);
	u8(&d->line, 9);
	u8(&d->line, DW_LNE_set_address);
	u64(&d->line, addr);
}

/* A row at the current address, then on by `advance` bytes. */
static inline void line_row(struct dbg *d, unsigned file, int from, int to,
			    unsigned advance)
{
	int delta = to - from;

	u8(&d->line, DW_LNS_set_file);
	uleb(&d->line, file);
	u8(&d->line, DW_LNS_advance_line);
	while (delta > 63 || delta < -64) {
		u8(&d->line, (delta & 0x7f) | 0x80);
		delta >>= 7;
	}
	u8(&d->line, delta & 0x7f);
	u8(&d->line, DW_LNS_copy);
	u8(&d->line, DW_LNS_advance_pc);
	uleb(&d->line, advance);
}

static inline void line_stop(struct dbg *d)
{
	u8(&d->line, 0);
	u8(&d->line, 1);
	u8(&d->line, DW_LNE_end_sequence);
}

static inline void line_end(struct dbg *d)
{
	patch(&d->line, d->table);
}

/* An opened file, and what one address looks like as text. */
enum { ROOT = 1, FUNC, INLINE, ABSTRACT, BARE_ROOT, BLOCK, ODD, WRONG, PLACED };

static inline void usual_abbrevs(struct dbg *d)
{
	abbrev(d, ROOT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	       DW_FORM_data4, DW_AT_stmt_list, DW_FORM_sec_offset, 0);
	abbrev(d, FUNC, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
	       DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0);
	abbrev(d, INLINE, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin,
	       DW_FORM_ref4, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4,
	       DW_AT_call_file, DW_FORM_implicit_const, 2, DW_AT_call_line, DW_FORM_data1,
	       0);
	abbrev(d, ABSTRACT, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, 0);
	abbrev(d, BARE_ROOT, DW_TAG_compile_unit, 1, DW_AT_stmt_list, DW_FORM_sec_offset,
	       0);
	abbrev(d, BLOCK, DW_TAG_lexical_block, 1, 0);
	abbrev(d, WRONG, DW_TAG_subprogram, 1, DW_AT_name, 0x7e, 0);
}

static inline void root(struct dbg *d, uint64_t low, uint32_t size, uint32_t stmt)
{
	uleb(&d->info, ROOT);
	u64(&d->info, low);
	u32(&d->info, size);
	u32(&d->info, stmt);
}

static inline void func(struct dbg *d, const char *name, uint64_t low, uint32_t size)
{
	uleb(&d->info, FUNC);
	str(&d->info, name);
	u64(&d->info, low);
	u32(&d->info, size);
}

static inline void inlined(struct dbg *d, uint32_t origin, uint64_t low, uint32_t size,
			   int call_line)
{
	uleb(&d->info, INLINE);
	u32(&d->info, origin);
	u64(&d->info, low);
	u32(&d->info, size);
	u8(&d->info, call_line);
}

static inline void end(struct dbg *d)
{
	u8(&d->info, 0);
}
