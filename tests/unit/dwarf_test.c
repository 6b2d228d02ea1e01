/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF written by hand: what compilers here do not produce, and what nobody should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>

#include "lib/sym/dwarf.h"
#include "tests/symbolize/elfmake.h"
#include "tests/unit/dwarfmake.h"

struct open {
	struct elf_file *f;
	struct dwarf *dw;
	struct intern *strings; /* the reader keeps its address */
	int status;
};

static struct open dbg_open_with(struct dbg *d, struct dwarf_more more)
{
	struct elfmake m = elfmake_new();
	struct open o = {0};
	struct {
		const char *name;
		struct buf *b;
	} v[] = {
		{".debug_abbrev", &d->abbrev},
		{".debug_info", &d->info},
		{".debug_line", &d->line},
		{".debug_ranges", &d->ranges},
		{".debug_rnglists", &d->rnglists},
		{".debug_addr", &d->addr},
		{".debug_str_offsets", &d->str_offsets},
		{".debug_str", &d->str},
	};
	struct err e;
	size_t i;

	u8(&d->abbrev, 0);
	for (i = 0; i < sizeof(v) / sizeof(*v); i++) {
		elfmake_section(&m, v[i].name, SHT_PROGBITS, 0, 0, v[i].b->data,
				v[i].b->len);
		buf_release(v[i].b);
	}
	o.strings = malloc(sizeof(*o.strings));
	intern_init(o.strings);
	o.f = elfmake_open(&m, ET_DYN);
	assert_non_null(o.f);
	o.status = dwarf_open(o.f, &more, o.strings, &o.dw, &e);
	return o;
}

static struct open dbg_open(struct dbg *d)
{
	return dbg_open_with(d, (struct dwarf_more){0});
}

static void dbg_close(struct open *o)
{
	dwarf_free(o->dw);
	elf_free(o->f);
	intern_release(o->strings);
	free(o->strings);
}

static char text[4096];

/* "f a.c:12 < g b.c:3": innermost first; "-" for nothing. */
static const char *look(struct open *o, uint64_t addr)
{
	struct dwarf_result r;
	struct buf b = BUF_INIT(sizeof(text) - 1);
	uint32_t i;

	assert_int_equal(o->status, 0);
	dwarf_lookup(o->dw, &addr, 1, &r);
	for (i = 0; i < r.answers[0].n; i++) {
		struct dwarf_frame *f = &r.frames[r.answers[0].first + i];
		uint32_t name = 0;

		if (f->function != DWARF_NONE) {
			const struct dwarf_function *fn =
				dwarf_function(o->dw, f->function);

			name = fn->linkage ? fn->linkage : fn->bare;
		}
		buf_printf(&b, "%s%s %s:%u", i ? " < " : "",
			   name ? intern_str(o->strings, name).p : "?",
			   f->file ? intern_str(o->strings, f->file).p : "?", f->line);
	}
	snprintf(text, sizeof(text), "%s", b.len ? buf_str(&b) : "-");
	buf_release(&b);
	dwarf_result_release(&r);
	return text;
}

static struct dbg inline_chain(int version)
{
	struct dbg d = dbg_new();
	uint32_t f, g, stmt;

	usual_abbrevs(&d);
	stmt = line_begin(&d);
	line_address(&d, 0x1100);
	line_row(&d, 1, 1, 10, 0x10);
	line_row(&d, 2, 10, 20, 0x10);
	line_row(&d, 2, 20, 30, 0x10);
	line_row(&d, 1, 30, 11, 0xd0);
	line_stop(&d);
	line_end(&d);
	unit_begin(&d, version);
	root(&d, 0x1100, 0x100, stmt);
	f = d.info.len - d.unit;
	uleb(&d.info, ABSTRACT);
	str(&d.info, "f");
	g = d.info.len - d.unit;
	uleb(&d.info, ABSTRACT);
	str(&d.info, "g");
	func(&d, "outer", 0x1100, 0x100);
	uleb(&d.info, BLOCK);
	inlined(&d, f, 0x1110, 0x20, 77);
	inlined(&d, g, 0x1120, 0x10, 88);
	end(&d); /* g */
	end(&d); /* f */
	end(&d); /* block */
	end(&d); /* outer */
	end(&d); /* root */
	unit_end(&d);
	return d;
}

