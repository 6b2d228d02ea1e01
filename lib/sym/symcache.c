/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/symcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/output.h"

#define SUFFIX ".idx"

static char *path_of(const char *dir, const struct symindex_key *key)
{
	char hex[2 * BUILD_ID_MAX + 1];
	size_t i;

	for (i = 0; i < key->build_id_n; i++)
		snprintf(hex + 2 * i, 3, "%02x", key->build_id[i]);
	return xasprintf("%s/%.2s/%s%s", dir, hex, hex + 2, SUFFIX);
}

int symcache_load(const char *dir, const struct symindex_key *key, struct symindex **out,
		  struct err *e)
{
	char *path = path_of(dir, key);
	struct symindex_key have;
	int r = symindex_read(path, out, e);

	if (!r) {
		have = symindex_key(*out);
		if (have.build_id_n != key->build_id_n ||
		    memcmp(have.build_id, key->build_id, have.build_id_n) != 0) {
			symindex_free(*out);
			r = err_set(e, EBADMSG, "index of another build");
		} else {
			utimensat(AT_FDCWD, path, NULL, 0);
		}
	}
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
	char *path = path_of(dir, key);
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
	free(path);
	return r;
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

static void list_dir(const char *dir, struct cached_list *l)
{
	DIR *d = opendir(dir);
	struct dirent *en;
	struct stat st;
	size_t n, suffix = strlen(SUFFIX);

	while (d && (en = readdir(d))) {
		n = strlen(en->d_name);
		if (n <= suffix || strcmp(en->d_name + n - suffix, SUFFIX) != 0 ||
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
		if (l.bytes > max && !unlink(l.v[k].path))
			l.bytes -= l.v[k].size;
		free(l.v[k].path);
	}
	free(l.v);
}
