/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables of made-up call frame information. Real files: tests/cli/unwindtab.t. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <cmocka.h>
#include <zlib.h>

#include "lib/sym/unwindtab.h"
#include "tests/unit/cfimake.h"

#define RULE(cfa, saved) ((cfa) | (saved) << 4)
#define X86_CIE BYTES(DEF_CFA, 7, 8, OFFSET + 16, 1)
#define ARM_CIE BYTES(DEF_CFA, 31, 0)

static const struct unwind_limits limits = {.max_rows = 1000};

/* Build, and free the file. */
static int build(struct elf_file *f, struct unwind_table *t, struct err *e)
{
	int r;

	assert_non_null(f);
	r = unwind_table_build(f, &limits, t, e);
	elf_free(f);
	return r;
}

static struct unwind_table table_of(struct elfmake *m)
{
	struct unwind_table t;
	struct err e;

	if (build(elfmake_open(m, ET_DYN), &t, &e))
		fail_msg("%s", e.msg);
	return t;
}

static struct unwind_table table(struct cfimake *k, uint16_t machine)
{
	struct elfmake m = cfimake_elf(k, machine);

	return table_of(&m);
}

static void check_rows(struct unwind_table *t, const struct unwind_row *want, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < t->nrows; i++)
		if (memcmp(&t->rows[i], &want[i], sizeof(*want)))
			fail_msg("row %zu: pc %x cfa %d fp %d rule %x", i, t->rows[i].pc,
				 t->rows[i].cfa, t->rows[i].fp, t->rows[i].rule);
	assert_int_equal(t->nrows, n);
	unwind_table_release(t);
}

#define CHECK_ROWS(t, ...)                                                               \
	do {                                                                             \
		const struct unwind_row want_[] = {__VA_ARGS__};                         \
		check_rows(t, want_, sizeof(want_) / sizeof(*want_));                    \
	} while (0)

/* The row of a function with these instructions, all of them at its start. */
static struct unwind_row row_of(uint16_t machine, const char *letters,
				const uint8_t *insns, size_t n)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;
	struct unwind_row row;

	if (machine == EM_X86_64)
		put_cie(&k, letters, 16, X86_CIE);
	else
		put_cie(&k, letters, 30, ARM_CIE);
	put_fde(&k, 0x1100, 0x100, insns, n);
	t = table(&k, machine);
	assert_int_equal(t.nrows, 2);
	assert_int_equal(t.nunsupported, (t.rows[0].rule & 15) == UNWIND_UNSUPPORTED);
	assert_int_equal(t.rows[0].pc, 0x1100);
	assert_int_equal(t.rows[1].pc, 0x1200);
	assert_int_equal(t.rows[1].rule, UNWIND_NONE);
	row = t.rows[0];
	unwind_table_release(&t);
	return row;
}

static void check_row(struct unwind_row row, int rule, int cfa, int fp)
{
	assert_int_equal(row.rule, rule);
	assert_int_equal(row.cfa, cfa);
	assert_int_equal(row.fp, fp);
}

#define X86_ROW(rule, cfa, fp, ...)                                                      \
	check_row(row_of(EM_X86_64, "zR", BYTES(__VA_ARGS__)), rule, cfa, fp)
#define ARM_ROW(rule, cfa, fp, ...)                                                      \
	check_row(row_of(EM_AARCH64, "zR", BYTES(__VA_ARGS__)), rule, cfa, fp)