static void test_inline_chain(void **state)
{
	int version;

	(void)state;
	for (version = 2; version <= 5; version++) {
		struct dbg d = inline_chain(version);
		struct open o = dbg_open(&d);

		assert_string_equal(look(&o, 0x10ff), "-");
		assert_string_equal(look(&o, 0x1100), "outer a.c:10");
		assert_string_equal(look(&o, 0x110f), "outer a.c:10");
		assert_string_equal(look(&o, 0x1110), "f b.c:20 < outer b.c:77");
		assert_string_equal(look(&o, 0x1120),
				    "g b.c:30 < f b.c:88 < outer b.c:77");
		assert_string_equal(look(&o, 0x112f),
				    "g b.c:30 < f b.c:88 < outer b.c:77");
		assert_string_equal(look(&o, 0x1130), "outer a.c:11");
		assert_string_equal(look(&o, 0x11ff), "outer a.c:11");
		assert_string_equal(look(&o, 0x1200), "-");
		assert_int_equal(dwarf_ndamaged(o.dw), 0);
		dbg_close(&o);
	}
}

/* A unit that names no addresses: those of its lines, or of its functions. */
static void test_unit_without_addresses(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	uint32_t stmt;

	(void)state;
	usual_abbrevs(&d);
	stmt = line_begin(&d);
	line_address(&d, 0x1100);
	line_row(&d, 1, 1, 10, 0x10);
	line_stop(&d);
	line_end(&d);
	unit_begin(&d, 4);
	uleb(&d.info, BARE_ROOT);
	u32(&d.info, stmt);
	func(&d, "lined", 0x1100, 0x10);
	end(&d);
	end(&d);
	unit_end(&d);
	unit_begin(&d, 4);
	uleb(&d.info, BARE_ROOT);
	u32(&d.info, 0xffff); /* no line table there */
	func(&d, "alone", 0x1200, 0x10);
	end(&d);
	end(&d);
	unit_end(&d);
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1105), "lined a.c:10");
	assert_string_equal(look(&o, 0x1205), "alone ?:0");
	assert_string_equal(look(&o, 0x1210), "-");
	dbg_close(&o);
}

/* Joined once, whatever the parts begin and end with. */
static void test_paths(void **state)
{
	static const struct {
		const char *comp, *dir, *file, *path;
	} v[] = {
		{"/b", "", "x.c", "f /b/x.c:10"},
		{"/b/", "src/", "x.c", "f /b/src/x.c:10"},
		{"/b", ".", "x.c", "f /b/x.c:10"},
		{"/b", "./", "./x.c", "f /b/x.c:10"},
		{".", "./nptl", "x.c", "f ./nptl/x.c:10"},
		{".", "", "x.c", "f ./x.c:10"},
		{"/", "", "x.c", "f /x.c:10"},
		{"/b", "/usr//include/.", "y.h", "f /usr/include/y.h:10"},
		{"/b", "src", "/abs/./z.c", "f /abs/z.c:10"},
		{"/b", "../up", "..x.c", "f /b/../up/..x.c:10"},
		{"", "", ".hidden.c", "f .hidden.c:10"},
		{"/b", ".hidden", ".", "f /b/.hidden/.:10"},
	};
	struct dbg d;
	struct open o;
	uint32_t stmt;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(*v); i++) {
		d = dbg_new();
		usual_abbrevs(&d);
		abbrev(&d, PLACED, DW_TAG_compile_unit, 1, DW_AT_stmt_list,
		       DW_FORM_sec_offset, DW_AT_comp_dir, DW_FORM_string, 0);
		stmt = line_begin_in(&d, v[i].dir, v[i].file);
		line_address(&d, 0x1100);
		line_row(&d, 3, 1, 10, 0x10);
		line_stop(&d);
		line_end(&d);
		unit_begin(&d, 4);
		uleb(&d.info, PLACED);
		u32(&d.info, stmt);
		str(&d.info, v[i].comp);
		func(&d, "f", 0x1100, 0x10);
		end(&d);
		end(&d);
		unit_end(&d);
		o = dbg_open(&d);
		assert_string_equal(look(&o, 0x1105), v[i].path);
		dbg_close(&o);
	}
}

