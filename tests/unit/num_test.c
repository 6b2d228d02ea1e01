/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the command line: every form, every bad form, and *out untouched on failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/num.h"

#define UNTOUCHED 424242
#define S 1000000000LL

static void u64(const char *s, int want_r, uint64_t want)
{
	uint64_t v = UNTOUCHED;

	if (num_parse_u64(s, &v) != want_r || v != (want_r ? UNTOUCHED : want))
		fail_msg("num_parse_u64(\"%s\") gave %" PRIu64, s, v);
}

static void i64(const char *s, int want_r, int64_t want)
{
	int64_t v = UNTOUCHED;

	if (num_parse_i64(s, &v) != want_r || v != (want_r ? UNTOUCHED : want))
		fail_msg("num_parse_i64(\"%s\") gave %" PRId64, s, v);
}

static void duration(const char *s, int want_r, int64_t want)
{
	int64_t v = UNTOUCHED;

	if (num_parse_duration(s, &v) != want_r || v != (want_r ? UNTOUCHED : want))
		fail_msg("num_parse_duration(\"%s\") gave %" PRId64, s, v);
}

static void size(const char *s, int want_r, uint64_t want)
{
	uint64_t v = UNTOUCHED;

	if (num_parse_size(s, &v) != want_r || v != (want_r ? UNTOUCHED : want))
		fail_msg("num_parse_size(\"%s\") gave %" PRIu64, s, v);
}

static void percent(const char *s, int want_r, double want)
{
	double v = UNTOUCHED;

	if (num_parse_percent(s, &v) != want_r ||
	    (want_r ? v != UNTOUCHED : v < want - 1e-12 || v > want + 1e-12))
		fail_msg("num_parse_percent(\"%s\") gave %g", s, v);
}

static void when(const char *s, int want_r, int64_t want)
{
	int64_t v = UNTOUCHED;

	if (num_parse_time(s, 1700000000 * S, &v) != want_r ||
	    v != (want_r ? UNTOUCHED : want))
		fail_msg("num_parse_time(\"%s\") gave %" PRId64, s, v);
}

static void test_integers(void **state)
{
	(void)state;
	u64("0", 0, 0);
	u64("18446744073709551615", 0, UINT64_MAX);
	u64("0xffffffffffffffff", 0, UINT64_MAX);
	u64("0XaB", 0, 0xab);
	u64("007", 0, 7);
	u64("18446744073709551616", -ERANGE, 0);
	u64("99999999999999999999999", -ERANGE, 0);
	u64("0x10000000000000000", -ERANGE, 0);
	u64("", -EINVAL, 0);
	u64("0x", -EINVAL, 0);
	u64("0xg", -EINVAL, 0);
	u64("-1", -EINVAL, 0);
	u64("+1", -EINVAL, 0);
	u64(" 1", -EINVAL, 0);
	u64("1 ", -EINVAL, 0);
	u64("1e3", -EINVAL, 0);
	i64("-9223372036854775808", 0, INT64_MIN);
	i64("9223372036854775807", 0, INT64_MAX);
	i64("-0", 0, 0);
	i64("9223372036854775808", -ERANGE, 0);
	i64("-9223372036854775809", -ERANGE, 0);
	i64("-", -EINVAL, 0);
	i64("--1", -EINVAL, 0);
	i64("0x10", -EINVAL, 0);
}