/* push %rbp; mov %rsp,%rbp; …; pop %rbp; ret, and an early way out. */
static void test_function(void **state)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;

	(void)state;
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x40,
		BYTES(ADVANCE + 1, DEF_CFA_OFFSET, 16, OFFSET + 6, 2, ADVANCE + 3,
		      DEF_CFA_REGISTER, 6, ADVANCE + 8, REMEMBER, DEF_CFA, 7, 8,
		      RESTORE + 6, ADVANCE + 1, RECALL, 0x02 /* advance_loc1 */, 0x20,
		      DEF_CFA, 7, 8, RESTORE + 6));
	t = table(&k, EM_X86_64);
	assert_int_equal(t.machine, EM_X86_64);
	assert_int_equal(t.nsegments, 1);
	assert_int_equal(t.segments[0].offset, 0x400);
	assert_int_equal(t.segments[0].size, TEXT_SIZE);
	assert_int_equal(t.segments[0].pc, TEXT_ADDR);
	assert_null(unwind_table_find(&t, 0x10ff));
	assert_int_equal(unwind_table_find(&t, 0x1100)->cfa, 1);
	assert_int_equal(unwind_table_find(&t, 0x1103)->cfa, 2);
	assert_int_equal(unwind_table_find(&t, 0x113f)->cfa, 1);
	assert_null(unwind_table_find(&t, 0x1140));
	assert_null(unwind_table_find(&t, UINT32_MAX));
	CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP},
		   {0x1101, 2, -2, RULE(UNWIND_SP, UNWIND_FP_AT_CFA)},
		   {0x1104, 2, -2, RULE(UNWIND_FP, UNWIND_FP_AT_CFA)},
		   {0x110c, 1, 0, UNWIND_SP},
		   {0x110d, 2, -2, RULE(UNWIND_FP, UNWIND_FP_AT_CFA)},
		   {0x112d, 1, 0, UNWIND_SP}, {0x1140, 0, 0, UNWIND_NONE});
}

/* Padding, gaps, equal neighbours, functions in any order. */
static void test_ends(void **state)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;

	(void)state;
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1300, 0x10, BYTES(DEF_CFA_OFFSET, 24));
	put_fde(&k, 0x1100, 0x11, BYTES(0));
	put_fde(&k, 0x1120, 0x10, BYTES(0));
	put_fde(&k, 0x1140, 0x10, BYTES(0));
	put_fde(&k, 0x1150, 0, BYTES(DEF_CFA_OFFSET, 32)); /* empty */
	put_fde(&k, 0x150, 0x10, BYTES(0));		   /* where no code is */
	put_fde(&k, 0x1ff0, 0x100, BYTES(0));		   /* ends behind the code */
	t = table(&k, EM_X86_64);
	CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP}, {0x1130, 0, 0, UNWIND_NONE},
		   {0x1140, 1, 0, UNWIND_SP}, {0x1150, 0, 0, UNWIND_NONE},
		   {0x1300, 3, 0, UNWIND_SP}, {0x1310, 0, 0, UNWIND_NONE},
		   {0x1ff0, 1, 0, UNWIND_SP}, {0x2000, 0, 0, UNWIND_NONE});
}

static void test_overlap(void **state)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;

	(void)state;
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x100, BYTES(ADVANCE + 63, DEF_CFA_OFFSET, 16));
	put_fde(&k, 0x1120, 0x10, BYTES(DEF_CFA_OFFSET, 24));
	put_fde(&k, 0x1100, 0x80, BYTES(DEF_CFA_OFFSET, 32));
	t = table(&k, EM_X86_64);
	CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP}, {0x1120, 3, 0, UNWIND_SP},
		   {0x1130, 0, 0, UNWIND_NONE});
}

static void test_encodings(void **state)
{
	static const uint8_t formats[] = {0, 1, 2, 3, 4, 9, 10, 11, 12};
	static const uint8_t bases[] = {0, 0x10, 0x20, 0x30, 0x40, 0x50};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(bases); i++) {
		for (j = 0; j < sizeof(formats); j++) {
			struct cfimake k = cfimake_new();
			struct unwind_table t;

			k.encoding = bases[i] | formats[j];
			/* aligned ones are whole; unsigned bytes do not lead back */
			if ((bases[i] == 0x50 && formats[j]) ||
			    (bases[i] && formats[j] == 2) ||
			    (bases[i] && formats[j] == 3))
				continue;
			put_cie(&k, "zPLR", 16, X86_CIE);
			put_fde(&k, 0x1100, 0x10, BYTES(DEF_CFA_OFFSET, 24));
			t = table(&k, EM_X86_64);
			CHECK_ROWS(&t, {0x1100, 3, 0, UNWIND_SP},
				   {0x1110, 0, 0, UNWIND_NONE});
		}
	}
}