/* Where linkers leave what they drop. */
static void test_dead_code(void **state)
{
	static const uint64_t dead[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 0x800};
	struct dbg d = dbg_new();
	struct open o;
	uint32_t stmt;
	size_t i;

	(void)state;
	usual_abbrevs(&d);
	stmt = line_begin(&d);
	for (i = 0; i < 5; i++) {
		line_address(&d, dead[i]);
		line_row(&d, 1, 1, 66, 0x4000);
		line_stop(&d);
	}
	line_address(&d, 0x1100);
	line_row(&d, 1, 1, 10, 0x10);
	line_stop(&d);
	line_end(&d);
	for (i = 0; i < 5; i++) {
		unit_begin(&d, 4);
		root(&d, dead[i], 0x4000, stmt);
		func(&d, "dead", dead[i], 0x4000);
		end(&d);
		end(&d);
		unit_end(&d);
	}
	unit_begin(&d, 4);
	root(&d, 0x1100, 0x10, stmt);
	for (i = 0; i < 5; i++) {
		func(&d, "dead", dead[i], 0x4000);
		end(&d);
	}
	func(&d, "alive", 0x1100, 0x10);
	end(&d);
	end(&d);
	unit_end(&d);
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1105), "alive a.c:10");
	assert_string_equal(look(&o, 0x1800), "-");
	dbg_close(&o);
}

static void test_overlaps(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	uint32_t stmt;

	(void)state;
	usual_abbrevs(&d);
	stmt = line_begin(&d);
	line_address(&d, 0x1100);
	line_row(&d, 1, 1, 10, 0x100);
	line_stop(&d);
	line_end(&d);
	/* a unit with bad ranges and no lines there, before the right one */
	unit_begin(&d, 4);
	root(&d, 0x1000, 0x1000, 0xffff);
	func(&d, "stray", 0x1140, 8);
	end(&d);
	end(&d);
	unit_end(&d);
	unit_begin(&d, 4);
	root(&d, 0x1100, 0x100, stmt);
	func(&d, "wide", 0x1100, 0x100);
	end(&d);
	func(&d, "narrow", 0x1110, 0x10);
	end(&d);
	func(&d, "twin", 0x1110, 0x10);
	end(&d);
	func(&d, "across", 0x1118, 0x20);
	end(&d);
	end(&d);
	unit_end(&d);
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1100), "wide a.c:10");
	assert_string_equal(look(&o, 0x1110), "narrow a.c:10");
	assert_string_equal(look(&o, 0x111f), "narrow a.c:10");
	assert_string_equal(look(&o, 0x1120), "across a.c:10");
	assert_string_equal(look(&o, 0x1138), "wide a.c:10");
	assert_string_equal(look(&o, 0x1144),
			    "wide a.c:10"); /* not the unit without lines */
	dbg_close(&o);
}

static void test_line_rows(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	uint32_t stmt;

	(void)state;
	usual_abbrevs(&d);
	stmt = line_begin(&d);
	line_address(&d, 0x1100);
	line_row(&d, 1, 1, 10, 0);     /* several rows at one address: */
	line_row(&d, 1, 10, 11, 0x10); /* the last one counts */
	line_row(&d, 1, 11, 0, 0x10);  /* no line: that of the row before */
	line_row(&d, 2, 0, 0, 0x10);   /* no line, another file: none */
	line_row(&d, 1, 0, 12, 0x10);
	line_row(&d, 1, 12, 0,
		 0x10); /* the next function's start: nothing earlier in it */
	line_stop(&d);
	line_address(&d, 0x1300); /* rows out of order */
	line_row(&d, 1, 1, 33, 0);
	line_address(&d, 0x1200);
	line_row(&d, 1, 33, 22, 0);
	line_address(&d, 0x1280);
	line_row(&d, 1, 22, 28, 0);
	line_address(&d, 0x1340);
	line_stop(&d);
	line_address(&d, 0x1500); /* a sequence that does not end */
	line_row(&d, 1, 1, 55, 0x10);
	line_end(&d);
	unit_begin(&d, 4);
	root(&d, 0x1100, 0x800, stmt);
	func(&d, "f", 0x1100, 0x40);
	end(&d);
	func(&d, "g", 0x1140, 0x10);
	end(&d);
	func(&d, "h", 0x1200, 0x140);
	end(&d);
	end(&d);
	unit_end(&d);
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1100), "f a.c:11");
	assert_string_equal(look(&o, 0x1112), "f a.c:11");
	assert_string_equal(look(&o, 0x1122), "f b.c:0");
	assert_string_equal(look(&o, 0x1130), "f a.c:12");
	assert_string_equal(look(&o, 0x1142), "g a.c:0");
	assert_string_equal(look(&o, 0x1200), "h a.c:22");
	assert_string_equal(look(&o, 0x1290), "h a.c:28");
	assert_string_equal(look(&o, 0x1310), "h a.c:33");
	assert_string_equal(look(&o, 0x1505), "-");
	dbg_close(&o);
}

