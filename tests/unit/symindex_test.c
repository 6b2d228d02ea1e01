/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"
#include "lib/sym/symindex.h"
#include "tests/symbolize/elfmake.h"

static void write_index(const uint64_t *starts, const struct sym_answer *answers,
			size_t n, struct buf *out)
{
	struct sym_paths paths = {0};
	struct object *o = object_new(&paths, "/none", "");
	struct elfmake m = elfmake_new();
	struct symindex_parts p = {
		.object = o, .starts = starts, .answers = answers, .n = n, .nstrings = 1};
	struct elf_file *f;
	struct err e;

	elfmake_segment(&m, 0x400, 0x1000, 0x100, 0x100, PF_R | PF_X, 0x1000);
	f = elfmake_open(&m, ET_DYN);
	p.elf = f;
	p.key.build_id_n = 2;
	assert_int_equal(symindex_write(&p, out, &e), 0);
	elf_free(f);
	object_free(o);
}

/* An index without names: one stretch that answers nothing, another that points nowhere. */
static void make(struct buf *out)
{
	static const uint64_t starts[] = {0, 0x1000, 0x1800};
	static const struct sym_answer answers[] = {
		{.location = SYM_NONE, .reason = SYM_NO_FUNCTION},
		{.location = 7, .source = SYM_PLT},
		{.location = SYM_NONE, .reason = SYM_NO_SYMBOLS},
	};

	write_index(starts, answers, 3, out);
}

static struct symindex *parse(const struct buf *b, size_t n)
{
	struct symindex *x = NULL;
	struct err e;

	return symindex_parse(xmemdup(b->data, n ? n : 1), n, &x, &e) ? NULL : x;
}

static void test_round(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	struct sym_location l;
	struct symindex *x;
	struct elf_file *f;
	struct str name;
	uint64_t vaddr;

	(void)state;
	make(&b);
	x = parse(&b, b.len);
	assert_non_null(x);
	assert_int_equal(symindex_find(x, 0xfff).reason, SYM_NO_FUNCTION);
	assert_int_equal(symindex_find(x, 0x1000).location, SYM_NONE); /* 7 is none */
	assert_int_equal(symindex_find(x, 0x1000).source, SYM_PLT);
	assert_int_equal(symindex_find(x, UINT64_MAX).reason, SYM_NO_SYMBOLS);
	assert_false(symindex_location(x, 0, &l));
	assert_true(symindex_string(x, 0, &name));
	assert_int_equal(name.n, 0);
	assert_false(symindex_string(x, 1, &name));
	f = symindex_elf(x);
	assert_int_equal(elf_vaddr(f, 0x410, &vaddr), 0);
	assert_int_equal(vaddr, 0x1010);
	elf_free(f);
	symindex_free(x);
	buf_release(&b);
}

static void test_damaged(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t i;

	(void)state;
	make(&b);
	for (i = 0; i < b.len; i++)
		assert_null(parse(&b, i));
	for (i = 0; i < b.len;
	     i++) { /* all of it is in the header or in the first block */
		if (i >= 132 && i < 136) /* but for the padding between them */
			continue;
		b.data[i] ^= 0x40;
		assert_null(parse(&b, b.len));
		b.data[i] ^= 0x40;
	}
	buf_release(&b);
}

#define MANY 3000

/* Where the blocks are that an answer is in, that shows; elsewhere it does not matter. */
static void test_damaged_blocks(void **state)
{
	static struct sym_answer answers[MANY];
	static uint64_t starts[MANY];
	struct buf b = BUF_INIT(1 << 20);
	size_t i, at, damaged, bad = 0, all = 0;
	struct symindex *x;
	struct sym_answer a;

	(void)state;
	for (i = 0; i < MANY; i++) {
		starts[i] = i * 16;
		answers[i] = (struct sym_answer){.location = SYM_NONE,
						 .reason = i % SYM_DAMAGED};
	}
	write_index(starts, answers, MANY, &b);
	for (at = 0; at < b.len; at += 97) {
		b.data[at] ^= 0x10;
		x = parse(&b, b.len);
		b.data[at] ^= 0x10;
		if (!x)
			continue;
		all++;
		assert_false(symindex_is_whole(x));
		for (i = damaged = 0; i < MANY; i++) {
			a = symindex_find(x, i * 16 + i % 16);
			damaged += a.reason == SYM_DAMAGED;
			if (a.reason != SYM_DAMAGED)
				assert_int_equal(a.reason, i % SYM_DAMAGED);
		}
		bad += damaged != 0;
		assert_true(damaged < MANY);
		symindex_free(x);
	}
	assert_true(all > 100);
	/* but for the last block, which holds names that nobody asks for */
	assert_true(bad > all / 10 * 9);
	x = parse(&b, b.len);
	assert_true(symindex_is_whole(x));
	symindex_free(x);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_damaged_blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