/* What cannot be read has no rows, and what follows it has. */
static void test_unreadable(void **state)
{
	static const char *const letters[] = {"zR", "zRX", "XzR", "zRSSSSSSSSSS", ""};
	struct unwind_table t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(letters) / sizeof(*letters); i++) {
		struct cfimake k = cfimake_new();

		k.encoding = i ? 0x1b : 0x9b; /* indirect */
		put_cie(&k, letters[i], 16, X86_CIE);
		put_fde(&k, 0x1100, 0x10, BYTES(DEF_CFA_OFFSET, 24));
		k.encoding = 0x1b;
		put_cie(&k, "zR", 16, X86_CIE);
		put_fde(&k, 0x1200, 0x10, BYTES(DEF_CFA_OFFSET, 24));
		t = table(&k, EM_X86_64);
		CHECK_ROWS(&t, {0x1200, 3, 0, UNWIND_SP}, {0x1210, 0, 0, UNWIND_NONE});
	}
}

/* .debug_frame of each version, in either format. */
static void test_debug_frame(void **state)
{
	static const uint8_t versions[] = {1, 3, 4};
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		struct cfimake k = cfimake_new();
		struct unwind_table t;

		k.debug = true;
		k.dwarf64 = i >= 3;
		k.version = versions[i % 3];
		k.encoding = 0;
		put_cie(&k, "", 16, X86_CIE);
		put_fde(&k, 0x1100, 0x10, BYTES(DEF_CFA_OFFSET, 24));
		put_cie(&k, "", 16, BYTES(DEF_CFA, 7, 16, OFFSET + 16, 1));
		put_fde(&k, 0x1180, 0x10, BYTES(0));
		t = table(&k, EM_X86_64);
		CHECK_ROWS(&t, {0x1100, 3, 0, UNWIND_SP}, {0x1110, 0, 0, UNWIND_NONE},
			   {0x1180, 2, 0, UNWIND_SP}, {0x1190, 0, 0, UNWIND_NONE});
	}
}

static void test_dwarf64_eh(void **state)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;

	(void)state;
	k.dwarf64 = true;
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x10, BYTES(DEF_CFA_OFFSET, 24));
	t = table(&k, EM_X86_64);
	CHECK_ROWS(&t, {0x1100, 3, 0, UNWIND_SP}, {0x1110, 0, 0, UNWIND_NONE});
}

/* Both sections: .debug_frame, compressed, for what .eh_frame does not have. */
static void test_both(void **state)
{
	struct cfimake k = cfimake_new(), d = cfimake_new();
	struct elfmake m;
	struct unwind_table t;
	uint8_t packed[1024];
	Elf64_Chdr ch = {.ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 8};
	uLongf n = sizeof(packed) - sizeof(ch);

	(void)state;
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x40, BYTES(0));
	put_fde(&k, 0x1200, 0x40, BYTES(0));
	d.debug = true;
	d.encoding = 0;
	put_cie(&d, "", 16, X86_CIE);
	put_fde(&d, 0x1200, 0x40, BYTES(DEF_CFA_OFFSET, 32)); /* the same */
	put_fde(&d, 0x1120, 0x80, BYTES(DEF_CFA_OFFSET, 40)); /* reaches over */
	put_fde(&d, 0x1180, 0x20, BYTES(DEF_CFA_OFFSET, 24)); /* new */
	m = cfimake_elf(&k, EM_X86_64);
	ch.ch_size = d.b.len;
	assert_int_equal(compress(packed + sizeof(ch), &n, d.b.data, d.b.len), Z_OK);
	memcpy(packed, &ch, sizeof(ch));
	elfmake_section(&m, ".debug_frame", SHT_PROGBITS, SHF_COMPRESSED, 0, packed,
			n + sizeof(ch));
	buf_release(&d.b);
	t = table_of(&m);
	CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP}, {0x1140, 0, 0, UNWIND_NONE},
		   {0x1180, 3, 0, UNWIND_SP}, {0x11a0, 0, 0, UNWIND_NONE},
		   {0x1200, 1, 0, UNWIND_SP}, {0x1240, 0, 0, UNWIND_NONE});
}

