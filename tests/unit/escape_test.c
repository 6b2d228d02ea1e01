/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping: nothing hostile gets through, output is always valid UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/ui/escape.h"
#include "lib/ui/utf8.h"

typedef void escape_fn(struct buf *b, const char *p, size_t n);

static void check_n(escape_fn *f, const char *in, size_t n, const char *want)
{
	struct buf b = BUF_INIT(1 << 16);

	f(&b, in, n);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void check(escape_fn *f, const char *in, const char *want)
{
	check_n(f, in, strlen(in), want);
}

static void test_terminal(void **state)
{
	(void)state;
	check(escape_terminal, "plain \xc3\xa9 \xe6\xbc\xa2 a\\b",
	      "plain \xc3\xa9 \xe6\xbc\xa2 a\\b");
	check(escape_terminal, "a\x1b[31mb\n\t\r\x7f", "a\\x1b[31mb\\n\\t\\r\\x7f");
	check(escape_terminal,
	      "\xc2\x9b"
	      "31m",
	      "\\u009b31m"); /* C1: one-character CSI */
	check(escape_terminal, "\xff\xc3", "\\xff\\xc3");
	check(escape_terminal, "\xe2\x80\xae", "\\u202e");
	check(escape_terminal, "\xf3\xa0\x80\x81", "\\U000e0001");
	check_n(escape_terminal, "a\0b", 3, "a\\x00b");
}

static void test_xml(void **state)
{
	(void)state;
	check(escape_xml, "<a b=\"c\" d='&amp;'>]]>",
	      "&lt;a b=&quot;c&quot; d=&#39;&amp;amp;&#39;&gt;]]&gt;");
	check(escape_xml, "\x01\x1b\n\x7f",
	      "\xe2\x90\x81\xe2\x90\x9b\xe2\x90\x8a\xe2\x90\xa1");
	check(escape_xml, "\xff", "\xef\xbf\xbd");
	check(escape_xml, "\xef\xbf\xbf\xc2\x85", "\xef\xbf\xbd\xef\xbf\xbd");
	check(escape_xml, "\xed\xa0\x80",
	      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
	check(escape_xml, "\xe2\x80\xae", "\\u202e");
	check_n(escape_xml, "a\0b", 3,
		"a\xe2\x90\x80"
		"b");
}

static void test_json(void **state)
{
	(void)state;
	check(escape_json, "a\"b\\c/\n\t\x01", "a\\\"b\\\\c/\\n\\t\\u0001");
	check(escape_json, "</script>", "\\u003c/script>");
	check(escape_json, "\xe2\x80\xa8\x7f", "\\u2028\\u007f");
	check(escape_json, "\xf0\x9f\x98\x80\xfe", "\xf0\x9f\x98\x80\xef\xbf\xbd");
	check_n(escape_json, "\0", 1, "\\u0000");
}

static bool is_utf8(const char *p, size_t n)
{
	uint32_t c;
	size_t len;

	for (; n; p += len, n -= len) {
		len = utf8_decode(p, n, &c);
		if (c == UINT32_MAX)
			return false;
	}
	return true;
}

static void test_uri_path(void **state)
{
	(void)state;
	check(escape_uri_path, "src/a-b_c.d~e/f.c", "src/a-b_c.d~e/f.c");
	check(escape_uri_path, "C:\\a b%\n\xff?#", "C%3A%5Ca%20b%25%0A%FF%3F%23");
	check_n(escape_uri_path, "\0", 1, "%00");
}

static void test_csv(void **state)
{
	(void)state;
	check(escape_csv, "", "\"\"");
	check(escape_csv, "a,b \"c\"\n", "\"a,b \"\"c\"\"\\n\"");
	check(escape_csv, "=1+2", "\"'=1+2\"");
	check(escape_csv, "+f", "\"'+f\"");
	check(escape_csv, "-[Foo bar:]", "\"'-[Foo bar:]\"");
	check(escape_csv, "@x", "\"'@x\"");
	check(escape_csv,
	      "\xef\xbc\x9d"
	      "1",
	      "\"'\xef\xbc\x9d"
	      "1\"");
	check(escape_csv, "\t=1", "\"\\t=1\"");
	check(escape_csv, "a=1", "\"a=1\"");
}

static void test_markdown(void **state)
{
	(void)state;
	check(escape_markdown, "a<b>|c*_d_", "`a<b>\\|c*_d_`");
	check(escape_markdown, "a`b", "``a`b``");
	check(escape_markdown, "`", "`` ` ``");
	check(escape_markdown, "a```", "```` a``` ````");
	check(escape_markdown, "", "`  `");
	check(escape_markdown, "a\nb", "`a\\nb`");
}

static void test_random_bytes(void **state)
{
	static escape_fn *const fns[] = {escape_terminal, escape_xml, escape_json,
					 escape_csv, escape_markdown};
	struct buf b = BUF_INIT(1 << 16);
	unsigned int seed = 1;
	char in[64];
	size_t i, k, j;

	(void)state;
	for (i = 0; i < 20000; i++) {
		for (k = 0; k < sizeof(in); k++) {
			seed = seed * 1103515245 + 12345;
			in[k] = (char)(seed >> 16 | (i & 1 ? 0x80 : 0));
		}
		for (j = 0; j < sizeof(fns) / sizeof(fns[0]); j++) {
			buf_clear(&b);
			fns[j](&b, in, sizeof(in));
			assert_true(is_utf8((char *)b.data, b.len));
			for (k = 0; k < b.len; k++)
				assert_false(b.data[k] < 0x20 || b.data[k] == 0x7f);
			assert_true(j != 1 || !memchr(b.data, '<', b.len));
		}
	}
	buf_release(&b);
}

static void test_utf8(void **state)
{
	uint32_t c, back;
	char text[4];
	size_t n;

	(void)state;
	for (c = 0; c <= 0x110000; c++) {
		n = utf8_encode(c, text);
		if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) {
			utf8_decode(text, n, &back);
			assert_int_equal(back, UINT32_MAX);
			continue;
		}
		assert_int_equal(utf8_decode(text, n, &back), n);
		assert_int_equal(back, c);
		if (n > 1) {
			assert_int_equal(utf8_decode(text, n - 1, &back), 1);
			assert_int_equal(back, UINT32_MAX);
		}
	}
	utf8_decode("\xc0\x80", 2, &c); /* overlong */
	assert_int_equal(c, UINT32_MAX);
	assert_int_equal(utf8_width('a'), 1);
	assert_int_equal(utf8_width(0x301), 0);
	assert_int_equal(utf8_width(0x6f22), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terminal), cmocka_unit_test(test_xml),
		cmocka_unit_test(test_json),	 cmocka_unit_test(test_csv),
		cmocka_unit_test(test_markdown), cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_utf8),	 cmocka_unit_test(test_uri_path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