static void test_durations(void **state)
{
	(void)state;
	duration("10s", 0, 10 * S);
	duration("5m", 0, 300 * S);
	duration("5min", 0, 300 * S);
	duration("1h", 0, 3600 * S);
	duration("2d", 0, 2 * 86400 * S);
	duration("100ms", 0, 100000000);
	duration("7us", 0, 7000);
	duration("3ns", 0, 3);
	duration("10", 0, 10 * S);
	duration("0", 0, 0);
	duration("1.5s", 0, 1500000000);
	duration("1.5", 0, 1500000000);
	duration("0.1ms", 0, 100000);
	duration("1.5m", 0, 90 * S);
	duration("1.25h", 0, 4500 * S);
	duration("0.000000001", 0, 1);
	duration("0.00000000199999999999999999999", 0, 1);
	duration("1h30m", 0, 5400 * S);
	duration("1m30s500ms", 0, 90500000000);
	duration("9223372036854775807ns", 0, INT64_MAX);
	duration("9223372036s", 0, 9223372036 * S);
	duration("9223372037s", -ERANGE, 0);
	duration("9223372036854775808ns", -ERANGE, 0);
	duration("9223372036854775807ns1ns", -ERANGE, 0);
	duration("99999999999999999999", -ERANGE, 0);
	duration("300000d", -ERANGE, 0);
	duration("", -EINVAL, 0);
	duration("s", -EINVAL, 0);
	duration("-1s", -EINVAL, 0);
	duration("1 s", -EINVAL, 0);
	duration("1s ", -EINVAL, 0);
	duration("1x", -EINVAL, 0);
	duration("1S", -EINVAL, 0);
	duration("5M", -EINVAL, 0);
	duration("1.s", -EINVAL, 0);
	duration(".5s", -EINVAL, 0);
	duration("1.2.3s", -EINVAL, 0);
	duration("1h30", -EINVAL, 0);
	duration("10,5s", -EINVAL, 0);
	duration("1mss", -EINVAL, 0);
	duration("0x10s", -EINVAL, 0);
	duration("1e3", -EINVAL, 0);
}

static void test_sizes(void **state)
{
	(void)state;
	size("0", 0, 0);
	size("1000", 0, 1000);
	size("64K", 0, 65536);
	size("64k", 0, 65536);
	size("64KB", 0, 65536);
	size("64KiB", 0, 65536);
	size("8M", 0, 8 << 20);
	size("1G", 0, 1ull << 30);
	size("2T", 0, 2ull << 40);
	size("1.5K", 0, 1536);
	size("1.25K", 0, 1280);
	size("1.375M", 0, 1441792);
	size("0.1K", 0, 102);
	size("16777215T", 0, 16777215ull << 40);
	size("16777216T", -ERANGE, 0);
	size("18446744073709551616", -ERANGE, 0);
	size("", -EINVAL, 0);
	size("K", -EINVAL, 0);
	size("1 K", -EINVAL, 0);
	size("1KK", -EINVAL, 0);
	size("1Ki", -EINVAL, 0);
	size("1P", -EINVAL, 0);
	size("-1", -EINVAL, 0);
	size("1\x8b", -EINVAL, 0);
	size("1.K", -EINVAL, 0);
}

static void test_percentages(void **state)
{
	(void)state;
	percent("0.5%", 0, 0.005);
	percent("100%", 0, 1);
	percent("250%", 0, 2.5);
	percent("0", 0, 0);
	percent("0.005", 0, 0.005);
	percent("12.5%", 0, 0.125);
	percent("%", -EINVAL, 0);
	percent("", -EINVAL, 0);
	percent("5%%", -EINVAL, 0);
	percent("5 %", -EINVAL, 0);
	percent("-5%", -EINVAL, 0);
	percent("nan", -EINVAL, 0);
	percent("1e-3", -EINVAL, 0);
	percent("99999999999999999999%", -ERANGE, 0);
}