/* Each way to say it. */
static void test_instructions(void **state)
{
	(void)state;
	X86_ROW(UNWIND_SP, 3, 0, 0x12 /* def_cfa_sf */, 7, 0x7d);
	X86_ROW(UNWIND_SP, 3, 0, 0x13 /* def_cfa_offset_sf */, 0x7d);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_AT_CFA), 1, -2, 0x05 /* offset_extended */, 6,
		2);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_AT_CFA), 1, 2, 0x11 /* its _sf */, 6, 0x7e);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_AT_CFA), 1, 2, 0x2f /* GNU's negative */, 6, 2);
	X86_ROW(UNWIND_SP, 1, 0, OFFSET + 6, 2, 0x06 /* restore_extended */, 6);
	X86_ROW(UNWIND_SP, 1, 0, OFFSET + 6, 2, 0x08 /* same_value */, 6);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, UNDEFINED, 6);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, 0x09 /* register */, 6, 3);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, 0x14 /* val_offset */, 6, 3);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, 0x15, 6, 3);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, 0x16, 6, 2, 0x77, 8);
	X86_ROW(UNWIND_SP, 2, 0, 0x2e /* GNU_args_size */, 0x80, 1, OFFSET + 3, 5,
		0x09 /* of other registers */, 3, 4, EXPRESSION, 3, 2, 0x77, 8,
		DEF_CFA_OFFSET, 16);
	X86_ROW(UNWIND_SP, 2, 0, REMEMBER, DEF_CFA_OFFSET, 16, REMEMBER, DEF_CFA_OFFSET,
		24, RECALL);
	/* nothing to recall, too much to remember, no such instruction, cut short */
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, RECALL);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, REMEMBER, REMEMBER, REMEMBER, REMEMBER,
		REMEMBER, REMEMBER, REMEMBER, REMEMBER, REMEMBER);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, 0x3f);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 0x7f, 0x77);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 2, 0x77, 8, DEF_CFA_OFFSET,
		8);
}

static void test_advance(void **state)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;

	(void)state;
	k.encoding = 0x03; /* udata4 */
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x800,
		BYTES(0x02, 0x10, DEF_CFA_OFFSET, 16, 0x03, 0, 1, DEF_CFA_OFFSET, 24,
		      0x04, 0, 2, 0, 0, DEF_CFA_OFFSET, 32, 0x01 /* set_loc */, 0, 0x15,
		      0, 0, DEF_CFA_OFFSET, 40, 0x01, 0, 0x12, 0, 0 /* back */));
	t = table(&k, EM_X86_64);
	CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP}, {0x1110, 2, 0, UNWIND_SP},
		   {0x1210, 3, 0, UNWIND_SP}, {0x1410, 4, 0, UNWIND_SP},
		   {0x1500, 0, 0, UNWIND_UNSUPPORTED}, {0x1900, 0, 0, UNWIND_NONE});
}

static void test_x86_rules(void **state)
{
	(void)state;
	X86_ROW(UNWIND_END, 0, 0, UNDEFINED, 16);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, 0x08, 16);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, OFFSET + 16, 2);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA, 10, 0);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_OFFSET, 12);
	X86_ROW(UNWIND_SP, 32767, 0, DEF_CFA_OFFSET, 0xf8, 0xff, 0x0f);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_OFFSET, 0x80, 0x80, 0x10);
	/* the frame pointer far from the CFA, near the base; far from both */
	X86_ROW(RULE(UNWIND_FP, UNWIND_FP_AT_CFA), 128, -128, DEF_CFA, 6, 0x80, 8,
		OFFSET + 6, 0x80, 1);
	X86_ROW(RULE(UNWIND_FP, UNWIND_FP_AT_BASE), 130, 1, DEF_CFA, 6, 0x90, 8,
		OFFSET + 6, 0x81, 1);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, OFFSET + 6, 0x88, 2);
	/* gcc where it aligns the stack: rbp is saved where it points to */
	X86_ROW(RULE(UNWIND_DEREF_FP, UNWIND_FP_AT_BASE), -1 * 16, 0, DEF_CFA_EXPRESSION,
		3, 0x76, 0x78, 0x06, EXPRESSION, 6, 2, 0x76, 0);
	X86_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 1, 0, EXPRESSION, 6, 2, 0x76, 0);
	/* OpenSSL */
	X86_ROW(RULE(UNWIND_DEREF_SP, UNWIND_FP_AT_CFA), 19 * 16 + 1, -3,
		DEF_CFA_EXPRESSION, 6, 0x77, 0x98, 1, 0x06, 0x23, 8, OFFSET + 6, 3);
	X86_ROW(UNWIND_DEREF_SP, -1 * 16 + 7, 0, DEF_CFA_EXPRESSION, 5, 0x77, 0x78, 0x06,
		0x23, 56);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 6, 0x77, 0x78, 0x06, 0x23,
		0x80, 1);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 4, 0x77, 0x78, 0x06, 0x06);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 2, 0x77, 8);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 3, 0x70, 8, 0x06);
	/* PLT: + 8 from the 11th byte of an entry on */
	X86_ROW(UNWIND_PLT, 1, 11, DEF_CFA_EXPRESSION, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
		0x3b, 0x2a, 0x33, 0x24, 0x22);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 11, 0x77, 8, 0x80, 0, 0x3f,
		0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22);
	X86_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_EXPRESSION, 11, 0x77, 8, 0x80, 0, 0x3f,
		0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, OFFSET + 6, 2);
}

