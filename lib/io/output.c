/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"

#define BUFFER (64 * 1024)
#define NAME_TRIES 100
#define LINKS_MAX 40

struct output {
	int fd;
	bool is_stdout;
	char *given; /* the name in messages; NULL: standard output */
	char *path;  /* where it goes, links followed; NULL: written in place */
	char *tmp;   /* what is renamed over it; NULL while the file has no name */
	char *buf;
	size_t len;
	uint64_t unflushed; /* bytes written since the last good flush */
};

/* The file a path means, its last component's links followed; it need not exist. */
static int follow_links(const char *path, char **out, struct err *e)
{
	char target[PATH_MAX], *cur = xstrdup(path), *next;
	const char *slash;
	ssize_t n;
	int i;

	for (i = 0; i < LINKS_MAX; i++) {
		n = readlink(cur, target, sizeof(target) - 1);
		if (n < 0) {
			*out = cur;
			return 0;
		}
		target[n] = 0;
		slash = strrchr(cur, '/');
		if (target[0] == '/' || !slash)
			next = xstrdup(target);
		else
			next = xasprintf("%.*s/%s", (int)(slash - cur), cur, target);
		free(cur);
		cur = next;
	}
	free(cur);
	return err_errno(e, ELOOP, "%s", path);
}

/* What rename() would say in the end is said at once. */
static int check_target(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(e, errno, "%s", path);
	return S_ISDIR(st.st_mode) ? err_errno(e, EISDIR, "%s", path) : 0;
}

/* A name beside o->path that no glob of profiles finds. */
static char *hidden_name(const struct output *o, int attempt)
{
	const char *slash = strrchr(o->path, '/');
	const char *base = slash ? slash + 1 : o->path;
	int dir = slash ? (int)(slash + 1 - o->path) : 0;

	return xasprintf("%.*s.%.200s.%ld-%d", dir, o->path, base, (long)getpid(),
			 attempt);
}

/* In the directory of o->path, without a name: nothing is left of it, however we end. */
static int open_nameless(struct output *o)
{
	const char *slash = strrchr(o->path, '/');
	char *dir = slash ? xstrndup(o->path, slash + 1 - o->path) : xstrdup(".");

	/* it gets its name by way of /proc; not every file system can do this at all */
	o->fd = access("/proc/self/fd", X_OK) < 0
			? -1
			: open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	free(dir);
	return o->fd < 0 ? -1 : 0;
}

