/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables kept in a directory. */
#include "tools/capture/tablecache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/tabler.h"

#define MAGIC "unwind2\n" /* another layout, or other rules for rows: another number */
#define SUFFIX ".unwind"

struct tablecache {
	int dir;
	uint64_t bytes, max_bytes;
};

struct header {
	char magic[8];
	uint32_t nrows, nsegments;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	uint64_t id_n;
	uint8_t id[BUILD_ID_MAX];
	uint64_t sum; /* of the rows, begun with that of the header up to here */
};

/* FNV-1a by words of 8 bytes: finds damage, not forgery. */
static uint64_t sum_words(uint64_t sum, const void *p, size_t size)
{
	uint64_t word;
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		memcpy(&word, (const char *)p + i, 8);
		sum = (sum ^ word) * UINT64_C(0x100000001b3);
		sum ^= sum >> 29;
	}
	return sum;
}

static uint64_t sum_header(const struct header *h)
{
	return sum_words(UINT64_C(0xcbf29ce484222325), h, offsetof(struct header, sum));
}

static bool is_ours(const char *name)
{
	size_t n = strlen(name), suffix = sizeof(SUFFIX) - 1;

	return n > suffix && !strcmp(name + n - suffix, SUFFIX);
}

/* --- size ---------------------------------------------------------------------------------- */

struct entry {
	char *name;
	struct timespec used;
	uint64_t bytes;
};

static int cmp_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

/* Look how much there is; above the limit, down to three quarters of it by what was used last. */
static void measure(struct tablecache *c)
{
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct entry *all = NULL;
	size_t n = 0, cap = 0, i;
	struct dirent *d;
	struct stat st;
	uint64_t keep;

	c->bytes = 0;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir))) {
		if (!is_ours(d->d_name) ||
		    fstatat(c->dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		XGROW(all, n, cap);
		all[n++] = (struct entry){xstrdup(d->d_name), st.st_mtim, st.st_size};
		c->bytes += st.st_size;
	}
	closedir(dir);
	if (n)
		qsort(all, n, sizeof(*all), cmp_entries);
	keep = c->bytes > c->max_bytes ? c->max_bytes / 4 * 3 : c->bytes;
	for (i = 0; c->bytes > keep && i < n; i++) {
		if (!unlinkat(c->dir, all[i].name, 0))
			c->bytes -= all[i].bytes;
	}
	for (i = 0; i < n; i++)
		free(all[i].name);
	free(all);
}

int tablecache_new(const char *dir, uint64_t max_bytes, struct tablecache **out,
		   struct err *e)
{
	struct tablecache *c;
	int fd;

	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_errno(e, errno, "--cache: %s", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, errno, "--cache: %s", dir);
	c = xcalloc(1, sizeof(*c));
	c->dir = fd;
	c->max_bytes = max_bytes;
	measure(c);
	*out = c;
	return 0;
}

bool tablecache_is_writable(const struct tablecache *c)
{
	return faccessat(c->dir, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

void tablecache_free(struct tablecache *c)
{
	if (!c)
		return;
	close(c->dir);
	free(c);
}

/* --- reading ------------------------------------------------------------------------------- */

static void name_of(const struct build_id *id, char *name, size_t size)
{
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_hex(id, hex);
	snprintf(name, size, "%s" SUFFIX, hex);
}

static bool is_sound_header(const struct header *h, const struct build_id *id, off_t size)
{
	return !memcmp(h->magic, MAGIC, sizeof(h->magic)) && h->nrows &&
	       h->nrows <= TABLER_ROWS_MAX && h->nsegments <= UNWIND_SEGMENTS_MAX &&
	       h->id_n == id->n && !memcmp(h->id, id->data, id->n) &&
	       size == (off_t)(sizeof(*h) +
			       (uint64_t)h->nrows * sizeof(struct unwind_row));
}

bool tablecache_open(struct tablecache *c, const struct build_id *id,
		     struct cached_table *out)
{
	char name[2 * BUILD_ID_MAX + sizeof(SUFFIX)];
	struct header h;
	struct stat st;
	int fd;

	name_of(id, name, sizeof(name));
	fd = openat(c->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
	    !is_sound_header(&h, id, st.st_size)) {
		close(fd);
		return false;
	}
	*out = (struct cached_table){
		.fd = fd,
		.nrows = h.nrows,
		.nsegments = h.nsegments,
		.want = h.sum,
		.sum = sum_header(&h),
	};
	memcpy(out->segments, h.segments, sizeof(out->segments));
	return true;
}

bool tablecache_read(struct cached_table *t, struct unwind_row *rows)
{
	size_t size = t->nrows * sizeof(*rows), got = 0;
	uint32_t i;
	ssize_t r;

	for (; got < size; got += r) {
		r = pread(t->fd, (char *)rows + got, size - got,
			  (off_t)(sizeof(struct header) + got));
		if (r <= 0)
			return false;
	}
	for (i = 1; i < t->nrows; i++) {
		if (rows[i].pc <= rows[i - 1].pc)
			return false;
	}
	return sum_words(t->sum, rows, size) == t->want;
}

void tablecache_close(struct cached_table *t)
{
	futimens(t->fd, NULL); /* used: it goes last */
	close(t->fd);
}

/* --- writing ------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *p, size_t size)
{
	size_t done = 0;
	ssize_t r;

	for (; done < size; done += r) {
		r = write(fd, (const char *)p + done, size - done);
		if (r <= 0)
			return false;
	}
	return true;
}

static bool write_table(int fd, const struct build_id *id, const struct unwind_table *t)
{
	struct header h = {.nrows = t->nrows, .nsegments = t->nsegments, .id_n = id->n};

	memcpy(h.magic, MAGIC, sizeof(h.magic));
	memcpy(h.segments, t->segments, sizeof(h.segments));
	memcpy(h.id, id->data, id->n);
	h.sum = sum_words(sum_header(&h), t->rows, t->nrows * sizeof(*t->rows));
	return write_all(fd, &h, sizeof(h)) &&
	       write_all(fd, t->rows, t->nrows * sizeof(*t->rows));
}

void tablecache_put(struct tablecache *c, const struct build_id *id,
		    const struct unwind_table *t)
{
	char name[2 * BUILD_ID_MAX + sizeof(SUFFIX)], new[64];
	uint64_t size = sizeof(struct header) + t->nrows * sizeof(*t->rows);
	bool good;
	int fd;

	if (size > c->max_bytes)
		return;
	/* one that was killed leaves a file behind, which grows old as others do */
	snprintf(new, sizeof(new), ".%d-%" PRIu64 ".new" SUFFIX, (int)getpid(),
		 monotonic_ns());
	fd = openat(c->dir, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return;
	good = write_table(fd, id, t);
	if (close(fd) < 0)
		good = false;
	name_of(id, name, sizeof(name));
	if (!good || renameat(c->dir, new, c->dir, name) < 0) {
		unlinkat(c->dir, new, 0);
		return;
	}
	c->bytes += size;
	if (c->bytes > c->max_bytes)
		measure(c);
}
