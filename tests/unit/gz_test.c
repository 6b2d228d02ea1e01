/* SPDX-License-Identifier: Apache-2.0 */
/* gzip members in and out: files (libdeflate) and pipes (zlib) must agree on everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/io/gz.h"

#define MAX (1 << 20)

enum how { FROM_FILE, FROM_PIPE, BYTE_BY_BYTE, N_HOWS };

static int memory_file(const void *p, size_t n)
{
	int fd = memfd_create("gz", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* The data behind a pipe, which a child fills `step` bytes a time where it matters. */
static int piped(const uint8_t *p, size_t n, size_t step)
{
	size_t k;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	if (n <= 4096 && n <= step) {
		assert_int_equal(write(fds[1], p, n), (ssize_t)n);
	} else if (fork() == 0) {
		close(fds[0]);
		for (; n; p += k, n -= k) {
			k = n < step ? n : step;
			if (write(fds[1], p, k) != (ssize_t)k)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

static struct gz_reader *open_as(enum how how, const void *p, size_t n, uint64_t max)
{
	int fd = how == FROM_FILE ? memory_file(p, n)
				  : piped(p, n, how == FROM_PIPE ? 65536 : 1);

	return gz_reader_new(fd, max);
}

static void close_as(enum how how, struct gz_reader *g)
{
	gz_reader_free(g);
	if (how != FROM_FILE)
		wait(NULL);
}

static void add_member(struct buf *b, const void *p, size_t n)
{
	struct err e;

	assert_int_equal(gz_compress(p, n, b, &e), 0);
}

static void expect(struct gz_reader *g, const void *want, size_t want_n, size_t member)
{
	struct err e = {0};
	const uint8_t *p;
	bool plain = true;
	size_t n;
	int r = gz_next(g, &p, &n, &plain, &e);

	if (r != 1)
		fail_msg("member %zu: %d, %s", member, r, e.msg);
	assert_false(plain);
	assert_int_equal(n, want_n);
	if (n)
		assert_memory_equal(p, want, n);
	assert_int_equal(gz_member(g), member);
}

static void expect_end(struct gz_reader *g)
{
	const uint8_t *p;
	struct err e;
	bool plain;
	size_t n;

	assert_int_equal(gz_next(g, &p, &n, &plain, &e), 0);
	assert_int_equal(gz_next(g, &p, &n, &plain, &e), 0);
}

/* The next call fails with `code` and a message that has `text`; then nothing more comes. */
static void expect_error(struct gz_reader *g, int code, const char *text)
{
	struct err e = {0};
	const uint8_t *p;
	bool plain;
	size_t n;
	int r = gz_next(g, &p, &n, &plain, &e);

	if (r != -code || !strstr(e.msg, text))
		fail_msg("wanted \"%s\", got %d, \"%s\"", text, r, e.msg);
	expect_end(g);
}

static void test_members(void **state)
{
	struct buf b = BUF_INIT(MAX);
	struct gz_reader *g;
	char big[100000];
	size_t i;
	int how;

	(void)state;
	for (i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * i >> 3);
	add_member(&b, "one", 3);
	add_member(&b, "", 0);
	add_member(&b, big, sizeof(big));
	add_member(&b, "", 0);
	add_member(&b, "", 0);
	add_member(&b, "last", 4);
	for (how = 0; how < N_HOWS; how++) {
		g = open_as(how, b.data, b.len, MAX);
		expect(g, "one", 3, 1);
		expect(g, "", 0, 2);
		expect(g, big, sizeof(big), 3);
		expect(g, "", 0, 4);
		expect(g, "", 0, 5);
		expect(g, "last", 4, 6);
		expect_end(g);
		close_as(how, g);
	}
	/* the last one empty: what its end says about sizes is of no use for the first */
	b.len = 0;
	add_member(&b, big, sizeof(big));
	add_member(&b, "", 0);
	for (how = 0; how < N_HOWS; how++) {
		g = open_as(how, b.data, b.len, MAX);
		expect(g, big, sizeof(big), 1);
		expect(g, "", 0, 2);
		expect_end(g);
		close_as(how, g);
	}
	buf_release(&b);
}

/* zlib wrote it: with every optional header field, in stored and in fixed blocks. */
static void test_other_writers(void **state)
{
	static const uint8_t text[] = "profile profile profile profile";
	uint8_t out[512];
	gz_header head = {.text = 1,
			  .time = 99,
			  .os = 3,
			  .extra = (uint8_t *)"ab\2\0xy",
			  .extra_len = 6,
			  .name = (uint8_t *)"name",
			  .comment = (uint8_t *)"comment",
			  .hcrc = 1};
	struct gz_reader *g;
	int how, level;
	z_stream z;

	(void)state;
	for (level = 0; level <= 9; level += 3) {
		z = (z_stream){0};
		assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 16 + 15, 9,
					      level == 3 ? Z_FIXED : Z_DEFAULT_STRATEGY),
				 Z_OK);
		deflateSetHeader(&z, &head);
		z.next_in = (uint8_t *)text;
		z.avail_in = sizeof(text);
		z.next_out = out;
		z.avail_out = sizeof(out);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		for (how = 0; how < N_HOWS; how++) {
			g = open_as(how, out, z.total_out, MAX);
			expect(g, text, sizeof(text), 1);
			expect_end(g);
			close_as(how, g);
		}
		deflateEnd(&z);
	}
}

static void test_what_we_write(void **state)
{
	static const char text[] = "the same bytes at any time";
	struct buf a = BUF_INIT(MAX), b = BUF_INIT(MAX), tiny = BUF_INIT(20);
	uint8_t out[100];
	z_stream z = {0};
	gz_header head = {0};
	struct err e = {0};

	(void)state;
	buf_puts(&b, "before");
	add_member(&a, text, sizeof(text));
	add_member(&b, text, sizeof(text));
	assert_int_equal(b.len, a.len + 6);
	assert_memory_equal(b.data + 6, a.data, a.len);
	/* zlib reads it back; no time, no name */
	assert_int_equal(inflateInit2(&z, 16 + 15), Z_OK);
	inflateGetHeader(&z, &head);
	z.next_in = a.data;
	z.avail_in = a.len;
	z.next_out = out;
	z.avail_out = sizeof(out);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, sizeof(text));
	assert_memory_equal(out, text, sizeof(text));
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(head.time, 0);
	assert_int_equal(a.data[3], 0);
	inflateEnd(&z);
	assert_int_equal(gz_compress(text, sizeof(text), &tiny, &e), -E2BIG);
	buf_release(&a);
	buf_release(&b);
	buf_release(&tiny);
}