static void test_times(void **state)
{
	(void)state;
	when("now", 0, 1700000000 * S);
	when("@1700000000", 0, 1700000000 * S);
	when("@0.5", 0, 500000000);
	when("@1.000000001", 0, S + 1);
	when("-10m", 0, (1700000000 - 600) * S);
	when("+1h", 0, (1700000000 + 3600) * S);
	when("-1h30m", 0, (1700000000 - 5400) * S);
	when("1970-01-01", 0, 0);
	when("2023-11-14T22:13:20Z", 0, 1700000000 * S);
	when("2023-11-14t22:13:20z", 0, 1700000000 * S);
	when("2023-11-14 22:13:20", 0, 1700000000 * S);
	when("2023-11-14T22:13", 0, 1699999980 * S);
	when("2023-11-14T22:13Z", 0, 1699999980 * S);
	when("2023-11-14T23:43:20+01:30", 0, 1700000000 * S);
	when("2023-11-14T14:13:20-08:00", 0, 1700000000 * S);
	when("2023-11-14T22:13:20.25Z", 0, 1700000000 * S + 250000000);
	when("2023-11-14T22:13:20.0000000019Z", 0, 1700000000 * S + 1);
	when("1969-12-31T23:59:59.5Z", 0, -500000000);
	when("2024-02-29", 0, 1709164800 * S);
	when("2016-12-31T23:59:60Z", 0, 1483228800 * S); /* there was one */
	when("2262-04-11T23:47:16.854775807Z", 0, INT64_MAX);
	when("1677-09-21T00:12:43.145224192Z", 0, INT64_MIN);
	when("2262-04-11T23:47:16.854775808Z", -ERANGE, 0);
	when("1677-09-21T00:12:43.145224191Z", -ERANGE, 0);
	when("9999-12-31", -ERANGE, 0);
	when("@9223372037", -ERANGE, 0);
	when("-400000000h", -ERANGE, 0);
	when("", -EINVAL, 0);
	when("yesterday", -EINVAL, 0);
	when("1700000000", -EINVAL, 0);
	when("@", -EINVAL, 0);
	when("@-5", -EINVAL, 0);
	when("@5s", -EINVAL, 0);
	when("-", -EINVAL, 0);
	when("--10m", -EINVAL, 0);
	when("2023-02-29", -EINVAL, 0);
	when("2023-13-01", -EINVAL, 0);
	when("2023-00-10", -EINVAL, 0);
	when("2023-04-31", -EINVAL, 0);
	when("2023-04-00", -EINVAL, 0);
	when("2023-1-1", -EINVAL, 0);
	when("2023-11-14T", -EINVAL, 0);
	when("2023-11-14T22", -EINVAL, 0);
	when("2023-11-14T24:00:00Z", -EINVAL, 0);
	when("2023-11-14T22:60:00Z", -EINVAL, 0);
	when("2023-11-14T22:13:61Z", -EINVAL, 0);
	when("2023-11-14T22:13:20.Z", -EINVAL, 0);
	when("2023-11-14T22:13:20+1:00", -EINVAL, 0);
	when("2023-11-14T22:13:20+24:00", -EINVAL, 0);
	when("2023-11-14T22:13:20+01", -EINVAL, 0);
	when("2023-11-14T22:13:20Zx", -EINVAL, 0);
	when("2023-11-14Z", -EINVAL, 0);
	when("2023-11-14 ", -EINVAL, 0);
}

static void formats(int64_t ns, const char *want)
{
	char out[NUM_TIME_MAX];
	int64_t back;

	assert_ptr_equal(num_format_time(ns, out), out);
	assert_string_equal(out, want);
	assert_int_equal(num_parse_time(out, 0, &back), 0);
	assert_true(back == ns);
}

static void test_format_time(void **state)
{
	(void)state;
	formats(0, "1970-01-01T00:00:00Z");
	formats(1700000000 * S, "2023-11-14T22:13:20Z");
	formats(1700000000 * S + 1, "2023-11-14T22:13:20.000000001Z");
	formats(1700000000 * S + 120000000, "2023-11-14T22:13:20.12Z");
	formats(-1, "1969-12-31T23:59:59.999999999Z");
	formats(-S, "1969-12-31T23:59:59Z");
	formats(INT64_MAX, "2262-04-11T23:47:16.854775807Z");
	formats(INT64_MIN, "1677-09-21T00:12:43.145224192Z");
}

/* Against gmtime and strftime of libc, over days of many years. */
static void test_dates_against_libc(void **state)
{
	char text[64];
	struct tm tm;
	int64_t got;
	time_t t;

	(void)state;
	for (t = -9000000000; t < 9000000000; t += 86400 * 37 + 12345) {
		gmtime_r(&t, &tm);
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
		assert_int_equal(num_parse_time(text, 0, &got), 0);
		assert_true(got == (int64_t)t * S);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_percentages),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_format_time),
		cmocka_unit_test(test_dates_against_libc),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
