/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zstd.h>

#include "lib/sym/debugfile.h"
#include "tests/symbolize/elfmake.h"

static uint64_t vaddr_of(struct elf_file *f, uint64_t off, int want)
{
	uint64_t v = 0;

	assert_int_equal(elf_vaddr(f, off, &v), want);
	return v;
}

/* What GNU ld makes: offsets equal addresses. */
static void test_plain_segments(void **state)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f;

	(void)state;
	elfmake_segment(&m, 0, 0, 0x600, 0x600, PF_R, 0x1000);
	elfmake_segment(&m, 0x1000, 0x1000, 0x1234, 0x1234, PF_R | PF_X, 0x1000);
	elfmake_segment(&m, 0x3000, 0x3000, 0x10, 0x10, PF_R, 0x1000);
	f = elfmake_open(&m, ET_DYN);
	assert_non_null(f);
	assert_int_equal(vaddr_of(f, 0x1000, 0), 0x1000);
	assert_int_equal(vaddr_of(f, 0x2233, 0), 0x2233);
	assert_int_equal(vaddr_of(f, 0x2fff, 0),
			 0x2fff); /* the rest of the mapped page */
	vaddr_of(f, 0x5000, -ENXIO);
	elf_free(f);
}

/* lld: segments follow one another in the file, each a page further in memory. */
static void test_lld_segments(void **state)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f;

	(void)state;
	elfmake_segment(&m, 0, 0, 0x5f0, 0x5f0, PF_R, 0x1000);
	elfmake_segment(&m, 0x5f0, 0x15f0, 0x9a0, 0x9a0, PF_R | PF_X, 0x1000);
	elfmake_segment(&m, 0xf90, 0x2f90, 0x100, 0x100, PF_R | PF_W, 0x1000);
	f = elfmake_open(&m, ET_DYN);
	assert_non_null(f);
	assert_int_equal(vaddr_of(f, 0x5f0, 0), 0x15f0);
	assert_int_equal(vaddr_of(f, 0xf8f, 0), 0x1f8f);
	/* in the page of both: code is where code can be */
	assert_int_equal(vaddr_of(f, 0xf90, 0), 0x1f90);
	elf_free(f);
}

/* Two executable segments that share a page: exact containment decides. */
static void test_shared_page(void **state)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f;

	(void)state;
	elfmake_segment(&m, 0x1000, 0x401000, 0x800, 0x800, PF_R | PF_X, 0x1000);
	elfmake_segment(&m, 0x1800, 0x602800, 0x400, 0x400, PF_R | PF_X, 0x1000);
	f = elfmake_open(&m, ET_EXEC);
	assert_non_null(f);
	assert_int_equal(vaddr_of(f, 0x1100, 0), 0x401100);
	assert_int_equal(vaddr_of(f, 0x1900, 0), 0x602900);
	vaddr_of(f, 0x1d00, -ENOTUNIQ); /* in neither, in the page of both */
	elf_free(f);
}

static void test_big_pages(void **state)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f;

	(void)state;
	elfmake_segment(&m, 0x10200, 0x20200, 0x100, 0x100, PF_R | PF_X, 0x10000);
	f = elfmake_open(&m, ET_DYN);
	assert_non_null(f);
	assert_int_equal(vaddr_of(f, 0x10010, 0), 0x20010);
	assert_int_equal(vaddr_of(f, 0x1f000, 0), 0x2f000);
	vaddr_of(f, 0xf000, -ENXIO);
	elf_free(f);
}

static void test_build_ids(void **state)
{
	static const uint8_t note[] = {4, 0, 0,	  0,   8,   0, 0,    0,	   99,	 0,
				       0, 0, 'G', 'N', 'U', 0, 1,    2,	   3,	 4,
				       5, 6, 7,	  8, /* another type first */
				       4, 0, 0,	  0,   3,   0, 0,    0,	   3,	 0,
				       0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 0};
	struct elfmake m = elfmake_new();
	struct build_id id;
	struct elf_file *f;

	(void)state;
	elfmake_section(&m, ".note.x", SHT_NOTE, SHF_ALLOC, 0x100, note, sizeof(note));
	f = elfmake_open(&m, ET_DYN);
	assert_non_null(f);
	assert_int_equal(f->build_id_n, 3);
	id = build_id_parse("ABcdef");
	assert_true(build_id_matches(&id, f));
	id = build_id_parse("abcdee");
	assert_false(build_id_matches(&id, f));
	id = build_id_parse("abcdef00");
	assert_false(build_id_matches(&id, f));
	id = build_id_parse("abcde");
	assert_false(build_id_matches(&id, f));
	id = build_id_parse("");
	assert_false(build_id_matches(&id, f));
	elf_free(f);
}

#define PLAIN_SIZE 100000