static void test_cut_at_every_byte(void **state)
{
	struct buf b = BUF_INIT(MAX);
	struct gz_reader *g;
	size_t first, n;
	char want[80];
	int how;

	(void)state;
	add_member(&b, "first member", 12);
	first = b.len;
	add_member(&b, "second member, some longer", 26);
	for (how = FROM_FILE; how <= FROM_PIPE; how++) {
		for (n = 1; n < b.len; n++) {
			g = open_as(how, b.data, n, MAX);
			if (n == 1) {
				/* one byte is not gzip yet: the input as it is */
				const uint8_t *p;
				struct err e;
				bool plain;
				size_t got;

				assert_int_equal(gz_next(g, &p, &got, &plain, &e), 1);
				assert_true(plain);
				assert_int_equal(got, 1);
				expect_end(g);
			} else if (n < first) {
				snprintf(
					want, sizeof(want),
					"truncated gzip member at byte %zu (starts at 0)",
					n);
				expect_error(g, EBADMSG, want);
			} else {
				expect(g, "first member", 12, 1);
				if (n == first)
					expect_end(g);
				else if (n == first + 1)
					expect_error(g, EBADMSG,
						     "no gzip member at byte");
				else
					expect_error(g, EBADMSG, "truncated gzip member");
				if (n > first)
					assert_int_equal(gz_member(g), 2);
			}
			close_as(how, g);
		}
	}
	buf_release(&b);
}

/* Any one bit changed in deflate data, CRC or length: an error (or padding), never other bytes. */
static void test_every_bit(void **state)
{
	static const char text[] =
		"abcabcabcabcabcabc some text that is not all the same";
	struct buf b = BUF_INIT(MAX);
	const uint8_t *p;
	struct gz_reader *g;
	struct err e;
	size_t i, n;
	bool plain;
	int how, r, padding = 0;

	(void)state;
	add_member(&b, text, sizeof(text));
	for (i = 10 * 8; i < b.len * 8; i++) {
		b.data[i / 8] ^= 1 << i % 8;
		for (how = FROM_FILE; how <= FROM_PIPE; how++) {
			g = open_as(how, b.data, b.len, MAX);
			r = gz_next(g, &p, &n, &plain, &e);
			if (r == 1) {
				assert_int_equal(n, sizeof(text));
				assert_memory_equal(p, text, n);
				padding++;
			} else if (r != -EBADMSG) {
				fail_msg("bit %zu: %d", i, r);
			}
			close_as(how, g);
		}
		b.data[i / 8] ^= 1 << i % 8;
	}
	assert_true(padding < 2 * 8);
	b.data[b.len - 5] ^= 1;
	for (how = FROM_FILE; how <= FROM_PIPE; how++) {
		g = open_as(how, b.data, b.len, MAX);
		expect_error(g, EBADMSG, "incorrect data check");
		close_as(how, g);
	}
	buf_release(&b);
}

