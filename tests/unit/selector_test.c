/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: the grammar, its errors, and what fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/query/selector.h"

static struct store *st;

static struct label text(const char *key, const char *value)
{
	return (struct label){.key = store_puts(st, key), .str = store_puts(st, value)};
}

static struct label number(const char *key, int64_t n)
{
	return (struct label){.key = store_puts(st, key), .numeric = true, .num = n};
}

/* 1, 0, or -1 when the text is refused. */
static int fits(const char *sel, const struct label *labels, uint32_t n)
{
	struct selector *s;
	struct err e = {0};
	int r;

	if (selector_parse(sel, &s, &e))
		return -1;
	r = selector_match(s, st, labels, n);
	assert_int_equal(selector_status(s, &e), 0);
	selector_free(s);
	return r;
}

static void refuse(const char *sel, const char *want)
{
	struct selector *s = NULL;
	struct err e = {0};

	assert_true(selector_parse(sel, &s, &e) < 0);
	assert_null(s);
	if (!strstr(e.msg, want))
		fail_msg("\"%s\": got \"%s\", want \"%s\"", sel, e.msg, want);
}

static int setup(void **state)
{
	(void)state;
	st = store_new(STORE_EXACT);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_free(st);
	return 0;
}

static void test_forms(void **state)
{
	struct label l[] = {text("comm", "app"), text("pod", "million-7f"),
			    number("tid", 12)};

	(void)state;
	assert_int_equal(
		fits("{comm=\"app\",pod=~\"million.*\",ns!=\"x\",tid!~\"2.\"}", l, 3), 1);
	assert_int_equal(fits("comm=app,pod=~million-7f,ns!=x", l, 3), 1);
	assert_int_equal(fits(" { comm = 'app' , pod != `x` , } ", l, 3), 1);
	assert_int_equal(fits("\"comm\"==app", l, 3), 1);
	assert_int_equal(fits("", l, 3), 1);
	assert_int_equal(fits("{}", l, 3), 1);
	assert_int_equal(fits("comm=ap", l, 3), 0);
	assert_int_equal(fits("comm=app,pod=x", l, 3), 0);
}

static void test_regex_is_anchored(void **state)
{
	struct label l[] = {text("pod", "million-7f")};

	(void)state;
	assert_int_equal(fits("pod=~\"million\"", l, 1), 0);
	assert_int_equal(fits("pod=~\"7f\"", l, 1), 0);
	assert_int_equal(fits("pod=~\"a|million.*\"", l, 1), 1);
	assert_int_equal(fits("pod!~\"million\"", l, 1), 1);
	l[0] = text("pod", "x\n");
	assert_int_equal(fits("pod=~\"x\"", l, 1), 0);
	assert_int_equal(fits("pod=~\"x$\"", l, 1), 0);
	assert_int_equal(fits("pod=~\"x\\n\"", l, 1), 1);
}

static void test_absent_is_empty(void **state)
{
	struct label l[] = {text("a", "1"), text("e", "")};

	(void)state;
	assert_int_equal(fits("b=\"\"", l, 2), 1);
	assert_int_equal(fits("b=", l, 2), 1);
	assert_int_equal(fits("a=\"\"", l, 2), 0);
	assert_int_equal(fits("b!=\"\"", l, 2), 0);
	assert_int_equal(fits("a!=", l, 2), 1);
	assert_int_equal(fits("e=", l, 2), 1);
	assert_int_equal(fits("b!=x", l, 2), 1);
	assert_int_equal(fits("b=~\".*\"", l, 2), 1);
	assert_int_equal(fits("b=~\".+\"", l, 2), 0);
	assert_int_equal(fits("b!~\".+\"", l, 2), 1);
	assert_int_equal(fits("b!~\"x|\"", l, 2), 0);
}

static void test_numbers_are_text(void **state)
{
	struct label l[] = {number("pid", 4711), number("n", -3)};

	(void)state;
	assert_int_equal(fits("pid=4711", l, 2), 1);
	assert_int_equal(fits("pid=04711", l, 2), 0);
	assert_int_equal(fits("pid=~\"47..\"", l, 2), 1);
	assert_int_equal(fits("n=-3", l, 2), 1);
}

