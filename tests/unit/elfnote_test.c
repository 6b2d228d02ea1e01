/* SPDX-License-Identifier: Apache-2.0 */
/* Build ids without an ELF library, against one (libelf) on this program and on damage. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elfutils/libdwelf.h>
#include <libelf.h>

#include "lib/base/xalloc.h"
#include "lib/sym/elfnote.h"

static uint8_t *read_self(size_t *n)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	uint8_t *p;

	assert_true(fd >= 0);
	*n = lseek(fd, 0, SEEK_END);
	p = xmalloc(*n);
	assert_int_equal(pread(fd, p, *n, 0), *n);
	close(fd);
	return p;
}

static void test_self(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char hex[2 * BUILD_ID_MAX + 1];
	struct build_id from_fd, from_image;
	const void *want;
	ssize_t want_n;
	uint8_t *p;
	size_t n;
	Elf *elf;

	(void)state;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	want_n = dwelf_elf_gnu_build_id(elf, &want);
	if (want_n > 0) { /* some toolchains write none */
		assert_int_equal(build_id_from_fd(fd, &from_fd), 1);
		assert_int_equal(from_fd.n, want_n);
		assert_memory_equal(from_fd.data, want, want_n);
		p = read_self(&n);
		assert_int_equal(build_id_from_image(p, n, &from_image), 1);
		assert_memory_equal(&from_fd.data, &from_image.data, want_n);
		free(p);
		build_id_hex(&from_fd, hex);
		assert_int_equal(strlen(hex), 2 * want_n);
	} else {
		assert_int_equal(build_id_from_fd(fd, &from_fd), 0);
	}
	elf_end(elf);
	close(fd);
}

/* Cut short anywhere, and with any byte of the header wrong: no crash, nothing made up. */
static void test_damage(void **state)
{
	struct build_id whole, id;
	uint8_t *p, *cut;
	size_t n, i, j;
	int r;

	(void)state;
	p = read_self(&n);
	r = build_id_from_image(p, n, &whole);
	for (i = 0; i < 2048 && i < n; i++) {
		cut = xmemdup(p, i + 1);
		if (build_id_from_image(cut, i, &id) == 1)
			assert_memory_equal(id.data, whole.data, whole.n);
		free(cut);
		for (j = 0; j < 8 && i < 64; j++) {
			p[i] ^= 1 << j;
			build_id_from_image(p, n, &id);
			p[i] ^= 1 << j;
		}
	}
	assert_int_equal(build_id_from_image(p, n, &id), r);
	free(p);
}

static void test_notes(void **state)
{
	static const uint8_t notes[] = {
		5,   0,	  0, 0, 3, 0, 0, 0, 1,	 0,   0,   0, 'S',  't',
		'e', 'p', 0, 0, 0, 0, 1, 2, 3,	 0,   4,   0, 0,    0,
		2,   0,	  0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd,
	};
	uint8_t copy[sizeof(notes)];
	struct build_id id;
	char hex[2 * BUILD_ID_MAX + 1];

	(void)state;
	assert_int_equal(build_id_from_notes(notes, sizeof(notes), 4, &id), 1);
	build_id_hex(&id, hex);
	assert_string_equal(hex, "abcd");
	assert_int_equal(build_id_from_notes(notes, sizeof(notes) - 1, 4, &id), 0);
	/* sizes that would reach past the end, or round over it */
	memcpy(copy, notes, sizeof(notes));
	memset(copy, 0xff, 4);
	assert_int_equal(build_id_from_notes(copy, sizeof(copy), 4, &id), 0);
	memcpy(copy, notes, sizeof(notes));
	memset(copy + 4, 0xff, 4);
	assert_int_equal(build_id_from_notes(copy, sizeof(copy), 4, &id), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_notes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
