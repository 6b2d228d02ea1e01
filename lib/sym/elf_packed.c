/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files that are packed whole: within another one, or on their own, as kernel modules are.
 * They are unpacked into a file in memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/io/unpack.h"
#include "lib/sym/elf_internal.h"

#define DEBUGDATA_MAX                                                                    \
	(256u << 20) /* bytes, unpacked; those of Fedora have some hundred KB */

static int memory_file(const uint8_t *p, size_t n, struct err *e)
{
	int fd = memfd_create("unpacked", MFD_CLOEXEC);
	ssize_t put;

	if (fd < 0)
		return err_errno(e, errno, "memfd_create");
	for (; n; p += put, n -= put) {
		put = write(fd, p, n);
		if (put < 0) {
			err_errno(e, errno, "write");
			close(fd);
			return -e->code;
		}
	}
	return fd;
}

int elf_open_debugdata(struct elf_file *f, struct elf_file **out, struct err *e)
{
	struct buf b;
	const uint8_t *p;
	size_t n;
	int r = elf_data(f, elf_section(f, ".gnu_debugdata"), &p, &n, e);

	if (!r && !n)
		return err_set(e, ENODATA, "no .gnu_debugdata");
	buf_init(&b, elf_room(f) < DEBUGDATA_MAX ? elf_room(f) : DEBUGDATA_MAX);
	if (!r)
		r = unpack_xz(p, n, &b, e);
	if (!r)
		r = memory_file(b.data, b.len, e);
	buf_release(&b);
	if (r >= 0)
		r = elf_open_fd(r, out, e);
	if (r < 0)
		err_prefix(e, ".gnu_debugdata");
	return r;
}

bool elf_is_packed(int fd)
{
	char start[UNPACK_START];

	return pread(fd, start, sizeof(start), 0) == sizeof(start) &&
	       unpack_knows(start, sizeof(start));
}

int elf_unpack(int fd, uint64_t size, uint64_t max, struct err *e)
{
	struct elf_file f = {.fd = fd, .size = size};
	struct buf in, out;
	int r;

	buf_init(&in, max);
	buf_init(&out, max);
	if (size > max || buf_reserve(&in, size))
		r = err_set(e, EFBIG, "%llu bytes, packed, are over the limit",
			    (unsigned long long)size);
	else
		r = elf_read_at(&f, in.data, size, 0, e);
	if (!r)
		r = unpack_file(in.data, size, &out, e);
	if (!r)
		r = memory_file(out.data, out.len, e);
	buf_release(&in);
	buf_release(&out);
	return r;
}
