/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/symcache.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/output.h"

#define SUFFIX ".idx"
#define IN_VAIN_SUFFIX ".none"
#define IN_VAIN_S 3600 /* that such a note holds */

static char *path_of(const char *dir, const struct symindex_key *key, const char *prefix,
		     const char *suffix)
{
	char hex[2 * BUILD_ID_MAX + 1];
	size_t i;

	for (i = 0; i < key->build_id_n; i++)
		snprintf(hex + 2 * i, 3, "%02x", key->build_id[i]);
	return xasprintf("%s/%.2s/%s%s%s", dir, hex, prefix, hex + 2, suffix);
}

int symcache_load(const char *dir, const struct symindex_key *key, bool whole,
		  struct symindex **out, struct err *e)
{
	char *path = path_of(dir, key, "", SUFFIX);
	struct symindex_key have;
	int r = symindex_read(path, out, e);

	if (!r) {
		have = symindex_key(*out);
		if (have.build_id_n != key->build_id_n ||
		    memcmp(have.build_id, key->build_id, have.build_id_n) != 0)
			r = err_set(e, EBADMSG, "index of another build");
		else if (whole && !symindex_is_whole(*out))
			r = err_set(e, EBADMSG, "damaged index");
		else
			utimensat(AT_FDCWD, path, NULL, 0);
		if (r)
			symindex_free(*out);
	}
	if (r)
		err_prefix(e, "%s", path);
	free(path);
	return r;
}

static int make_dirs(char *path, struct err *e)
{
	char *slash = strrchr(path, '/'), *dir = xstrndup(path, slash - path);
	char *up = strrchr(dir, '/');
	int r = 0;

	*up = 0;
	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		r = err_set(e, errno, "%s: %s", dir, strerror(errno));
	*up = '/';
	if (!r && mkdir(dir, 0777) < 0 && errno != EEXIST)
		r = err_set(e, errno, "%s: %s", dir, strerror(errno));
	free(dir);
	return r;
}

int symcache_store(const char *dir, const struct symindex_key *key, const void *p,
		   size_t n, struct err *e)
{
	char *path = path_of(dir, key, "", SUFFIX);
	struct output *out = NULL;
	int r = make_dirs(path, e);
	struct stat st;

	/* a FIFO or device would be written to as it is */
	if (!r && !lstat(path, &st) && !S_ISREG(st.st_mode))
		r = err_set(e, EEXIST, "%s: not a file", path);
	if (!r)
		r = output_open(path, false, &out, e);
	if (!r)
		r = output_write(out, p, n, e);
	if (!r)
		r = output_commit(out, e);
	else
		output_abort(out);
	/* to callers that is an index of more than memory may hold, for which nothing can be done */
	if (r == -EFBIG)
		r = -(e->code = ENOSPC);
	free(path);
	return r;
}

int symcache_lock(const char *dir, const struct symindex_key *key, bool wait, int *fd,
		  struct err *e)
{
	char *path = path_of(dir, key, ".", ".lock");
	int r = make_dirs(path, e);

	*fd = -1;
	if (!r) {
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			   0666);
		if (*fd < 0)
			r = err_set(e, errno, "%s: %s", path, strerror(errno));
	}
	while (!r && flock(*fd, LOCK_EX | (wait ? 0 : LOCK_NB)) < 0)
		if (errno != EINTR)
			r = err_set(e, errno, "%s: %s", path, strerror(errno));
	if (r && *fd >= 0)
		close(*fd);
	free(path);
	return r;
}

/*
 * Who waits for the file that goes here gets a lock on nothing, and may make an index at the same
 * time as who comes next: more work, no harm.
 */
void symcache_unlock(const char *dir, const struct symindex_key *key, int fd)
{
	char *path = path_of(dir, key, ".", ".lock");

	unlink(path);
	close(fd);
	free(path);
}

bool symcache_is_in_vain(const char *dir, const struct symindex_key *key)
{
	char *path = path_of(dir, key, "", IN_VAIN_SUFFIX);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t files = 0;
	struct stat st;
	time_t now = time(NULL);
	bool yes;

	free(path);
	if (fd < 0)
		return false;
	yes = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mtime <= now &&
	      st.st_mtime > now - IN_VAIN_S &&
	      read(fd, &files, sizeof(files)) == sizeof(files) &&
	      le64toh(files) == key->files;
	close(fd);
	return yes;
}

void symcache_set_in_vain(const char *dir, const struct symindex_key *key)
{
	char *path = path_of(dir, key, "", IN_VAIN_SUFFIX);
	uint64_t files = htole64(key->files);
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd >= 0 && write(fd, &files, sizeof(files)) != sizeof(files))
		unlink(path);
	if (fd >= 0)
		close(fd);
	free(path);
}

struct cached {
	char *path;
	uint64_t size;
	struct timespec used;
};

struct cached_list {
	struct cached *v;
	size_t n, cap;
	uint64_t bytes;
};

static bool ends_in(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

static void list_dir(const char *dir, struct cached_list *l)
{
	DIR *d = opendir(dir);
	struct dirent *en;
	struct stat st;

	while (d && (en = readdir(d))) {
		if ((!ends_in(en->d_name, SUFFIX) &&
		     !ends_in(en->d_name, IN_VAIN_SUFFIX)) ||
		    fstatat(dirfd(d), en->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		XGROW(l->v, l->n, l->cap);
		l->v[l->n++] = (struct cached){xasprintf("%s/%s", dir, en->d_name),
					       st.st_size, st.st_mtim};
		l->bytes += st.st_size;
	}
	if (d)
		closedir(d);
}

static int used_cmp(const void *a, const void *b)
{
	const struct cached *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->path, y->path);
}

void symcache_trim(const char *dir, uint64_t max)
{
	struct cached_list l = {0};
	unsigned i;
	size_t k;

	for (i = 0; i < 256; i++) {
		char *sub = xasprintf("%s/%02x", dir, i);

		list_dir(sub, &l);
		free(sub);
	}
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), used_cmp);
	for (k = 0; k < l.n; k++) {
		/* another process may have been quicker */
		if (l.bytes > max && (!unlink(l.v[k].path) || errno == ENOENT))
			l.bytes -= l.v[k].size;
		free(l.v[k].path);
	}
	free(l.v);
}