/* What we do not know ends its unit and no other. */
static void test_unknown_form(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	int i;

	(void)state;
	usual_abbrevs(&d);
	for (i = 0; i < 3; i++) {
		unit_begin(&d, 4);
		root(&d, 0x1100 + i * 0x100, 0x100, 0xffff);
		func(&d, "before", 0x1100 + i * 0x100, 0x10);
		end(&d);
		if (i == 1)
			uleb(&d.info, WRONG);
		func(&d, "after", 0x1110 + i * 0x100, 0x10);
		end(&d);
		end(&d);
		unit_end(&d);
	}
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1110), "after ?:0");
	assert_string_equal(look(&o, 0x1200), "before ?:0");
	assert_string_equal(look(&o, 0x1210), "-");
	assert_string_equal(look(&o, 0x1310), "after ?:0");
	dbg_close(&o);
}

static void test_origin_loop(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	uint32_t at;

	(void)state;
	usual_abbrevs(&d);
	abbrev(&d, ODD, DW_TAG_subprogram, 0, DW_AT_specification, DW_FORM_ref4, 0);
	unit_begin(&d, 4);
	root(&d, 0x1100, 0x100, 0xffff);
	func(&d, "outer", 0x1100, 0x100);
	at = d.info.len - d.unit + 1 + 4 + 8 + 4 + 1 + 1; /* behind the inlined call */
	inlined(&d, at, 0x1110, 0x10, 5);
	end(&d);
	uleb(&d.info, ODD);
	u32(&d.info, at);			  /* itself */
	inlined(&d, 0xfffffff0, 0x1120, 0x10, 6); /* nowhere */
	end(&d);
	end(&d);
	end(&d);
	unit_end(&d);
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1110), "? ?:0 < outer ?:5");
	assert_string_equal(look(&o, 0x1120), "? ?:0 < outer ?:6");
	dbg_close(&o);
}

static void test_deep_nesting(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	int i;

	(void)state;
	usual_abbrevs(&d);
	unit_begin(&d, 4);
	root(&d, 0x1100, 0x100, 0xffff);
	func(&d, "outer", 0x1100, 0x100);
	for (i = 0; i < 100000; i++)
		uleb(&d.info, BLOCK);
	unit_end(&d);
	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1110), "outer ?:0");
	assert_int_equal(dwarf_ndamaged(o.dw), 1);
	dbg_close(&o);
}

/* More frames than anybody needs: the innermost ones are given. */
static void test_many_inlines(void **state)
{
	struct dbg d = dbg_new();
	struct dwarf_result r;
	uint64_t addr = 0x1110;
	struct open o;
	int i;

	(void)state;
	usual_abbrevs(&d);
	unit_begin(&d, 4);
	root(&d, 0x1100, 0x100, 0xffff);
	func(&d, "outer", 0x1100, 0x100);
	for (i = 0; i < 400; i++)
		inlined(&d, 11, 0x1100, 0x100, 1);
	for (i = 0; i < 402; i++)
		end(&d);
	unit_end(&d);
	o = dbg_open(&d);
	dwarf_lookup(o.dw, &addr, 1, &r);
	assert_int_equal(r.answers[0].n, DWARF_FRAMES_MAX);
	dwarf_result_release(&r);
	dbg_close(&o);
}