static void test_signal(void **state)
{
	(void)state;
	check_row(row_of(EM_X86_64, "zRS",
			 BYTES(DEF_CFA_EXPRESSION, 4, 0x77, 0xa0, 1, 0x06)),
		  UNWIND_SIGNAL, 0, 0);
	/* another frame, or the same rule without the mark */
	check_row(row_of(EM_X86_64, "zRS",
			 BYTES(DEF_CFA_EXPRESSION, 4, 0x77, 0xa8, 1, 0x06)),
		  UNWIND_DEREF_SP, 21 * 16, 0);
	check_row(row_of(EM_X86_64, "zR",
			 BYTES(DEF_CFA_EXPRESSION, 4, 0x77, 0xa0, 1, 0x06)),
		  UNWIND_DEREF_SP, 20 * 16, 0);
	check_row(row_of(EM_X86_64, "zRS", BYTES(DEF_CFA_OFFSET, 16)), UNWIND_SP, 2, 0);
	check_row(row_of(EM_AARCH64, "zRS", BYTES(0)), UNWIND_SIGNAL, 0, 0);
}

static void test_arm_rules(void **state)
{
	(void)state;
	ARM_ROW(UNWIND_SP, 0, 0, 0);
	ARM_ROW(UNWIND_END, 0, 0, UNDEFINED, 30);
	/* paciasp; stp x29,x30,[sp,-32]!; mov x29,sp */
	ARM_ROW(RULE(UNWIND_SP, UNWIND_FP_AT_CFA), 4, -4, 0x2d, DEF_CFA_OFFSET, 32,
		OFFSET + 29, 4, OFFSET + 30, 3);
	ARM_ROW(RULE(UNWIND_FP, UNWIND_FP_AT_CFA), 4, -4, DEF_CFA, 29, 32, OFFSET + 29, 4,
		OFFSET + 30, 3);
	/* big locals above the record */
	ARM_ROW(RULE(UNWIND_FP, UNWIND_FP_AT_BASE), 512, 0, DEF_CFA, 29, 0x80, 0x20,
		OFFSET + 29, 0x80, 4, OFFSET + 30, 0xff, 3);
	ARM_ROW(RULE(UNWIND_SP, UNWIND_FP_AT_BASE), 512, 2, DEF_CFA, 31, 0x80, 0x20,
		OFFSET + 29, 0xfe, 3, OFFSET + 30, 0xfd, 3);
	ARM_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA, 31, 0x80, 0x20, OFFSET + 29, 0x80, 2,
		OFFSET + 30, 0xff, 1);
	/* the return address alone */
	ARM_ROW(RULE(UNWIND_SP, UNWIND_RA_AT_CFA), 2, -2, DEF_CFA_OFFSET, 16, OFFSET + 30,
		2);
	ARM_ROW(RULE(UNWIND_SP, UNWIND_RA_AT_BASE), 512, 1, DEF_CFA, 31, 0x80, 0x20,
		OFFSET + 30, 0xff, 3);
	/* the frame pointer alone: the return address is still in lr */
	ARM_ROW(RULE(UNWIND_SP, UNWIND_FP_UNDEFINED), 2, 0, DEF_CFA_OFFSET, 16,
		OFFSET + 29, 2);
	ARM_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_OFFSET, 32, OFFSET + 29, 4, OFFSET + 30,
		2);
	ARM_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA_OFFSET, 32, UNDEFINED, 29, OFFSET + 30,
		2);
	ARM_ROW(UNWIND_UNSUPPORTED, 0, 0, 0x09, 30, 17);
	ARM_ROW(UNWIND_UNSUPPORTED, 0, 0, DEF_CFA, 17, 0);
	check_row(row_of(EM_AARCH64, "zRBG", BYTES(DEF_CFA_OFFSET, 16)), UNWIND_SP, 2, 0);
}

