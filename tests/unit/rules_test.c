/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on processes: the grammar, its errors, and what they decide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/xalloc.h"
#include "tools/capture/rules.h"

static struct rules *parse(const char *text, struct err *e)
{
	char *copy = xstrdup(text);
	struct rules *r = NULL;

	rules_parse(copy, "rules", &r, e);
	free(copy);
	return r;
}

/* What becomes of {comm="app", pid=7, version="1"}: kept or not, and by which line. */
static void check(const char *text, bool keep, unsigned int line, const char *version)
{
	struct store *st = store_new(STORE_EXACT);
	struct label_list l = {.st = st};
	struct err e = {0};
	struct rules *r = parse(text, &e);
	const char *got = "";
	unsigned int by = 99;
	uint32_t i;

	if (!r)
		fail_msg("%s: %s", text, e.msg);
	label_list_put(&l, "comm", "app");
	label_list_put_num(&l, "pid", 7);
	label_list_put(&l, "version", "1");
	if (rules_apply(r, &l, &by) != keep || by != line)
		fail_msg("%s: kept %d by line %u", text, !keep, by);
	for (i = 0; i < l.n; i++) {
		if (l.v[i].key == store_puts(st, "version"))
			got = store_cstr(st, l.v[i].str);
	}
	assert_string_equal(got, version);
	rules_free(r);
	store_free(st);
}

static void test_decisions(void **state)
{
	(void)state;
	check("", true, 0, "1");
	check("# drop {}\n\n", true, 0, "1");
	check("drop {}", false, 1, "1");
	check("  drop\t{comm=app}  \r\n", false, 1, "1");
	check("drop {comm=\"other\"}\n", true, 0, "1");
	check("drop {comm=other}\nkeep {pid=7}\ndrop {}", true, 2, "1");
	check("drop {pid=7}\nkeep {pid=7}", false, 1, "1");
	check("set version=\"2\" {comm=~\"a.*\"}", true, 0, "2");
	check("set version = `a b` {}\ndrop {version=\"a b\"}", false, 2, "a b");
	check("keep {}\nset version=3 {}\ndrop {version=3}", true, 1, "3");
	check("unset version {comm=app}\nkeep {version=\"\"}", true, 2, "");
	check("set version=\"\" {}", true, 0, "");
	check("set team=x {}\ndrop {team=x}", false, 2, "1");
}

static void refuse(const char *text, const char *want)
{
	struct err e = {0};

	assert_null(parse(text, &e));
	if (!strstr(e.msg, want))
		fail_msg("\"%s\": got \"%s\", want \"%s\"", text, e.msg, want);
}

static void test_errors(void **state)
{
	(void)state;
	refuse("forget {}", "rules: line 1: expected keep, drop, set or unset: forget");
	refuse("\n\nkeep", "rules: line 3: expected a selector in braces");
	refuse("keep comm=app", "selector in braces");
	refuse("keep {comm}", "line 1: selector: expected =");
	refuse("keep {} x", "text after }");
	refuse("set {}", "expected the name of a label");
	refuse("set version {}", "expected =");
	refuse("set version=\"x {}", "quote is not closed");
	refuse("unset version=1 {}", "selector in braces");
	refuse("drop {thread_name=x}", "thread_name is not a label of a whole process");
	refuse("drop {comm=~\"(\"}", "line 1: selector");
}

static void test_by_pid(void **state)
{
	struct err e = {0};
	struct rules *r = parse("drop {comm=a}", &e);

	(void)state;
	assert_false(rules_by_pid(r));
	assert_string_equal(rules_line(r, 1), "drop {comm=a}");
	rules_free(r);
	r = parse("drop {comm=a}\nset x=y {pid=1}", &e);
	assert_true(rules_by_pid(r));
	rules_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_by_pid),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
