/* SPDX-License-Identifier: Apache-2.0 */
/* CPython's location tables and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sym/pycode.h"

/* co_linetable of a function that begins at line 1, and its co_lines(), by Python 3.11.7. */
static const uint8_t table[] = {
	0x80, 0x00, 0xe0, 0x09, 0x0a, 0xd8, 0x09, 0x0a, 0xf1, 0x03, 0x01, 0x0a, 0x0b,
	0x80, 0x41, 0xf5, 0x06, 0x00, 0x0e, 0x13, 0x90, 0x31, 0x89, 0x58, 0x8c, 0x58,
	0xf0, 0x00, 0x01, 0x05, 0x0f, 0xf0, 0x00, 0x01, 0x05, 0x0f, 0x88, 0x01, 0xd8,
	0x08, 0x09, 0x88, 0x51, 0x89, 0x06, 0x88, 0x01, 0x88, 0x01, 0xf0, 0x02, 0x03,
	0x05, 0x0e, 0xd8, 0x0c, 0x0d, 0x90, 0x01, 0x89, 0x45, 0x88, 0x01, 0x88, 0x01,
	0xf8, 0xdd, 0x0b, 0x1c, 0xf0, 0x00, 0x01, 0x05, 0x0e, 0xf0, 0x00, 0x01, 0x05,
	0x0e, 0xf0, 0x00, 0x01, 0x05, 0x0e, 0xd8, 0x0c, 0x0d, 0x88, 0x01, 0x88, 0x01,
	0x88, 0x01, 0xf0, 0x03, 0x01, 0x05, 0x0e, 0xf8, 0xf8, 0xf8, 0xf0, 0x04, 0x01,
	0x0c, 0x14, 0xf0, 0x00, 0x01, 0x0c, 0x14, 0xd8, 0x0d, 0x0e, 0x90, 0x01, 0x88,
	0x46, 0xf0, 0x03, 0x01, 0x0c, 0x14, 0xf1, 0x00, 0x01, 0x0c, 0x14, 0xf4, 0x00,
	0x01, 0x0c, 0x14, 0xf0, 0x00, 0x01, 0x05, 0x14,
};
static const uint8_t lines[] = {1,  3,	4,  3,	3,  3,	6,  6,	6,  6,	6,  6,	6,  6,
				6,  6,	6,  6,	6,  6,	6,  6,	6,  7,	7,  7,	7,  7,
				7,  8,	9,  9,	9,  9,	9,  9,	0,  10, 10, 10, 10, 10,
				10, 10, 10, 10, 11, 11, 11, 11, 10, 0,	0,  0,	12, 12,
				13, 13, 13, 12, 12, 12, 12, 12, 12, 12, 12, 12};

static void test_lines(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(lines); i++)
		assert_int_equal(pycode_line(table, sizeof(table), 1, i), lines[i]);
	assert_int_equal(pycode_line(table, sizeof(table), 1, i), 0);
	assert_int_equal(pycode_line(table, sizeof(table), 1, UINT32_MAX), 0);
	assert_int_equal(pycode_line(table, sizeof(table), 100, 1), 102);
}

static void test_damage(void **state)
{
	uint8_t bad[sizeof(table)];
	uint32_t got;
	size_t i;

	(void)state;
	assert_int_equal(pycode_line(table, 0, 1, 0), 0);
	for (i = 0; i < sizeof(table); i++) {
		got = pycode_line(table, i, 1, 40);
		assert_true(got == 0 || got == 10);
	}
	memset(bad, 0x7f, sizeof(bad));
	assert_int_equal(pycode_line(bad, sizeof(bad), 1, 0), 0);
	memset(bad, 0xff, sizeof(bad)); /* a number without end */
	assert_int_equal(pycode_line(bad, sizeof(bad), 1, 500), 0);
	bad[0] = 0xe8; /* one line and a number that takes it below zero */
	bad[1] = 0x3f;
	assert_int_equal(pycode_line(bad, 2, 1, 0), 0);
}

static void test_text(void **state)
{
	static const uint16_t two[] = {'a', 0xe9, 0x20ac};
	static const uint32_t four[] = {0x1f600, 0x110000};
	struct buf b = BUF_INIT(64);

	(void)state;
	pycode_text(&b, (const uint8_t *)"f\xfc", 2, 1);
	pycode_text(&b, (const uint8_t *)two, 3, 2);
	pycode_text(&b, (const uint8_t *)four, 2, 4);
	assert_string_equal(buf_str(&b), "f\xc3\xbc"
					 "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80?");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pycode", tests, NULL, NULL);
}