/* Another return address column, and a CIE too long to be run for each FDE. */
static void test_odd_cie(void **state)
{
	uint8_t insns[200] = {DEF_CFA, 7, 8, OFFSET + 16, 1};
	struct cfimake k = cfimake_new();
	struct unwind_table t;

	(void)state;
	put_cie(&k, "zR", 17, X86_CIE);
	put_fde(&k, 0x1100, 0x10, BYTES(0));
	put_cie(&k, "zR", 16, insns, sizeof(insns));
	put_fde(&k, 0x1200, 0x10, BYTES(0));
	put_cie(&k, "zR", 16, BYTES(ADVANCE + 1));
	put_fde(&k, 0x1300, 0x10, BYTES(0));
	t = table(&k, EM_X86_64);
	assert_int_equal(t.nunsupported, 3);
	CHECK_ROWS(&t, {0x1100, 0, 0, UNWIND_UNSUPPORTED}, {0x1110, 0, 0, UNWIND_NONE},
		   {0x1200, 0, 0, UNWIND_UNSUPPORTED}, {0x1210, 0, 0, UNWIND_NONE},
		   {0x1300, 0, 0, UNWIND_UNSUPPORTED}, {0x1310, 0, 0, UNWIND_NONE});
}

/* The entry routine: as its symbol says, up to the next function, or a little way. */
static void test_entry(void **state)
{
	static const uint64_t next[] = {0x1f00, 0x1080, 0x1f00, 0x1040};
	static const uint32_t end[] = {0x1060, 0x1060, 0x1140, 0x1040};
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		Elf64_Sym syms[2] = {{0}, {.st_value = 0x1040, .st_size = 0x20}};
		struct cfimake k = cfimake_new();
		struct elfmake m;
		struct unwind_table t;

		put_cie(&k, "zR", 16, X86_CIE);
		put_fde(&k, next[i], 0x10, BYTES(0));
		m = cfimake_elf(&k, EM_X86_64);
		if (i != 2)
			elfmake_section(&m, ".symtab", SHT_SYMTAB, 0, 0, syms,
					sizeof(syms));
		m.entry = 0x1040;
		t = table_of(&m);
		if (end[i] == 0x1040) /* has a row of its own */
			CHECK_ROWS(&t, {0x1040, 1, 0, UNWIND_SP},
				   {0x1050, 0, 0, UNWIND_NONE});
		else
			CHECK_ROWS(&t, {0x1040, 0, 0, UNWIND_END},
				   {end[i], 0, 0, UNWIND_NONE},
				   {next[i], 1, 0, UNWIND_SP},
				   {next[i] + 0x10, 0, 0, UNWIND_NONE});
	}
}

/* Right behind a function: its end is where this begins. */
static void test_entry_behind(void **state)
{
	struct cfimake k = cfimake_new();
	struct elfmake m;
	struct unwind_table t;

	(void)state;
	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x10, BYTES(0));
	m = cfimake_elf(&k, EM_X86_64);
	m.entry = 0x1110;
	t = table_of(&m);
	CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP}, {0x1110, 0, 0, UNWIND_END},
		   {0x1210, 0, 0, UNWIND_NONE});
}

/* arm64's vDSO as Linux 6.1 has it: no call frame information. */
static void test_arm_vdso(void **state)
{
	static const char names[] = "\0__kernel_rt_sigreturn";
	Elf64_Sym syms[2] = {{0}, {.st_name = 1, .st_value = 0x17bc, .st_size = 8}};
	static const uint16_t machines[] = {EM_AARCH64, EM_X86_64};
	struct unwind_table t;
	struct elfmake m;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		m = elfmake_new();
		m.machine = machines[i];
		elfmake_segment(&m, 0, TEXT_ADDR, TEXT_SIZE, TEXT_SIZE, PF_R | PF_X, 1);
		elfmake_section(&m, ".dynsym", SHT_DYNSYM, 0, 0, syms, sizeof(syms));
		elfmake_section(&m, ".dynstr", SHT_STRTAB, 0, 0, names, sizeof(names));
		if (machines[i] == EM_AARCH64) {
			t = table_of(&m);
			CHECK_ROWS(&t, {0x7b8, 0, 0, UNWIND_SIGNAL},
				   {0x7c4, 0, 0, UNWIND_NONE});
		} else {
			assert_int_equal(build(elfmake_open(&m, ET_DYN), &t, &e),
					 -ENODATA);
		}
	}
}

