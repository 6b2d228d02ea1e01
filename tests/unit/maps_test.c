/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/PID/maps, and those of this process against what it knows of itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sym/maps.h"

static int one(const char *text, struct maps_line *m)
{
	const char *p = text;
	int r = maps_next(&p, text + strlen(text), m);

	assert_ptr_equal(p, text + strlen(text));
	return r;
}

static void check_name(const struct maps_line *m, const char *want)
{
	assert_int_equal(m->name_len, strlen(want));
	assert_memory_equal(m->name, want, m->name_len);
}

static void test_fields(void **state)
{
	struct maps_line m;

	(void)state;
	assert_int_equal(one("7f1c2a000000-7f1c2a021000 r-xp 00001000 fe:01 1234567    "
			     "      /usr/lib/a b.so\n",
			     &m),
			 1);
	assert_true(m.start == 0x7f1c2a000000 && m.end == 0x7f1c2a021000 &&
		    m.offset == 0x1000);
	assert_true(m.major == 0xfe && m.minor == 1 && m.inode == 1234567);
	assert_true(m.read && !m.write && m.exec && !m.shared && !m.deleted);
	check_name(&m, "/usr/lib/a b.so");
	assert_int_equal(one("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0"
			     "                  [vsyscall]",
			     &m),
			 1);
	assert_true(m.start == 0xffffffffff600000 && !m.read && m.exec);
	check_name(&m, "[vsyscall]");
	assert_int_equal(
		one("1000-2000 rw-s 00000000 00:05 7 /memfd:x (deleted) (deleted)\n", &m),
		1);
	assert_true(m.shared && m.deleted);
	check_name(&m, "/memfd:x (deleted)");
	assert_int_equal(one("1000-2000 rw-p 00000000 00:00 0 \n", &m), 1);
	check_name(&m, "");
	assert_int_equal(one("1000-2000 rw-p 00000000 00:00 0\n", &m), 1);
	check_name(&m, "");
	/* a file with nothing but that name is not a deleted one */
	assert_int_equal(one("1000-2000 rw-p 00000000 00:00 0 (deleted)\n", &m), 1);
	assert_false(m.deleted);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"\n",
		"1000\n",
		"1000-\n",
		"1000-1000 r-xp 0 00:00 0\n",
		"2000-1000 r-xp 0 00:00 0\n",
		"1000-2000 r-x 0 00:00 0\n",
		"1000-2000 abcd 0 00:00 0\n",
		"10000000000000000-20000000000000000 r-xp 0 00:00 0\n",
		"1000-2000 r-xp 0 100000000:00 0\n",
		"1000-2000 r-xp 0 00:00\n",
		"1000-2000 r-xp 0 00:00 99999999999999999999\n",
		"1000-2000 r-xp 0 00:00 5x\n",
		" 1000-2000 r-xp 0 00:00 0\n",
	};
	struct maps_line m = {.start = 42};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (one(bad[i], &m) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	}
	assert_int_equal(m.start, 42);
}

static void test_goes_on(void **state)
{
	const char text[] =
		"rubbish\n1000-2000 r-xp 0 00:00 0 a\n3000-4000 r-xp 0 00:00 0 b";
	const char *p = text, *end = text + sizeof(text) - 1;
	struct maps_line m;

	(void)state;
	assert_int_equal(maps_next(&p, end, &m), -EINVAL);
	assert_int_equal(maps_next(&p, end, &m), 1);
	check_name(&m, "a");
	assert_int_equal(maps_next(&p, end, &m), 1);
	check_name(&m, "b");
	assert_int_equal(maps_next(&p, end, &m), 0);
}

static void test_self(void **state)
{
	char text[65536];
	FILE *f = fopen("/proc/self/maps", "re");
	size_t n;
	const char *p = text;
	struct maps_line m;
	uintptr_t here = (uintptr_t)&test_self;
	int found = 0, r;

	(void)state;
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	while ((r = maps_next(&p, text + n, &m)) == 1) {
		if (here >= m.start && here < m.end) {
			found++;
			assert_true(m.exec && m.name_len && m.name[0] == '/');
		}
	}
	assert_int_equal(r, 0);
	assert_int_equal(found, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_self),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