static void test_range_lists(void **state)
{
	struct dbg d = dbg_new();
	struct open o;

	(void)state;
	/* version 5: strings, addresses and lists by index */
	abbrev(&d, ROOT, DW_TAG_compile_unit, 1, DW_AT_ranges, DW_FORM_rnglistx,
	       DW_AT_low_pc, DW_FORM_addr, DW_AT_rnglists_base, DW_FORM_sec_offset,
	       DW_AT_addr_base, DW_FORM_sec_offset, DW_AT_str_offsets_base,
	       DW_FORM_sec_offset, 0);
	abbrev(&d, FUNC, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_strx1, DW_AT_ranges,
	       DW_FORM_rnglistx, 0);
	abbrev(&d, INLINE, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_indirect,
	       DW_AT_low_pc, DW_FORM_addrx3, DW_AT_high_pc, DW_FORM_indirect, 0);
	/* version 4: .debug_ranges with a base */
	abbrev(&d, ODD, DW_TAG_compile_unit, 1, DW_AT_ranges, DW_FORM_sec_offset,
	       DW_AT_low_pc, DW_FORM_addr, 0);
	abbrev(&d, BLOCK, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_ranges,
	       DW_FORM_sec_offset, 0);

	str(&d.str, "zero");
	str(&d.str, "one");
	u32(&d.str_offsets, 0), u32(&d.str_offsets, 0); /* header, not looked at */
	u32(&d.str_offsets, 0), u32(&d.str_offsets, 5);
	u64(&d.addr, 0); /* header */
	u64(&d.addr, 0x1400);
	u64(&d.addr, 0x1500);
	u64(&d.addr, 0x1510);
	buf_put(&d.rnglists, "header567890", 12);
	u32(&d.rnglists, 8); /* offsets of the lists, from here */
	u32(&d.rnglists, 8 + 20);
	u8(&d.rnglists, DW_RLE_offset_pair), uleb(&d.rnglists, 0),
		uleb(&d.rnglists, 0x80);
	u8(&d.rnglists, DW_RLE_base_addressx), uleb(&d.rnglists, 0);
	u8(&d.rnglists, DW_RLE_offset_pair), uleb(&d.rnglists, 0),
		uleb(&d.rnglists, 0x200);
	while (d.rnglists.len < 12 + 8 + 20)
		u8(&d.rnglists, DW_RLE_end_of_list);
	u8(&d.rnglists, DW_RLE_start_length), u64(&d.rnglists, 0x1100),
		uleb(&d.rnglists, 8);
	u8(&d.rnglists, DW_RLE_startx_endx), uleb(&d.rnglists, 1), uleb(&d.rnglists, 2);
	u8(&d.rnglists, DW_RLE_startx_length), uleb(&d.rnglists, 0), uleb(&d.rnglists, 4);
	u8(&d.rnglists, DW_RLE_start_end), u64(&d.rnglists, 0x1520),
		u64(&d.rnglists, 0x1528);
	u8(&d.rnglists, DW_RLE_startx_length), uleb(&d.rnglists, 99),
		uleb(&d.rnglists, 4);
	u8(&d.rnglists, DW_RLE_end_of_list);
	unit_begin(&d, 5);
	uleb(&d.info, ROOT);
	uleb(&d.info, 0);
	u64(&d.info, 0x1100);
	u32(&d.info, 12), u32(&d.info, 8), u32(&d.info, 8);
	uleb(&d.info, FUNC);
	u8(&d.info, 1);
	uleb(&d.info, 1);
	uleb(&d.info, INLINE);
	uleb(&d.info, DW_FORM_string);
	str(&d.info, "indirect");
	u16(&d.info, 0), u8(&d.info, 0);
	uleb(&d.info, DW_FORM_udata);
	uleb(&d.info, 0x300);
	end(&d);
	unit_end(&d);

	u64(&d.ranges, UINT64_MAX), u64(&d.ranges, 0x1900);
	u64(&d.ranges, 0), u64(&d.ranges, 0x20);
	u64(&d.ranges, 0x40), u64(&d.ranges, 0x60);
	u64(&d.ranges, 0), u64(&d.ranges, 0);
	unit_begin(&d, 4);
	uleb(&d.info, ODD);
	u32(&d.info, 0);
	u64(&d.info, 0);
	uleb(&d.info, BLOCK);
	str(&d.info, "old");
	u32(&d.info, 0);
	end(&d);
	unit_end(&d);

	o = dbg_open(&d);
	assert_string_equal(look(&o, 0x1100), "one ?:0");
	assert_string_equal(look(&o, 0x1107), "one ?:0");
	assert_string_equal(look(&o, 0x1108), "-");
	assert_string_equal(look(&o, 0x1403), "one ?:0"); /* the smaller range */
	assert_string_equal(look(&o, 0x1404), "indirect ?:0");
	assert_string_equal(look(&o, 0x150f), "one ?:0");
	assert_string_equal(look(&o, 0x1527), "one ?:0");
	assert_string_equal(look(&o, 0x1528), "indirect ?:0");
	assert_string_equal(look(&o, 0x1600), "-"); /* the unit does not claim it */
	assert_string_equal(look(&o, 0x191f), "old ?:0");
	assert_string_equal(look(&o, 0x1920), "-");
	assert_string_equal(look(&o, 0x1940), "old ?:0");
	dbg_close(&o);
}