static void test_several_values(void **state)
{
	struct label l[] = {text("k", "a"), text("k", "b")};

	(void)state;
	assert_int_equal(fits("k=b", l, 2), 1);
	assert_int_equal(fits("k=~\"[bc]\"", l, 2), 1);
	assert_int_equal(fits("k!=b", l, 2), 0);
	assert_int_equal(fits("k!=c", l, 2), 1);
	assert_int_equal(fits("k!~\"[bc]\"", l, 2), 0);
	assert_int_equal(fits("k!~c", l, 2), 1);
}

static void test_escapes(void **state)
{
	struct label l[] = {text("k", "a\"b\\\x01.c")};

	(void)state;
	assert_int_equal(fits("k=\"a\\\"b\\\\\\x01.c\"", l, 1), 1);
	assert_int_equal(fits("k=~\"a.b.\\x01\\.c\"", l, 1), 1);
	l[0] = text("k", "a1");
	assert_int_equal(fits("k=~'a\\d'", l, 1), 1);
	assert_int_equal(fits("k=~'a\\\\d'", l, 1), 1);
	l[0] = text("k", "\\n");
	assert_int_equal(fits("k=`\\n`", l, 1), 1);
}

static void test_odd_bytes(void **state)
{
	struct label l[] = {text("k", "\xff\xfe"), text("pprof::base", "true")};

	(void)state;
	assert_int_equal(fits("k=\"\xff\xfe\"", l, 2), 1);
	assert_int_equal(fits("k=~\".*\"", l, 2),
			 0); /* no character matches a bad byte */
	assert_int_equal(fits("pprof::base=true", l, 2), 1);
}

static void test_type(void **state)
{
	struct selector *s;
	struct err e;

	(void)state;
	assert_int_equal(
		selector_parse("p:cpu:nanoseconds:cpu:nanoseconds:delta{comm=\"x\"}", &s,
			       &e),
		0);
	assert_string_equal(selector_type(s), "p:cpu:nanoseconds:cpu:nanoseconds:delta");
	selector_free(s);
	assert_int_equal(selector_parse("{a=b}", &s, &e), 0);
	assert_null(selector_type(s));
	selector_free(s);
}

static void test_errors_name_the_byte(void **state)
{
	(void)state;
	refuse("comm", "expected =, !=, =~ or !~ after the label's name at byte 5");
	refuse("{comm=\"app\"", "expected } at byte 12");
	refuse("{comm=\"app\"}x", "text after } at byte 13");
	refuse("comm=\"app", "quote is not closed at byte 6");
	refuse("a=b c=d", "expected a comma at byte 5");
	refuse("{a=\"b\"c=d}", "expected a comma or } at byte 7");
	refuse("{a=b;c=d}",
	       "a value needs quotes for what is none of A-Za-z0-9_./:- at byte 5");
	refuse("a=~b.*",
	       "a value needs quotes for what is none of A-Za-z0-9_./:- at byte 6");
	refuse("a=~(b|c)",
	       "a value needs quotes for what is none of A-Za-z0-9_./:- at byte 4");
	refuse("a=b,,c=d", "expected the name of a label at byte 5");
	refuse("=x", "expected the name of a label at byte 1");
	refuse("a=~\"(\"",
	       "value at byte 4: regular expression: missing closing parenthesis at");
	refuse("a>3", "at byte 2");
}

static void test_wild_pattern_fails(void **state)
{
	struct label l[] = {
		text("k", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")};
	struct selector *s;
	struct err e = {0};

	(void)state;
	assert_int_equal(selector_parse("k=~\"(a|aa|a+)+c?$\"", &s, &e), 0);
	assert_false(selector_match(s, st, l, 1));
	assert_true(selector_status(s, &e) < 0);
	assert_non_null(strstr(e.msg, "too many steps"));
	selector_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_regex_is_anchored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_absent_is_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers_are_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_escapes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_type, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors_name_the_byte, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_wild_pattern_fails, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
