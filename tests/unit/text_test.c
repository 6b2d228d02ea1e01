/* SPDX-License-Identifier: Apache-2.0 */
/* The text twin: every statement, every way to get one wrong, and what comes after an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/text.h"
#include "lib/pprof/writer.h"

#define MAX (1 << 20)

/* The canonical text of a message. */
static void rewrite(const struct buf *msg, struct buf *out)
{
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = NULL;
	struct err e = {0};

	if (profile_decode(st, msg->data, msg->len, &p, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(profile_write_text(p, false, out, &e), 0);
	profile_free(p);
	store_free(st);
}

/* All profiles of a text, written again. */
static void means(const char *text, size_t n, const char *want)
{
	struct buf msg = BUF_INIT(MAX), out = BUF_INIT(MAX);
	char *copy = xmemdup(text, n);
	struct text_reader t;
	struct err e = {0};
	int r;

	text_open(&t, (uint8_t *)copy, n);
	while ((r = text_next(&t, &msg, &e)) > 0)
		rewrite(&msg, &out);
	if (r < 0)
		fail_msg("%s\n%s", e.msg, text);
	if (strcmp(buf_str(&out), want))
		fail_msg("%s\nmeans\n%s", text, buf_str(&out));
	buf_release(&msg);
	buf_release(&out);
	free(copy);
}

#define FULL                                                                             \
	"profile\n"                                                                      \
	"time 1700000000000000000\n"                                                     \
	"duration 10000000000\n"                                                         \
	"period \"cpu\" \"nanoseconds\" 10101010\n"                                      \
	"type \"samples\" \"count\"\n"                                                   \
	"type \"cpu\" \"nanoseconds\" default\n"                                         \
	"comment \"profpipe: schema=1\"\n"                                               \
	"comment \"\"\n"                                                                 \
	"drop \"RE\"\n"                                                                  \
	"keep \"RE2\"\n"                                                                 \
	"doc \"URL\"\n"                                                                  \
	"mapping 1 0x400000 0x500000 0x0 \"/usr/bin/app\" \"0123abcd\" FNLI\n"           \
	"mapping 2 0x0 0xffffffffffffffff 0x1 \"\" \"\" -\n"                             \
	"function 1 \"main\" \"system\" \"file\" 12\n"                                   \
	"function 2 \"x\" \"\" \"\" -1\n"                                                \
	"location 1 m0 0x0 f2:0:0\n"                                                     \
	"location 2 m1 0x401234 f1:34:0 f2:80:5 folded\n"                                \
	"location 3 m2 0xffffffffffffffff\n"                                             \
	"sample -5 9223372036854775807 :\n"                                              \
	"sample 1 -9223372036854775808 : 3 1 2 : \"\"=\"\" \"a\"=\"x\" \"a\"=-7 "        \
	"\"bytes\"=64\"bytes\"\n"                                                        \
	"end\n"

static void test_every_statement(void **state)
{
	(void)state;
	means(FULL, strlen(FULL), FULL);
	means(TEXT_MAGIC "\n\n" FULL "# c\n\n" FULL, strlen(TEXT_MAGIC FULL FULL) + 7,
	      FULL FULL);
	means("", 0, "");
	means(TEXT_MAGIC, strlen(TEXT_MAGIC), "");
}

static void means_text(const char *text, const char *want)
{
	means(text, strlen(text), want);
}

#define HEAD "profile\ntype \"t\" \"u\"\n"

static void test_liberties(void **state)
{
	(void)state;
	/* blanks, tabs, other line ends, comments inside, no line end at the end */
	means_text("\t profile \r\n  type   \"t\"\t\"u\" \r\n# no\r\n\r\n sample  7  : "
		   "\r\nend",
		   HEAD "sample 7 :\nend\n");
	/* numbers in both bases */
	means_text(HEAD
		   "time 0x10\nlocation 1 m0 255\nsample 0xa : 0x1 : \"k\"=0x2\nend\n",
		   "profile\ntime 16\ntype \"t\" \"u\"\nlocation 1 m0 0xff\n"
		   "sample 10 : 1 : \"k\"=2\nend\n");
	/* equal samples add up, unused rows go but for the first mapping, rows are sorted */
	means_text(HEAD
		   "mapping 1 1 2 3 \"a\" \"\" -\nmapping 2 1 2 3 \"b\" \"\" -\n"
		   "function 1 \"z\" \"\" \"\" 0\nfunction 2 \"a\" \"\" \"\" 0\n"
		   "location 1 m0 2 f1:0:0\nlocation 2 m0 1 f2:0:0\nlocation 3 m2 9\n"
		   "sample 1 : 1\nsample 2 : 2\nsample 4 : 1\nend\n",
		   HEAD "mapping 1 0x1 0x2 0x3 \"a\" \"\" -\n"
			"function 1 \"a\" \"\" \"\" 0\nfunction 2 \"z\" \"\" \"\" 0\n"
			"location 1 m0 0x1 f1:0:0\nlocation 2 m0 0x2 f2:0:0\n"
			"sample 2 : 1\nsample 5 : 2\nend\n");
	/* the same stack empty twice, the same empty strings */
	means_text(HEAD "sample 1 :\nsample 1 : :\nend\n", HEAD "sample 2 :\nend\n");
	/* a default that is no type; one that two types have */
	means_text(HEAD "default \"other\"\nend\n", HEAD "default \"other\"\nend\n");
	means_text("profile\ntype \"t\" \"u\"\ntype \"t\" \"v\" default\nend\n",
		   "profile\ntype \"t\" \"u\" default\ntype \"t\" \"v\"\nend\n");
	means_text("profile\nperiod \"\" \"\" -1\ntype \"\" \"\"\nend\n",
		   "profile\nperiod \"\" \"\" -1\ntype \"\" \"\"\nend\n");
}

static void test_escaped_strings(void **state)
{
	static const char nul[] = HEAD "comment \"a\0b\"\nend\n";

	(void)state;
	means_text(HEAD "comment \"\\\"\\\\\\n\\t\\x00\\x41\\xfF\\x1b\\x0d\"\nend\n",
		   HEAD "comment \"\\\"\\\\\\n\\t\\x00A\\xff\\x1b\\x0d\"\nend\n");
	/* UTF-8 stands as it is, what is not is escaped, and so is what drives terminals */
	means_text(HEAD "comment \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8d\xba\"\nend\n",
		   HEAD "comment \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8d\xba\"\nend\n");
	means_text(HEAD "comment \"\xc3( \xe2\x82 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 "
			"\xc2\x9b \xff\x7f\x01\"\nend\n",
		   HEAD "comment \"\\xc3( \\xe2\\x82 \\xc0\\x80 \\xed\\xa0\\x80 "
			"\\xf4\\x90\\x80\\x80 \\xc2\\x9b \\xff\\x7f\\x01\"\nend\n");
	/* bytes that are not escaped are taken as they are, NUL too */
	means(nul, sizeof(nul) - 1, HEAD "comment \"a\\x00b\"\nend\n");
}

static void refused(const char *text, const char *want)
{
	struct buf msg = BUF_INIT(MAX);
	size_t n = strlen(text);
	char *copy = xmemdup(text, n);
	struct text_reader t;
	struct err e = {0};
	int r;

	text_open(&t, (uint8_t *)copy, n);
	r = text_next(&t, &msg, &e);
	if (r >= 0 || strcmp(e.msg, want))
		fail_msg("%s\n%d \"%s\", wanted \"%s\"", text, r, e.msg, want);
	assert_int_equal(r, -e.code);
	buf_release(&msg);
	free(copy);
}

static void test_bad_lines(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{"nonsense", "unknown statement"},
		{"samples 1 :", "unknown statement"},
		{"profile", "unknown statement"},
		{"time", "number expected"},
		{"time x", "number expected"},
		{"time 1 2", "unexpected text at the end of the line"},
		{"time 9223372036854775808", "number too large"},
		{"time -9223372036854775809", "number too large"},
		{"time 99999999999999999999", "number too large"},
		{"time 0x1g", "unexpected text at the end of the line"},
		{"duration 1s", "unexpected text at the end of the line"},
		{"period \"a\" \"b\"", "number expected"},
		{"period \"a\" 1", "quoted string expected"},
		{"type \"a\"", "quoted string expected"},
		{"type a b", "quoted string expected"},
		{"type \"a\" \"b\" defaults", "unexpected text at the end of the line"},
		{"comment \"a", "string without an end"},
		{"comment \"a\\", "string without an end"},
		{"comment \"a\\\"", "string without an end"},
		{"comment \"\\q\"", "unknown escape in string"},
		{"comment \"\\x1\"", "unknown escape in string"},
		{"comment \"\\x", "unknown escape in string"},
		{"comment \"\\xg0\"", "unknown escape in string"},
		{"comment \"a\" \"b\"", "unexpected text at the end of the line"},
		{"mapping 1 0 0 0 \"\" \"\" X", "unknown mapping flag"},
		{"mapping 1 0 0 0 \"\" \"\" -F",
		 "unexpected text at the end of the line"},
		{"mapping 2 0 0 0 \"\" \"\" -", "rows must be numbered 1, 2, 3 ..."},
		{"mapping 0 0 0 0 \"\" \"\" -", "rows must be numbered 1, 2, 3 ..."},
		{"mapping 1 -1 0 0 \"\" \"\" -", "number expected"},
		{"mapping 1 0 0 \"\" \"\" -", "number expected"},
		{"function 2 \"\" \"\" \"\" 0", "rows must be numbered 1, 2, 3 ..."},
		{"function 1 \"\" \"\" 0", "quoted string expected"},
		{"location 2 m0 0", "rows must be numbered 1, 2, 3 ..."},
		{"location 1 0", "mapping (m0, m1 ...) expected"},
		{"location 1 m1 0", "no such mapping"},
		{"location 1 m0", "number expected"},
		{"location 1 m0 0 f1:0:0", "no such function"},
		{"location 1 m0 0 f0:0:0", "no such function"},
		{"location 1 m0 0 folded f1:0:0",
		 "unexpected text at the end of the line"},
		{"location 1 m0 18446744073709551616", "number too large"},
		{"sample", "number expected"},
		{"sample 1", "':' expected after as many values as there are types"},
		{"sample 1 2 :", "':' expected after as many values as there are types"},
		{"sample : 1", "number expected"},
		{"sample 1 : 1", "no such location"},
		{"sample 1 : 0", "no such location"},
		{"sample 1 : x", "number expected"},
		{"sample 1 : : a", "quoted string expected"},
		{"sample 1 : : \"a\"", "'=' expected"},
		{"sample 1 : : \"a\"=", "number expected"},
		{"sample 1 : : \"a\"=\"b\" :", "quoted string expected"},
		{"end of it", "unexpected text at the end of the line"},
	};
	char text[256], want[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), HEAD "# comment\n\n%s\nend\n", bad[i].line);
		snprintf(want, sizeof(want), "line 5: %s", bad[i].why);
		refused(text, want);
		/* the same without what follows: nothing is read beyond the end */
		text[strlen(text) - 5] = 0;
		refused(text, want);
	}
	refused("x", "line 1: 'profile' expected");
	refused("\n\nend\n", "line 3: 'profile' expected");
	refused("profile x\nend\n", "line 1: unexpected text at the end of the line");
	refused("profile\nend\n", "line 2: profile without a type");
	refused(HEAD, "line 2: profile without an end line");
	refused(HEAD "sample 1 :\ntype \"t\" \"u\"\nend\n",
		"line 4: sample type after the first sample");
	refused("profile\ntype \"t\" \"u\" default\ntype \"t\" \"u\" default\nend\n",
		"line 3: a second default");
	refused("profile\ntype \"t\" \"u\" default\ndefault \"t\"\nend\n",
		"line 3: a second default");
	/* which of two is meant nobody knows */
	refused(HEAD "time 1\ntime 1\nend\n", "line 4: a second time");
	refused(HEAD "duration 1\nsample 1 :\nduration 2\nend\n",
		"line 5: a second duration");
	refused(HEAD "period \"a\" \"b\" 1\nperiod \"a\" \"b\" 1\nend\n",
		"line 4: a second period");
	refused(HEAD "default \"a\"\ndefault \"b\"\nend\n", "line 4: a second default");
	refused(HEAD "drop \"a\"\ndrop \"\"\nend\n", "line 4: a second drop");
	refused(HEAD "keep \"a\"\nkeep \"a\"\nend\n", "line 4: a second keep");
	refused(HEAD "doc \"a\"\ndoc \"a\"\nend\n", "line 4: a second doc");
	refused(HEAD "function 1 \"\" \"\" \"\" 0\nlocation 1 m0 0 f1\nend\n",
		"line 4: ':' and a line expected");
	refused(HEAD "function 1 \"\" \"\" \"\" 0\nlocation 1 m0 0 f1:2\nend\n",
		"line 4: ':' and a column expected");
	refused(HEAD "sample 9223372036854775807 :\nsample 1 :\nend\n",
		"the sum of t in an empty stack does not fit 64 bits");
}