/* One unit per line, each refers to the same huge list: work is bounded, not multiplied. */
static void test_work_is_bounded(void **state)
{
	struct dbg d = dbg_new();
	struct open o;
	int i;

	(void)state;
	abbrev(&d, ROOT, DW_TAG_compile_unit, 1, DW_AT_ranges, DW_FORM_sec_offset, 0);
	abbrev(&d, FUNC, DW_TAG_subprogram, 0, DW_AT_ranges, DW_FORM_sec_offset, 0);
	for (i = 0; i < 100000; i++)
		u64(&d.ranges, 0x1100 + i % 64), u64(&d.ranges, 0x1200);
	unit_begin(&d, 4);
	uleb(&d.info, ROOT);
	u32(&d.info, 0);
	for (i = 0; i < 400000; i++) { /* 4e10 ranges, if anybody read them all */
		uleb(&d.info, FUNC);
		u32(&d.info, 0);
	}
	unit_end(&d);
	o = dbg_open(&d);
	look(&o, 0x1150);
	assert_int_equal(dwarf_ndamaged(o.dw), 1);
	dbg_close(&o);
}

#define UNITS 30
#define GREEDY 12 /* the unit that takes all there is */

enum greed { MODEST, GREEDY_OF_WORK, GREEDY_OF_MEMORY };

static void add_greed(struct dbg *d, enum greed greed)
{
	int k;

	for (k = 0; greed == GREEDY_OF_WORK && k < 400000; k++) {
		uleb(&d->info, BLOCK);
		u32(&d->info, UNITS * 32);
	}
	for (k = 0; greed == GREEDY_OF_MEMORY && k < 200; k++) {
		uleb(&d->info, FUNC);
		str(&d->info, "small");
		u64(&d->info, 0x1120 + GREEDY * 0x40 + k % 0x20);
		u32(&d->info, 1);
	}
}

static struct dbg many_units(enum greed greed)
{
	struct dbg d = dbg_new();
	int i;

	abbrev(&d, ROOT, DW_TAG_compile_unit, 1, DW_AT_ranges, DW_FORM_sec_offset, 0);
	abbrev(&d, FUNC, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
	       DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0);
	abbrev(&d, BLOCK, DW_TAG_subprogram, 0, DW_AT_ranges, DW_FORM_sec_offset, 0);
	for (i = 0; i < UNITS; i++) {
		u64(&d.ranges, 0x1100 + i * 0x40), u64(&d.ranges, 0x1140 + i * 0x40);
		u64(&d.ranges, 0), u64(&d.ranges, 0);
	}
	for (i = 0; i < 100000; i++)
		u64(&d.ranges, 0x1100 + i % 64), u64(&d.ranges, 0x1200);
	for (i = 0; i < UNITS; i++) {
		char name[16];

		unit_begin(&d, 4);
		uleb(&d.info, ROOT);
		u32(&d.info, i * 32);
		snprintf(name, sizeof(name), "f%d", i);
		uleb(&d.info, FUNC);
		str(&d.info, name);
		u64(&d.info, 0x1100 + i * 0x40);
		u32(&d.info, 0x40);
		if (i == GREEDY)
			add_greed(&d, greed);
		end(&d);
		unit_end(&d);
	}
	return d;
}

