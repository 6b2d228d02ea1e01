/* SPDX-License-Identifier: Apache-2.0 */
/* Values with units: the figures of pprof's reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/ui/units.h"

static void format(int64_t v, const char *from, const char *to, const char *want)
{
	char out[UNITS_TEXT_MAX];

	assert_string_equal(units_format(v, from, to, out), want);
}

static void test_format(void **state)
{
	(void)state;
	format(0, "nanoseconds", "auto", "0");
	format(1500, "nanoseconds", "auto", "1.50us");
	format(2000000000, "nanoseconds", "auto", "2s");
	format(-90, "minutes", "auto", "-90");
	format(7200, "seconds", "auto", "2hrs");
	format(-1536, "bytes", "auto", "-1.50kB");
	format(1, "B", "MB", "0"); /* no unit, as in pprof */
	format(12, "count", "count", "12");
	format(12, "objects", "objects", "12objects");
	format(12, "objects", "minimum", "12");
	format(5, "Milliseconds", "us", "5000us");
	format(5, "nanogcu", "auto", "5n*GCU");
	format(5, "nanoseconds", "bytes", "0");
	format(50000000, "nanoseconds", "bytes", "0.05s");
	/* what is no word is not shown: "50", say, would be ten times as much */
	format(5, "0", "0", "5");
	format(5, "\x1b[31m", "\x1b[31m", "5");
	format(5, "a|b", "a|b", "5");
	format(5, "<b>", "<b>", "5");
	format(5, "\xce\xa9", "\xce\xa9", "5");
	format(5, "a unit of more than thirty bytes", "a unit of more than thirty bytes",
	       "5");
	format(5, "req/s", "req/s", "5req/s");
	format(5, "%", "%", "5%");
	format(INT64_MIN, "count", "count", "-9223372036854775808");
}

static void test_report_unit(void **state)
{
	(void)state;
	assert_string_equal(units_for_report(10, 1000, "nanoseconds"), "ns");
	assert_string_equal(units_for_report(10000000, 3000000000, "nanoseconds"), "s");
	assert_string_equal(units_for_report(10000000, 1000000000, "nanoseconds"), "ms");
	assert_string_equal(units_for_report(0, 4096, "bytes"), "kB");
	assert_string_equal(units_for_report(1, 100, "count"), "count");
}

static void percent(int64_t v, int64_t total, const char *want)
{
	char out[UNITS_TEXT_MAX];

	assert_string_equal(units_percent(v, total, out), want);
}

static void test_percent(void **state)
{
	(void)state;
	percent(1, 1, "  100%");
	percent(9996, 10000, "  100%");
	percent(9994, 10000, "99.94%");
	percent(-1, 2, "50.00%");
	percent(1, 1000, "  0.1%");
	percent(123, 100000, " 0.12%");
	percent(0, 5, "    0%");
	percent(5, 0, "    0%");
	percent(1, 10000000, "1e-05%");
}

static void test_names(void **state)
{
	(void)state;
	assert_true(units_exist("ms"));
	assert_true(units_exist("Seconds"));
	assert_true(units_exist("minimum"));
	assert_false(units_exist("foo"));
	assert_false(units_exist(""));
	assert_false(units_exist("count"));
	assert_true(units_fit("nanoseconds", "hrs"));
	assert_true(units_fit("count", "auto"));
	assert_false(units_fit("count", "ms"));
	assert_false(units_fit("bytes", "ms"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_report_unit),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
