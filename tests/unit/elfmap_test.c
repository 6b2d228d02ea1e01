/* SPDX-License-Identifier: Apache-2.0 */
/* Sections as pages of a file: what is left of one that is cut short, and of large sections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/sym/elf_map.h"

#define BYTES (1u << 20)

static int make_file(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	char page[4096];
	size_t i;

	assert_true(fd >= 0);
	memset(page, 'x', sizeof(page));
	for (i = 0; i < BYTES / sizeof(page); i++)
		assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	return fd;
}

static void test_file(void **state)
{
	struct elf_map m = {0};
	int fd = make_file();
	const uint8_t *p;

	(void)state;
	assert_null(elf_map_file(&m, fd, 4096 + 5, 10000)); /* no guard */
	elf_map_guard();
	p = elf_map_file(&m, fd, 4096 + 5, 10000);
	assert_non_null(p);
	assert_int_equal(p[0], 'x');
	assert_int_equal(p[9999], 'x');
	elf_unmap(&m);
	assert_null(m.p);
	close(fd);
}

static void test_cut_short(void **state)
{
	struct elf_map m = {0};
	int fd = make_file();
	size_t i, zeros = 0;
	const uint8_t *p;

	(void)state;
	elf_map_guard();
	p = elf_map_file(&m, fd, 0, BYTES);
	assert_non_null(p);
	assert_int_equal(ftruncate(fd, 8192), 0);
	for (i = 0; i < BYTES; i++)
		zeros += !p[i];
	assert_int_equal(zeros, BYTES - 8192);
	assert_int_equal(p[8191], 'x');
	elf_unmap(&m);
	close(fd);
}

static void test_memory(void **state)
{
	struct elf_map m = {0};
	uint8_t *p = elf_map_memory(&m, BYTES);

	(void)state;
	assert_non_null(p);
	memset(p, 1, BYTES);
	elf_unmap(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