/* Which units have names, decoded at once by so many threads in so much memory. */
static uint32_t named_units(enum greed greed, unsigned threads, uint64_t max,
			    size_t *damaged)
{
	struct dbg d = many_units(greed);
	struct open o = dbg_open_with(
		&d, (struct dwarf_more){.threads = threads, .table_max = max});
	uint64_t addrs[UNITS];
	struct dwarf_result r;
	uint32_t named = 0;
	int i;

	for (i = 0; i < UNITS; i++)
		addrs[i] = 0x1108 + i * 0x40;
	assert_int_equal(o.status, 0);
	dwarf_lookup(o.dw, addrs, UNITS, &r);
	for (i = 0; i < UNITS; i++) {
		named |= (uint32_t)(r.answers[i].n == 1) << i;
		assert_int_equal(!r.answers[i].n, r.answers[i].damaged);
		if (max)
			assert_int_equal(!r.answers[i].n, r.answers[i].over_memory);
	}
	dwarf_result_release(&r);
	*damaged = dwarf_ndamaged(o.dw);
	assert_true(!max || dwarf_table_bytes(o.dw) <= max);
	dbg_close(&o);
	return named;
}

/* The same for any number of threads: by the order of units, not by who was first. */
static void test_threads(void **state)
{
	size_t damaged;
	unsigned threads;

	(void)state;
	for (threads = 1; threads <= 7; threads += 2) {
		assert_int_equal(named_units(MODEST, threads, 0, &damaged),
				 (1u << UNITS) - 1);
		assert_int_equal(damaged, 0);
		assert_int_equal(named_units(GREEDY_OF_WORK, threads, 0, &damaged),
				 (1u << GREEDY) - 1);
		assert_int_equal(damaged, UNITS - GREEDY);
	}
}

/*
 * What does not fit in is empty and says so; the rest is there, though not all of it at once.
 */
static void test_memory(void **state)
{
	const uint32_t all = (1u << UNITS) - 1;
	size_t damaged;
	unsigned threads;

	(void)state;
	for (threads = 1; threads <= 4; threads++) {
		assert_int_equal(named_units(MODEST, threads, 64, &damaged), 0);
		assert_int_equal(damaged, UNITS);
		assert_int_equal(named_units(MODEST, threads, 4096, &damaged), all);
		assert_int_equal(damaged, 0);
		assert_int_equal(named_units(GREEDY_OF_MEMORY, threads, 4096, &damaged),
				 all & ~(1u << GREEDY));
		assert_int_equal(damaged, 1);
		assert_int_equal(
			named_units(GREEDY_OF_MEMORY, threads, 1 << 20, &damaged), all);
		assert_int_equal(damaged, 0);
	}
}

/* Each section cut at each length, and each byte inverted: any answer, no harm. */
static void test_damage(void **state)
{
	struct dbg d = inline_chain(5);
	size_t sizes[3], i, k;
	int mode;

	(void)state;
	sizes[0] = d.abbrev.len;
	sizes[1] = d.info.len;
	sizes[2] = d.line.len;
	buf_release(&d.abbrev);
	buf_release(&d.info);
	buf_release(&d.line);
	for (mode = 0; mode < 2; mode++) {
		for (i = 0; i < 3; i++) {
			for (k = 0; k < sizes[i]; k++) {
				struct open o;
				struct buf *b;

				d = inline_chain(5);
				b = i == 0 ? &d.abbrev : i == 1 ? &d.info : &d.line;
				if (mode)
					b->data[k] ^= 0xff;
				else
					b->len = k;
				o = dbg_open(&d);
				if (!o.status)
					look(&o, 0x1122);
				dbg_close(&o);
			}
		}
	}
}

static void test_none(void **state)
{
	struct dbg d = dbg_new();
	struct open o = dbg_open(&d);

	(void)state;
	assert_int_equal(o.status, -ENODATA);
	dbg_close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inline_chain),
		cmocka_unit_test(test_unit_without_addresses),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_dead_code),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_line_rows),
		cmocka_unit_test(test_unknown_form),
		cmocka_unit_test(test_origin_loop),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_many_inlines),
		cmocka_unit_test(test_range_lists),
		cmocka_unit_test(test_work_is_bounded),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
