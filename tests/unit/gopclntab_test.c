/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "lib/sym/gopclntab.h"
#include "tests/symbolize/gomake.h"

static struct elf_file *file;

static struct gopclntab *open_kind(struct gomake *g, bool named)
{
	struct gopclntab *t = NULL;
	struct err e;

	gomake_table(g);
	file = gomake_open(g, named);
	assert_non_null(file);
	assert_int_equal(gopclntab_open(file, &t, &e), 0);
	return t;
}

/* "name file:line, …" innermost first; "-" for none. */
static const char *at(struct gopclntab *t, uint64_t addr)
{
	static char text[256];
	struct go_frame v[GO_FRAMES_MAX];
	size_t n = gopclntab_find(t, addr, v), i;
	int len = 0;

	for (i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s %s:%u",
				i ? ", " : "", v[i].name, v[i].file, v[i].line);
	return n ? text : "-";
}

static void check_all(struct gopclntab *t)
{
	assert_int_equal(gopclntab_count(t), 3);
	assert_int_equal(gopclntab_entry(t, 3), GO_END);
	assert_string_equal(at(t, 0xfff), "-");
	assert_string_equal(at(t, 0x1000), "main.main main.go:10");
	assert_string_equal(at(t, 0x1007), "main.main main.go:10");
	assert_string_equal(at(t, 0x1008), "main.main main.go:11");
	assert_string_equal(at(t, 0x1010), "main.inner lib.go:20, main.outer lib.go:31, "
					   "main.main main.go:12");
	assert_string_equal(at(t, 0x1017), "main.inner lib.go:20, main.outer lib.go:31, "
					   "main.main main.go:12");
	assert_string_equal(at(t, 0x1018), "main.main main.go:12");
	assert_string_equal(at(t, 0x101f), "main.outer lib.go:31, main.main main.go:12");
	assert_string_equal(at(t, 0x1020), "main.G[go.shape.int_0].func1 :0");
	assert_string_equal(at(t, 0x1030), "main.last main.go:50");
	assert_string_equal(at(t, 0x1038), "-"); /* padding */
	assert_string_equal(at(t, GO_END), "-");
}

static void done(struct gopclntab *t)
{
	gopclntab_free(t);
	elf_free(file);
}

static void test_layouts(void **state)
{
	struct go_frame v[GO_FRAMES_MAX];
	struct gopclntab *t;
	struct gomake g;
	int kind;

	(void)state;
	for (kind = GOMAKE_1_2; kind <= GOMAKE_1_26; kind++) {
		gomake_init(&g, kind);
		t = open_kind(&g, true);
		check_all(t);
		assert_int_equal(gopclntab_find(t, 0x1010, v), 3);
		assert_int_equal(v[0].start_line, kind >= GOMAKE_1_20 ? 19 : 0);
		assert_int_equal(v[2].start_line, kind >= GOMAKE_1_20 ? 9 : 0);
		done(t);
	}
}

static void test_found_without_section(void **state)
{
	struct gopclntab *t;
	struct gomake g;
	int kind;

	(void)state;
	for (kind = GOMAKE_1_2; kind <= GOMAKE_1_26; kind++) {
		gomake_init(&g, kind);
		t = open_kind(&g, false);
		check_all(t);
		done(t);
	}
}

static void test_relocated(void **state)
{
	struct gopclntab *t;
	struct gomake g;
	int kind;

	(void)state;
	for (kind = GOMAKE_1_18; kind <= GOMAKE_1_26; kind++) {
		gomake_init(&g, kind);
		g.relocated = true;
		t = open_kind(&g, true);
		check_all(t);
		done(t);
	}
}

/* Calls inlined into one another without end: the function itself is all that is certain. */
static void test_circular(void **state)
{
	struct gopclntab *t;
	struct gomake g;

	(void)state;
	gomake_init(&g, GOMAKE_1_20);
	g.circular = true;
	t = open_kind(&g, true);
	assert_string_equal(at(t, 0x1010), "main.main lib.go:20");
	done(t);
}

/* 1.26 without moduledata: where the text starts is lost, and nothing is guessed. */
static void test_no_text_start(void **state)
{
	struct gopclntab *t = NULL;
	struct gomake g;
	struct err e;

	(void)state;
	gomake_init(&g, GOMAKE_1_26);
	gomake_table(&g);
	gomake_poke(&g.table, 32, 8, 8); /* names elsewhere than moduledata says */
	file = gomake_open(&g, true);
	assert_int_equal(gopclntab_open(file, &t, &e), -EBADMSG);
	elf_free(file);
}

static void test_damaged(void **state)
{
	struct gopclntab *t = NULL;
	struct elfmake m = elfmake_new();
	struct gomake g;
	struct err e;
	size_t keep;

	(void)state;
	file = elfmake_open(&m, ET_DYN);
	assert_int_equal(gopclntab_open(file, &t, &e), -ENODATA);
	elf_free(file);
	for (keep = 0; keep < 160; keep += 8) {
		gomake_init(&g, GOMAKE_1_20);
		gomake_table(&g);
		g.table.len = keep;
		file = gomake_open(&g, true);
		assert_true(gopclntab_open(file, &t, &e) < 0);
		elf_free(file);
	}
}

static void test_name_split(void **state)
{
	const char *rest;

	(void)state;
	assert_int_equal(go_name_split("main.F", &rest), 6);
	assert_string_equal(rest, "");
	assert_int_equal(go_name_split("main.(*T[int]).M[a[b]].x", &rest), 8);
	assert_string_equal(rest, ".x");
	assert_int_equal(go_name_split("main.]odd[", &rest), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_found_without_section),
		cmocka_unit_test(test_relocated),
		cmocka_unit_test(test_circular),
		cmocka_unit_test(test_no_text_start),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_name_split),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
