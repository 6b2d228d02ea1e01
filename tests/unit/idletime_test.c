/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time by CPU from the text of /proc/stat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/capture/idletime.h"

static void test_columns(void **state)
{
	uint64_t ns[4] = {9, 9, 9, 9};

	(void)state;
	idletime_parse("cpu  10 0 0 300 5 0\ncpu0 5 0 0 100 2 0 0\ncpu2 5 0 0 200 3 0 0\n"
		       "intr 1 2 3\ncpu3 1 1 1 1 1\n",
		       100, ns, 4);
	assert_int_equal(ns[0], 1020000000);
	assert_int_equal(ns[1], 0);
	assert_int_equal(ns[2], 2030000000);
	assert_int_equal(ns[3], 0);
}

static void test_odd_text(void **state)
{
	uint64_t ns[2] = {9, 9};

	(void)state;
	idletime_parse("", 100, ns, 2);
	assert_int_equal(ns[0], 0);
	idletime_parse("cpu0 1 2\ncpu9 1 2 3 4 5\ncpu1 1 2 3 4 5", 100, ns, 2);
	assert_int_equal(ns[0], 0);
	assert_int_equal(ns[1], 90000000);
	idletime_parse("cpu1 1 2 3 4 5\n", 0, ns, 2);
	assert_int_equal(ns[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_odd_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
