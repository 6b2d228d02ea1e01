/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/io/gz.h"
#include "lib/pprof/sniff.h"
#include "lib/pprof/text.h"

#define STORE_MARK ".profpipe-store"
#define DEPTH_MAX 64

struct source {
	char **operands; /* as given; directories are expanded when they are reached */
	size_t noperands, next_operand;
	char **files; /* of the operand at hand, a stack in reverse order */
	size_t nfiles, files_cap;
	uint64_t max_size;
	char *path; /* of the open file */
	struct gz_reader *gz;
	struct text_reader text;
	bool in_text;
	size_t text_no;
	struct buf msg; /* of a text profile */
	char *name;
	size_t count;
	bool ended;
};

struct source *source_new(char *const *files, size_t n, uint64_t max_size)
{
	struct source *s = xcalloc(1, sizeof(*s));
	size_t i;

	s->max_size = max_size ? max_size : SOURCE_MAX_SIZE_DEFAULT;
	s->noperands = n ? n : 1;
	s->operands = xcalloc(s->noperands, sizeof(*s->operands));
	for (i = 0; i < n; i++)
		s->operands[i] = xstrdup(files[i]);
	if (!n)
		s->operands[0] = xstrdup("-");
	buf_init(&s->msg, s->max_size);
	s->name = xstrdup("");
	return s;
}

static void close_file(struct source *s)
{
	gz_reader_free(s->gz);
	s->gz = NULL;
	s->in_text = false;
}

void source_free(struct source *s)
{
	size_t i;

	if (!s)
		return;
	close_file(s);
	for (i = 0; i < s->noperands; i++)
		free(s->operands[i]);
	for (i = 0; i < s->nfiles; i++)
		free(s->files[i]);
	free(s->operands);
	free(s->files);
	free(s->path);
	free(s->name);
	buf_release(&s->msg);
	free(s);
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n > k && !strcmp(s + n - k, suffix);
}

static void push_file(struct source *s, char *path)
{
	XGROW(s->files, s->nfiles, s->files_cap);
	s->files[s->nfiles++] = path;
}

/* All *.pb.gz below dir, in any order. Hidden names are somebody's unfinished work. */
static int walk(struct source *s, const char *dir, int depth, struct err *e)
{
	struct dirent *d;
	struct stat st;
	char *path;
	int r = 0;
	DIR *h;

	if (depth == DEPTH_MAX)
		return err_set(e, ELOOP, "%s: directories nested too deeply", dir);
	h = opendir(dir);
	if (!h)
		return err_errno(e, errno, "%s", dir);
	errno = 0;
	while (!r && (d = readdir(h))) {
		if (!strcmp(d->d_name, STORE_MARK))
			r = err_set(e, EINVAL,
				    "%s: a profile store, whose levels overlap: use "
				    "prof-spool query",
				    dir);
		if (d->d_name[0] == '.')
			continue;
		path = xasprintf("%s%s%s", dir, has_suffix(dir, "/") ? "" : "/",
				 d->d_name);
		/* links to directories are not followed: they may lead round */
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
			r = walk(s, path, depth + 1, e);
		} else if (has_suffix(path, ".pb.gz") && stat(path, &st) == 0 &&
			   S_ISREG(st.st_mode)) {
			push_file(s, path);
			path = NULL;
		}
		free(path);
		errno = 0;
	}
	if (!r && errno)
		r = err_errno(e, errno, "%s", dir);
	closedir(h);
	return r;
}

/* Backwards, since files are taken from the end. */
static int cmp_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Put the operand's files on the stack. */
static int expand(struct source *s, const char *operand, struct err *e)
{
	struct stat st;
	int r;

	if (!strcmp(operand, "-") || stat(operand, &st) < 0 || !S_ISDIR(st.st_mode)) {
		push_file(s, xstrdup(operand));
		return 0;
	}
	r = walk(s, operand, 0, e);
	if (r < 0) {
		while (s->nfiles)
			free(s->files[--s->nfiles]);
		return r;
	}
	if (s->nfiles)
		qsort(s->files, s->nfiles, sizeof(*s->files), cmp_path);
	return 0;
}

/* Open the next file: 1, 0 when there is none, negative on error. */
static int open_next(struct source *s, struct err *e)
{
	int fd, r;

	while (!s->nfiles) {
		if (s->next_operand == s->noperands)
			return 0;
		r = expand(s, s->operands[s->next_operand++], e);
		if (r < 0)
			return r;
	}
	free(s->path);
	s->path = s->files[--s->nfiles];
	if (!strcmp(s->path, "-")) {
		fd = dup(STDIN_FILENO);
		free(s->path);
		s->path = xstrdup("standard input");
	} else {
		fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0)
		return err_errno(e, errno, "%s", s->path);
	s->gz = gz_reader_new(fd, s->max_size);
	return 1;
}

static void set_name(struct source *s, const char *part, size_t no)
{
	free(s->name);
	s->name = no > 1 ? xasprintf("%s: %s %zu", s->path, part, no) : xstrdup(s->path);
}

static int next_in_text(struct source *s, const uint8_t **msg, size_t *n, struct err *e)
{
	int r;

	r = text_next(&s->text, &s->msg, e);
	if (r == 0) {
		s->in_text = false;
		return 0;
	}
	set_name(s, "profile", ++s->text_no);
	if (r < 0)
		return err_prefix(e, "%s", s->path);
	*msg = s->msg.data;
	*n = s->msg.len;
	return 1;
}

/* The next message of the open file: 1, 0 at its end, negative on error. */
static int next_in_file(struct source *s, const uint8_t **msg, size_t *n, struct err *e)
{
	const char *foreign;
	const uint8_t *p;
	bool plain;
	size_t len;
	int r;

	for (;;) {
		if (s->in_text) {
			r = next_in_text(s, msg, n, e);
			if (r)
				return r;
		}
		r = gz_next(s->gz, &p, &len, &plain, e);
		if (r == 0)
			return 0;
		set_name(s, "member", gz_member(s->gz));
		if (r < 0)
			return err_prefix(e, "%s", s->name);
		if (!len)
			continue;
		if (text_sniff(p, len)) {
			text_open(&s->text, p, len);
			s->in_text = true;
			s->text_no = 0;
			continue;
		}
		foreign = sniff_foreign(p, len);
		if (foreign)
			return err_set(e, EBADMSG, "%s: %s", s->name, foreign);
		*msg = p;
		*n = len;
		return 1;
	}
}

int source_next(struct source *s, const uint8_t **msg, size_t *n, struct err *e)
{
	int r;

	for (;;) {
		if (!s->gz) {
			r = open_next(s, e);
			if (r < 0)
				return r;
			if (r == 0)
				break;
		}
		r = next_in_file(s, msg, n, e);
		if (r > 0)
			s->count++;
		if (r)
			return r;
		close_file(s);
	}
	if (!s->count && !s->ended) {
		s->ended = true;
		return err_set(e, ENODATA, "no profile in input");
	}
	return 0;
}

const char *source_name(const struct source *s)
{
	return s->name;
}

size_t source_count(const struct source *s)
{
	return s->count;
}