static int open_hidden(struct output *o, struct err *e)
{
	int i;

	for (i = 0; i < NAME_TRIES; i++) {
		o->tmp = hidden_name(o, i);
		o->fd = open(o->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (o->fd >= 0)
			return 0;
		free(o->tmp);
		o->tmp = NULL;
		if (errno != EEXIST)
			break;
	}
	return err_errno(e, errno, "%s", o->path);
}

/* Give a nameless file the hidden name that rename() starts from. */
static int name_it(struct output *o, struct err *e)
{
	char self[64];
	int i;

	if (o->tmp)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	for (i = 0; i < NAME_TRIES; i++) {
		o->tmp = hidden_name(o, i);
		if (linkat(AT_FDCWD, self, AT_FDCWD, o->tmp, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		free(o->tmp);
		o->tmp = NULL;
		if (errno != EEXIST)
			break;
	}
	return err_errno(e, errno, "cannot write %s", o->path);
}

static int open_temporary(struct output *o, struct err *e)
{
	struct stat st;
	int r = open_nameless(o) < 0 ? open_hidden(o, e) : 0;

	if (r < 0)
		return r;
	/* an existing file keeps its mode */
	if (stat(o->path, &st) == 0 && fchmod(o->fd, st.st_mode & 07777) < 0)
		return err_errno(e, errno, "%s", o->path);
	return 0;
}

/* The descriptor that a path names, or -1. */
static int named_descriptor(const char *path)
{
	static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t fd;
	size_t i, n;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		n = strlen(dirs[i]);
		if (!strncmp(path, dirs[i], n) && !num_parse_u64(path + n, &fd) &&
		    fd <= INT_MAX)
			return fd;
	}
	return -1;
}

static bool written_in_place(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Opening by such a name would lose the place in the file, and O_APPEND. */
static int duplicate(int fd)
{
	int mode = fcntl(fd, F_GETFL);

	if (mode >= 0 && (mode & O_ACCMODE) == O_RDONLY) {
		errno = EBADF;
		return -1;
	}
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int output_open(const char *path, bool binary, struct output **out, struct err *e)
{
	struct output *o = xcalloc(1, sizeof(*o));
	int fd = path ? named_descriptor(path) : -1, r = 0;
	struct stat st;

	o->buf = xmalloc(BUFFER);
	o->given = path ? xstrdup(path) : NULL;
	o->fd = -1;
	if (!path || !strcmp(path, "-")) {
		o->fd = STDOUT_FILENO;
		o->is_stdout = true;
		if (fstat(o->fd, &st) < 0)
			r = err_errno(e, errno, "standard output");
	} else if (fd >= 0) {
		o->fd = duplicate(fd);
		if (o->fd < 0)
			r = err_errno(e, errno, "%s", path);
	} else if (written_in_place(path)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (o->fd < 0)
			r = err_errno(e, errno, "%s", path);
	} else if (!*path) {
		r = err_errno(e, ENOENT, "name of the output is empty");
	} else {
		r = follow_links(path, &o->path, e);
		if (!r)
			r = check_target(o->path, e);
		if (!r)
			r = open_temporary(o, e);
	}
	if (!r && binary && isatty(o->fd))
		r = err_set(
			e, EINVAL,
			"will not write a binary profile to a terminal: use -o FILE or a "
			"pipe: | prof-symbolize | prof-render");
	if (r < 0) {
		output_abort(o);
		return r;
	}
	*out = o;
	return 0;
}

static const char *output_name(const struct output *o)
{
	return o->is_stdout ? "standard output" : o->path ? o->path : o->given;
}

static int write_all(struct output *o, const char *p, size_t n, struct err *e)
{
	ssize_t w;

	while (n) {
		w = write(o->fd, p, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return err_errno(e, errno, "cannot write %s", output_name(o));
		p += w;
		n -= w;
		o->unflushed += w;
	}
	return 0;
}

int output_flush(struct output *o, struct err *e)
{
	size_t n = o->len;
	int r;

	o->len = 0;
	r = write_all(o, o->buf, n, e);
	if (!r)
		o->unflushed = 0;
	return r;
}

bool output_undo(struct output *o)
{
	struct stat st;
	off_t start;

	o->len = 0;
	if (!o->unflushed)
		return true;
	/* others may have appended to it */
	if (fstat(o->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    lseek(o->fd, 0, SEEK_CUR) != st.st_size)
		return false;
	start = st.st_size - (off_t)o->unflushed;
	if (ftruncate(o->fd, start) < 0 || lseek(o->fd, start, SEEK_SET) < 0)
		return false;
	o->unflushed = 0;
	return true;
}

int output_write(struct output *o, const void *p, size_t n, struct err *e)
{
	int r;

	/* of nothing there may be no address either */
	if (!n)
		return 0;
	if (n > BUFFER - o->len) {
		r = output_flush(o, e);
		if (r < 0)
			return r;
		if (n >= BUFFER)
			return write_all(o, p, n, e);
	}
	memcpy(o->buf + o->len, p, n);
	o->len += n;
	return 0;
}

/* The name is on disk only when the directory is. Not every file system can; that is fine. */
static void sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? xstrndup(path, slash + 1 - path) : xstrdup(".");
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(dir);
}

int output_commit(struct output *o, struct err *e)
{
	int r;

	if (!o)
		return 0;
	r = output_flush(o, e);
	if (r < 0)
		goto out;
	if (o->path) {
		r = fsync(o->fd) < 0 ? err_errno(e, errno, "cannot write %s", o->path)
				     : name_it(o, e);
		if (r < 0)
			goto out;
	}
	if (!o->is_stdout) {
		r = close(o->fd) < 0
			    ? err_errno(e, errno, "cannot write %s", output_name(o))
			    : 0;
		o->fd = -1;
		if (r < 0)
			goto out;
	}
	if (o->path) {
		if (rename(o->tmp, o->path) < 0) {
			r = err_errno(e, errno, "cannot rename to %s", o->path);
			goto out;
		}
		free(o->tmp);
		o->tmp = NULL;
		sync_directory(o->path);
	}
out:
	output_abort(o);
	return r;
}

void output_abort(struct output *o)
{
	if (!o)
		return;
	if (o->fd >= 0 && !o->is_stdout)
		close(o->fd);
	if (o->tmp)
		unlink(o->tmp);
	free(o->tmp);
	free(o->given);
	free(o->path);
	free(o->buf);
	free(o);
}