static void test_going_on_after_errors(void **state)
{
	static const char text[] = "profile\nbad\nend\n"		    /* 1 */
				   "profile\ntype \"1\" \"\"\nend\n"	    /* 4 */
				   "profile\nend\n"			    /* 7 */
				   "profile\ntype \"2\" \"\"\nend\n"	    /* 9 */
				   "profile\ntype \"x\" \"\"\nend it\n"	    /* 12 */
				   "profile\ntype \"3\" \"\"\nend\n"	    /* 15 */
				   "end\n"				    /* 18 */
				   "profile\ntype \"4\" \"\"\nend\n"	    /* 19 */
				   "stray\nprofile\ntype \"x\" \"\"\nend\n" /* 22 */
				   "profile \"\ntype \"x\" \"\"\nend\n"	    /* 26 */
				   "profile\ntype \"5\" \"\"\nend\n"	    /* 29 */
				   "profile\ntype \"x\" \"\"\n";	    /* 32 */
	static const char *const want[] = {
		"line 2: unknown statement",
		"profile\ntype \"1\" \"\"\nend\n",
		"line 8: profile without a type",
		"profile\ntype \"2\" \"\"\nend\n",
		"line 14: unexpected text at the end of the line",
		"profile\ntype \"3\" \"\"\nend\n",
		"line 18: 'profile' expected",
		"profile\ntype \"4\" \"\"\nend\n",
		"line 22: 'profile' expected",
		"line 26: unexpected text at the end of the line",
		"profile\ntype \"5\" \"\"\nend\n",
		"line 33: profile without an end line",
	};
	struct buf msg = BUF_INIT(MAX), out = BUF_INIT(MAX);
	struct text_reader t;
	struct err e = {0};
	size_t i;
	int r;

	(void)state;
	text_open(&t, (const uint8_t *)text, strlen(text));
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		r = text_next(&t, &msg, &e);
		buf_clear(&out);
		if (r > 0)
			rewrite(&msg, &out);
		else
			assert_int_equal(r, -EBADMSG);
		assert_string_equal(r > 0 ? buf_str(&out) : e.msg, want[i]);
	}
	assert_int_equal(text_next(&t, &msg, &e), 0);
	buf_release(&msg);
	buf_release(&out);
}

