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

/* An index without names: one stretch that answers nothing, another that points nowhere. */
static void make(struct buf *out)
{
	static const uint64_t starts[] = {0, 0x1000, 0x1800};
	static const struct sym_answer answers[] = {
		{.location = SYM_NONE, .reason = SYM_NO_FUNCTION},
		{.location = 7, .source = SYM_PLT},
		{.location = SYM_NONE, .reason = SYM_NO_SYMBOLS},
	};
	struct sym_paths paths = {0};
	struct object *o = object_new(&paths, "/none", "");
	struct elfmake m = elfmake_new();
	struct symindex_parts p = {
		.object = o, .starts = starts, .answers = answers, .n = 3, .nstrings = 1};
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
	assert_int_equal(symindex_string(x, 0).n, 0);
	assert_int_equal(symindex_string(x, 1).n, 0);
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
	for (i = 0; i < 128; i++) { /* the header has a checksum */
		b.data[i] ^= 0x40;
		assert_null(parse(&b, b.len));
		b.data[i] ^= 0x40;
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
