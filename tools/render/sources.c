/* SPDX-License-Identifier: Apache-2.0 */
/* Reading source files. Their paths come from profiles and lead nowhere out of the directories. */
#include "tools/render/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"

#define SOURCE_BYTES_MAX ((size_t)16 << 20)
#define LINE_COLUMNS_MAX 500
#define TAB_COLUMNS 8

int sources_check(char *const *dirs, size_t n, struct err *e)
{
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		if (stat(dirs[i], &st))
			return err_set(e, errno, "--source: %s: %s", dirs[i],
				       strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return err_set(e, ENOTDIR, "--source: %s is no directory",
				       dirs[i]);
	}
	return 0;
}

/* What follows the last "..": no path climbs. */
static struct str below(struct str path)
{
	uint32_t i, from = 0;

	for (i = 0; i + 2 <= path.n; i++) {
		if (!memcmp(path.p + i, "..", 2) && (!i || path.p[i - 1] == '/') &&
		    (i + 2 == path.n || path.p[i + 2] == '/'))
			from = i + 2;
	}
	return (struct str){path.p + from, path.n - from};
}

static int open_file(const char *dir, struct str path)
{
	struct buf name = BUF_INIT(SIZE_MAX / 2);
	struct stat st;
	int fd;

	buf_puts(&name, dir);
	buf_putc(&name, '/');
	buf_put(&name, path.p, path.n);
	fd = open(buf_str(&name), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	buf_release(&name);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The longest end of the path that is there. */
static int find_file(char *const *dirs, size_t ndirs, struct str path)
{
	const char *slash;
	size_t i;
	int fd;

	if (memchr(path.p, 0, path.n))
		return -1;
	path = below(path);
	while (path.n) {
		for (i = 0; path.p[0] != '/' && i < ndirs; i++) {
			fd = open_file(dirs[i], path);
			if (fd >= 0)
				return fd;
		}
		slash = memchr(path.p, '/', path.n);
		if (!slash)
			break;
		path.n -= (uint32_t)(slash + 1 - path.p);
		path.p = slash + 1;
	}
	return -1;
}

static int read_all(struct buf *b, int fd)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_put(b, chunk, (size_t)n);
	return n || b->overflow ? -1 : 0;
}

static void find_lines(struct source_file *f)
{
	size_t cap = 0, at = 0;
	const char *end;

	while (at < f->text.len) {
		XRESERVE(f->start, cap, f->n + 2);
		f->start[f->n++] = at;
		end = memchr(f->text.data + at, '\n', f->text.len - at);
		at = end ? (size_t)(end - (const char *)f->text.data) + 1 : f->text.len;
	}
	if (f->n)
		f->start[f->n] = f->text.len;
}

int source_file_read(struct source_file *f, char *const *dirs, size_t ndirs,
		     struct str path)
{
	int fd, r;

	*f = (struct source_file){.text = BUF_INIT(SOURCE_BYTES_MAX)};
	fd = find_file(dirs, ndirs, path);
	if (fd < 0)
		return -1;
	r = read_all(&f->text, fd);
	close(fd);
	if (!r)
		find_lines(f);
	return r;
}

void source_file_release(struct source_file *f)
{
	buf_release(&f->text);
	free(f->start);
}

void source_file_line(const struct source_file *f, int64_t number, struct buf *out)
{
	struct buf plain = BUF_INIT(SIZE_MAX / 2);
	size_t i, end, columns;

	if (number < 1 || (uint64_t)number > f->n)
		return;
	end = f->start[number];
	for (i = f->start[number - 1]; i < end && plain.len < LINE_COLUMNS_MAX; i++) {
		if (f->text.data[i] == '\n' || f->text.data[i] == '\r')
			continue;
		columns = TAB_COLUMNS - plain.len % TAB_COLUMNS;
		if (f->text.data[i] == '\t')
			buf_put(&plain, "        ", columns);
		else
			buf_putc(&plain, f->text.data[i]);
	}
	escape_terminal(out, buf_str(&plain), plain.len);
	buf_release(&plain);
}