/* This machine's vDSO, which is no file: clock_gettime() is somewhere in its code. */
static void test_own_vdso(void **state)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	struct elf_file *f = NULL;
	struct unwind_table t;
	Elf64_Ehdr eh;
	size_t n;
	struct err e;

	(void)state;
	if (!image) {
		close(fd);
		skip();
	}
	memcpy(&eh, image, sizeof(eh));
	n = eh.e_shoff + (size_t)eh.e_shnum * eh.e_shentsize;
	assert_int_equal(write(fd, image, n), n);
	assert_int_equal(elf_open_fd(fd, &f, &e), 0);
	if (build(f, &t, &e))
		fail_msg("%s", e.msg);
	assert_true(t.nrows > 1);
	assert_int_equal(t.rows[t.nrows - 1].rule, UNWIND_NONE);
	unwind_table_release(&t);
}

/* Found by its header alone, with and without an end. */
static void test_no_sections(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct cfimake k = cfimake_new();
		struct elfmake m;
		struct unwind_table t;
		struct elf_file *f = NULL;
		struct err e;
		Elf64_Ehdr eh;
		size_t size;
		int fd;
		/* version, sdata4 | pcrel, udata4 for the count, and no table */
		uint8_t hdr[12] = {1, 0x1b, 0x03, 0xff};
		int32_t from = EH_ADDR - (0x4000 + 4);
		uint32_t count = i ? 0xffffffff : 2;

		put_cie(&k, "zR", 16, X86_CIE);
		put_fde(&k, 0x1100, 0x10, BYTES(0));
		put_fde(&k, 0x1140, 0x10, BYTES(0));
		if (i)
			put(&k, 0, 4);
		put_fde(&k, 0x1180, 0x10, BYTES(0)); /* not counted; behind the end */
		size = k.b.len;
		m = cfimake_elf(&k, EM_X86_64);
		memcpy(hdr + 4, &from, 4);
		memcpy(hdr + 8, &count, 4);
		elfmake_segment(&m, 0x400, EH_ADDR, size, size, PF_R, 1);
		elfmake_section(&m, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 0x4000, hdr,
				sizeof(hdr));
		elfmake_segment(&m, 0x400 + size, 0x4000, sizeof(hdr), sizeof(hdr), PF_R,
				1);
		m.ph[m.nph] = m.ph[m.nph - 1];
		m.ph[m.nph++].p_type = PT_GNU_EH_FRAME;
		fd = elfmake_fd(&m, ET_DYN);
		assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
		eh.e_shoff = eh.e_shnum = eh.e_shstrndx = 0;
		assert_int_equal(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
		assert_int_equal(elf_open_fd(fd, &f, &e), 0);
		if (build(f, &t, &e))
			fail_msg("%s", e.msg);
		CHECK_ROWS(&t, {0x1100, 1, 0, UNWIND_SP}, {0x1110, 0, 0, UNWIND_NONE},
			   {0x1140, 1, 0, UNWIND_SP}, {0x1150, 0, 0, UNWIND_NONE});
	}
}

/* A good file with one byte or two of its header changed. */
static void refused(uint16_t type, size_t at, uint8_t value, int code, const char *why)
{
	struct cfimake k = cfimake_new();
	struct unwind_table t;
	struct elf_file *f = NULL;
	struct elfmake m;
	struct err e;
	int fd;

	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x10, BYTES(0));
	m = cfimake_elf(&k, EM_X86_64);
	fd = elfmake_fd(&m, type);
	if (at)
		assert_int_equal(pwrite(fd, &value, 1, at), 1);
	assert_int_equal(elf_open_fd(fd, &f, &e), 0);
	assert_int_equal(build(f, &t, &e), -code);
	assert_string_equal(e.msg, why);
}