static struct buf packed(uint32_t type, uint64_t claimed)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	Elf64_Chdr ch = {.ch_type = type, .ch_size = claimed, .ch_addralign = 1};
	char *plain = calloc(1, PLAIN_SIZE), *out = malloc(PLAIN_SIZE * 2);
	struct buf b = BUF_INIT(1 << 20);
	size_t n;

	memset(plain, 'x', PLAIN_SIZE / 2);
	n = type == ELFCOMPRESS_ZLIB
		    ? libdeflate_zlib_compress(c, plain, PLAIN_SIZE, out, PLAIN_SIZE * 2)
		    : ZSTD_compress(out, PLAIN_SIZE * 2, plain, PLAIN_SIZE, 3);
	buf_put(&b, &ch, sizeof(ch));
	buf_put(&b, out, n);
	libdeflate_free_compressor(c);
	free(plain);
	free(out);
	return b;
}

static int read_packed(uint32_t type, uint64_t claimed, size_t *n)
{
	struct elfmake m = elfmake_new();
	struct buf b = packed(type, claimed);
	struct elf_file *f;
	const uint8_t *p;
	struct err e;
	int r;

	elfmake_section(&m, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, b.data,
			b.len);
	buf_release(&b);
	f = elfmake_open(&m, ET_DYN);
	assert_non_null(f);
	r = elf_debug_data(f, "info", &p, n, &e);
	if (!r)
		assert_true(*n == PLAIN_SIZE && p[0] == 'x' && !p[PLAIN_SIZE - 1]);
	elf_free(f);
	return r;
}

static void test_compressed_sections(void **state)
{
	size_t n;

	(void)state;
	assert_int_equal(read_packed(ELFCOMPRESS_ZLIB, PLAIN_SIZE, &n), 0);
	assert_int_equal(read_packed(2, PLAIN_SIZE, &n), 0); /* zstd */
	/* sizes that the data does not have, or cannot have */
	assert_int_equal(read_packed(ELFCOMPRESS_ZLIB, PLAIN_SIZE - 1, &n), -EBADMSG);
	assert_int_equal(read_packed(ELFCOMPRESS_ZLIB, PLAIN_SIZE + 1, &n), -EBADMSG);
	assert_int_equal(read_packed(ELFCOMPRESS_ZLIB, UINT64_MAX, &n), -EBADMSG);
	assert_int_equal(read_packed(2, PLAIN_SIZE + 1, &n), -EBADMSG);
	assert_int_equal(read_packed(2, UINT64_MAX, &n), -EBADMSG);
	assert_int_equal(read_packed(7, PLAIN_SIZE, &n), -ENOTSUP);
}

static void test_not_regular(void **state)
{
	char dir[] = "/tmp/elf_test.XXXXXX", path[64];
	struct elf_file *f = NULL;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(elf_open(NULL, path, &f, &e),
			 -ENODEV); /* and does not wait for a writer */
	unlink(path);
	assert_int_equal(elf_open(NULL, dir, &f, &e), -ENODEV);
	rmdir(dir);
	assert_int_equal(elf_open(NULL, "/dev/zero", &f, &e), -ENODEV);
	assert_int_equal(elf_open(NULL, "/etc/passwd", &f, &e), -ENOEXEC);
	assert_null(f);
}

/* Cut a file at every length: headers or contents are refused, nothing else happens. */
static void test_truncated(void **state)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f;
	const uint8_t *p;
	struct err e;
	off_t size;
	size_t n;
	int fd, copy;

	(void)state;
	elfmake_segment(&m, 0x1000, 0x1000, 0x1000, 0x1000, PF_R | PF_X, 0x1000);
	elfmake_section(&m, ".debug_info", SHT_PROGBITS, 0, 0, "0123456789", 10);
	fd = elfmake_fd(&m, ET_DYN);
	size = lseek(fd, 0, SEEK_END);
	while (size-- > 0) {
		assert_int_equal(ftruncate(fd, size), 0);
		copy = dup(fd);
		f = NULL;
		if (elf_open_fd(copy, &f, &e))
			continue;
		elf_debug_data(f, "info", &p, &n, &e);
		elf_free(f);
	}
	close(fd);
}

/* A file cut short after it was opened is an error, not a signal. */
static void test_truncated_later(void **state)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f = NULL;
	const uint8_t *p;
	struct err e;
	size_t n;
	int fd;

	(void)state;
	elfmake_section(&m, ".debug_info", SHT_PROGBITS, 0, 0, "0123456789", 10);
	fd = elfmake_fd(&m, ET_DYN);
	assert_int_equal(elf_open_fd(dup(fd), &f, &e), 0);
	assert_int_equal(ftruncate(fd, 0x404), 0);
	assert_int_equal(elf_debug_data(f, "info", &p, &n, &e), -EBADMSG);
	elf_free(f);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_segments),
		cmocka_unit_test(test_lld_segments),
		cmocka_unit_test(test_shared_page),
		cmocka_unit_test(test_big_pages),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_compressed_sections),
		cmocka_unit_test(test_not_regular),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_truncated_later),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