static void test_sniff(void **state)
{
	(void)state;
	assert_true(text_sniff((const uint8_t *)"# profpipe text 1", 17));
	assert_true(text_sniff((const uint8_t *)"# profpipe text 1\n", 18));
	assert_true(text_sniff((const uint8_t *)"# profpipe text 1\r\n", 19));
	assert_false(text_sniff((const uint8_t *)"# profpipe text 1", 16));
	assert_false(text_sniff((const uint8_t *)"# profpipe text 12", 18));
	assert_false(text_sniff((const uint8_t *)"", 0));
}

static void test_limits(void **state)
{
	struct buf text = BUF_INIT(MAX), msg = BUF_INIT(MAX), small = BUF_INIT(100);
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = NULL;
	struct text_reader t;
	struct err e = {0};
	int i;

	(void)state;
	buf_puts(&text, "profile\n");
	for (i = 0; i < 1025; i++)
		buf_puts(&text, "type \"t\" \"u\"\n");
	refused(buf_str(&text), "line 1026: too many sample types");
	/* too large as a message, and as text */
	buf_clear(&text);
	buf_puts(&text, HEAD);
	for (i = 0; i < 50; i++)
		buf_printf(&text, "sample 1 : : \"k\"=%d\n", i);
	buf_puts(&text, "end\n" HEAD "end\n");
	text_open(&t, text.data, text.len);
	assert_int_equal(text_next(&t, &small, &e), -E2BIG);
	/* and the next one is there */
	assert_int_equal(text_next(&t, &small, &e), 1);
	text_open(&t, text.data, text.len);
	assert_int_equal(text_next(&t, &msg, &e), 1);
	assert_int_equal(profile_decode(st, msg.data, msg.len, &p, &e), 0);
	buf_clear(&small);
	assert_int_equal(profile_write_text(p, true, &small, &e), -E2BIG);
	profile_free(p);
	store_free(st);
	buf_release(&text);
	buf_release(&msg);
	buf_release(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_statement),
		cmocka_unit_test(test_liberties),
		cmocka_unit_test(test_escaped_strings),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_going_on_after_errors),
		cmocka_unit_test(test_sniff),
		cmocka_unit_test(test_limits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