static void test_trailing_garbage(void **state)
{
	static const char *const tails[] = {"x", "xy", "\x1f", "\x1f\x8c", "\n"};
	struct buf b = BUF_INIT(MAX);
	struct gz_reader *g;
	char want[64];
	size_t i, n;
	int how;

	(void)state;
	add_member(&b, "member", 6);
	n = b.len;
	snprintf(want, sizeof(want), "no gzip member at byte %zu", n);
	for (i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		b.len = n;
		buf_puts(&b, tails[i]);
		for (how = 0; how < N_HOWS; how++) {
			g = open_as(how, b.data, b.len, MAX);
			expect(g, "member", 6, 1);
			expect_error(g, EBADMSG, want);
			close_as(how, g);
		}
	}
	/* padding with zeros, as tapes have it, is no member either */
	b.len = n;
	buf_put(&b, "\0\0\0\0", 4);
	g = open_as(FROM_FILE, b.data, b.len, MAX);
	expect(g, "member", 6, 1);
	expect_error(g, EBADMSG, want);
	close_as(FROM_FILE, g);
	buf_release(&b);
}

static void test_plain(void **state)
{
	static const char *const texts[] = {"", "p", "plain text", "\x1f", "\x1fplain"};
	const uint8_t *p;
	struct gz_reader *g;
	size_t i, n;
	struct err e;
	bool plain;
	int how;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (how = 0; how < N_HOWS; how++) {
			g = open_as(how, texts[i], strlen(texts[i]), MAX);
			if (*texts[i]) {
				plain = false;
				assert_int_equal(gz_next(g, &p, &n, &plain, &e), 1);
				assert_true(plain);
				assert_int_equal(n, strlen(texts[i]));
				assert_memory_equal(p, texts[i], n);
			}
			expect_end(g);
			close_as(how, g);
		}
	}
	for (how = 0; how < N_HOWS; how++) {
		g = open_as(how, "0123456789", 10, 9);
		expect_error(g, E2BIG, "larger than 9 bytes");
		close_as(how, g);
		g = open_as(how, "0123456789", 10, 10);
		assert_int_equal(gz_next(g, &p, &n, &plain, &e), 1);
		close_as(how, g);
	}
}

static void test_maximum(void **state)
{
	static const size_t sizes[] = {1,    9,	    63,	    64,	    65,
				       1000, 65536, 262144, 262145, 999999};
	char *zeros = xcalloc(1, MAX);
	struct buf b = BUF_INIT(2 * MAX);
	struct gz_reader *g;
	size_t i;
	int how;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		b.len = 0;
		add_member(&b, zeros, sizes[i]);
		for (how = FROM_FILE; how <= FROM_PIPE; how++) {
			g = open_as(how, b.data, b.len, sizes[i]);
			expect(g, zeros, sizes[i], 1);
			expect_end(g);
			close_as(how, g);
			if (sizes[i] == 1)
				continue;
			g = open_as(how, b.data, b.len, sizes[i] - 1);
			expect_error(g, E2BIG, "(--max-size)");
			close_as(how, g);
		}
	}
	/* a member that lies about its size: a bomb stays within the maximum */
	b.len = 0;
	add_member(&b, zeros, MAX);
	memcpy(b.data + b.len - 4, "\1\0\0\0", 4);
	for (how = FROM_FILE; how <= FROM_PIPE; how++) {
		g = open_as(how, b.data, b.len, 4096);
		expect_error(g, E2BIG, "larger than 4096 bytes inflated (--max-size)");
		close_as(how, g);
		g = open_as(how, b.data, b.len, MAX);
		expect_error(g, EBADMSG, "incorrect length check");
		close_as(how, g);
	}
	buf_release(&b);
	free(zeros);
}

/* Many members must not make the buffer grow: each call asks for what is there already. */
static void test_memory_of_many_members(void **state)
{
	struct buf b = BUF_INIT(MAX);
	struct gz_reader *g;
	int i;

	(void)state;
	for (i = 0; i < 200; i++)
		add_member(&b, "some member", 11);
	/* were it to grow by half each time, it would want all of this address space */
	g = open_as(FROM_FILE, b.data, b.len, 1ull << 46);
	for (i = 0; i < 200; i++)
		expect(g, "some member", 11, i + 1);
	expect_end(g);
	close_as(FROM_FILE, g);
	buf_release(&b);
}

static void test_descriptors(void **state)
{
	const uint8_t *p;
	struct gz_reader *g;
	struct err e = {0};
	bool plain;
	size_t n;

	(void)state;
	g = gz_reader_new(open("/", O_RDONLY), MAX);
	assert_int_equal(gz_next(g, &p, &n, &plain, &e), -EISDIR);
	assert_string_equal(e.msg, "is a directory");
	gz_reader_free(g);
	g = gz_reader_new(open("/dev/null", O_WRONLY), MAX);
	assert_int_equal(gz_next(g, &p, &n, &plain, &e), -EBADF);
	gz_reader_free(g);
	/* says it has 0 bytes, and has some */
	g = gz_reader_new(open("/proc/self/status", O_RDONLY), MAX);
	assert_int_equal(gz_next(g, &p, &n, &plain, &e), 1);
	assert_true(plain);
	assert_memory_equal(p, "Name:", 5);
	assert_int_equal(p[n - 1], '\n');
	gz_reader_free(g);
	gz_reader_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_other_writers),
		cmocka_unit_test(test_what_we_write),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_trailing_garbage),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_maximum),
		cmocka_unit_test(test_memory_of_many_members),
		cmocka_unit_test(test_descriptors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
