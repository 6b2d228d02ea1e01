/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: gzip members from a file (libdeflate) and from a pipe (zlib). Both give the same
 * members, and an error after the same one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/io/gz.h"

/* Small, so that large outputs are tried too; an input fits into a pipe. */
#define MEMBER_MAX 100000
#define MEMBERS_MAX 100
#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int put(int fd, const uint8_t *data, size_t n)
{
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	return fd;
}

/* All members, each behind its length, and what ended them. */
static void read_all(int fd, struct buf *out)
{
	struct gz_reader *g = gz_reader_new(fd, MEMBER_MAX);
	struct err e = {0};
	const uint8_t *p;
	bool plain;
	size_t n;
	int r, i;

	for (i = 0; i < MEMBERS_MAX; i++) {
		r = gz_next(g, &p, &n, &plain, &e);
		if (r <= 0)
			break;
		if (n > MEMBER_MAX)
			abort();
		buf_printf(out, "%d %zu:", plain, n);
		buf_put(out, p, n);
	}
	if (r < 0 && (!*e.msg || !e.code))
		abort();
	buf_printf(out, "member %zu: %s", gz_member(g), r < 0 ? "error" : "end");
	gz_reader_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf a = BUF_INIT(MEMBERS_MAX * (MEMBER_MAX + 40)), b = a;
	int fds[2];

	if (n > INPUT_MAX)
		return 0;
	fds[0] = put(memfd_create("fuzz", MFD_CLOEXEC), data, n);
	lseek(fds[0], 0, SEEK_SET);
	read_all(fds[0], &a);
	if (pipe(fds) < 0)
		abort();
	close(put(fds[1], data, n));
	read_all(fds[0], &b);
	if (a.len != b.len || memcmp(a.data, b.data, a.len))
		abort();
	buf_release(&a);
	buf_release(&b);
	return 0;
}