static void test_refused(void **state)
{
	struct elfmake m = elfmake_new();
	struct unwind_limits few = {.max_rows = 3};
	struct cfimake k = cfimake_new();
	struct unwind_table t;
	struct elf_file *f;
	struct err e;

	(void)state;
	refused(ET_REL, 0, 0, ENOEXEC, "not something that is loaded");
	refused(ET_DYN, offsetof(Elf64_Ehdr, e_machine), EM_386, ENOEXEC,
		"neither x86-64 nor AArch64 (machine 3)");
	/* libelf sees few of a file's headers in the wrong class, and none in the wrong order */
	refused(ET_DYN, EI_CLASS, ELFCLASS32, ENOEXEC, "a 32-bit file");

	elfmake_segment(&m, 0x400, TEXT_ADDR, 16, 16, PF_R | PF_X, 1);
	assert_int_equal(build(elfmake_open(&m, ET_DYN), &t, &e), -ENODATA);
	assert_string_equal(e.msg, "no unwind information");

	put_cie(&k, "zR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x10,
		BYTES(ADVANCE + 1, DEF_CFA_OFFSET, 16, ADVANCE + 1, DEF_CFA_OFFSET, 24));
	m = cfimake_elf(&k, EM_X86_64);
	f = elfmake_open(&m, ET_DYN);
	assert_int_equal(unwind_table_build(f, &few, &t, &e), -E2BIG);
	assert_string_equal(e.msg, "more than 3 rows");
	few.max_rows = 4;
	assert_int_equal(unwind_table_build(f, &few, &t, &e), 0);
	unwind_table_release(&t);
	elf_free(f);

	k = cfimake_new();
	put_cie(&k, "zR", 16, X86_CIE);
	put(&k, 100, 4);
	m = cfimake_elf(&k, EM_X86_64);
	assert_int_equal(build(elfmake_open(&m, ET_DYN), &t, &e), -EBADMSG);
	assert_string_equal(e.msg, ".eh_frame: bad entry at offset 24");
}

/* Each byte of a section changed in turn: sorted rows or a cause, whatever it says. */
static void test_damage(void **state)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x0f, 0x0b};
	struct cfimake k = cfimake_new();
	size_t i, j, r, n, ok = 0;

	(void)state;
	put_cie(&k, "zPLR", 16, X86_CIE);
	put_fde(&k, 0x1100, 0x40,
		BYTES(ADVANCE + 1, DEF_CFA_OFFSET, 16, OFFSET + 6, 2, ADVANCE + 3,
		      DEF_CFA_REGISTER, 6, REMEMBER, ADVANCE + 8, RECALL,
		      DEF_CFA_EXPRESSION, 4, 0x77, 0xa0, 1, 0x06));
	n = k.b.len;
	for (i = 0; i < n; i++) {
		for (j = 0; j < sizeof(values); j++) {
			struct cfimake d = cfimake_new();
			struct elfmake m;
			struct unwind_table t;
			struct err e;

			buf_put(&d.b, k.b.data, j ? n : i);
			if (j)
				d.b.data[i] = values[j];
			m = cfimake_elf(&d, EM_X86_64);
			if (build(elfmake_open(&m, ET_DYN), &t, &e)) {
				assert_true(e.code == EBADMSG || e.code == ENODATA);
				continue;
			}
			ok++;
			for (r = 1; r < t.nrows; r++)
				assert_true(t.rows[r - 1].pc < t.rows[r].pc);
			unwind_table_release(&t);
		}
	}
	assert_true(ok > 100);
	buf_release(&k.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),     cmocka_unit_test(test_ends),
		cmocka_unit_test(test_overlap),	     cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_unreadable),   cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_dwarf64_eh),   cmocka_unit_test(test_both),
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_advance),
		cmocka_unit_test(test_x86_rules),    cmocka_unit_test(test_signal),
		cmocka_unit_test(test_arm_rules),    cmocka_unit_test(test_odd_cie),
		cmocka_unit_test(test_entry),	     cmocka_unit_test(test_entry_behind),
		cmocka_unit_test(test_arm_vdso),     cmocka_unit_test(test_own_vdso),
		cmocka_unit_test(test_no_sections),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
