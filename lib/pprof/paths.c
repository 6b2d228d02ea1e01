/* SPDX-License-Identifier: Apache-2.0 */
/* Operands to files. */
#include "lib/pprof/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/xalloc.h"

#define STORE_MARK ".profpipe-store"
#define DEPTH_MAX 64

struct paths {
	char **operands;
	size_t noperands, next_operand;
	FILE *names; /* or operands from here; NULL: none, or all read */
	char *names_name, *name;
	size_t name_cap;
	char **files; /* of the operand at hand, a stack in reverse order */
	size_t nfiles, files_cap;
};

struct paths *paths_new(char *const *operands, size_t n)
{
	struct paths *p = xcalloc(1, sizeof(*p));
	size_t i;

	p->noperands = n;
	p->operands = xcalloc(n + 1, sizeof(*p->operands));
	for (i = 0; i < n; i++)
		p->operands[i] = xstrdup(operands[i]);
	return p;
}

struct paths *paths_new_names0(FILE *f, const char *name)
{
	struct paths *p = paths_new(NULL, 0);

	p->names = f;
	p->names_name = xstrdup(name);
	return p;
}

void paths_free(struct paths *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->noperands; i++)
		free(p->operands[i]);
	for (i = 0; i < p->nfiles; i++)
		free(p->files[i]);
	if (p->names)
		fclose(p->names);
	free(p->operands);
	free(p->files);
	free(p->names_name);
	free(p->name);
	free(p);
}

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n > k && !strcmp(s + n - k, suffix);
}

static void push_file(struct paths *p, char *path)
{
	XGROW(p->files, p->nfiles, p->files_cap);
	p->files[p->nfiles++] = path;
}

/* All *.pb.gz below dir, in any order. Hidden names are somebody's unfinished work. */
static int walk(struct paths *p, const char *dir, int depth, struct err *e)
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
			r = walk(p, path, depth + 1, e);
		} else if (has_suffix(path, ".pb.gz") && stat(path, &st) == 0 &&
			   S_ISREG(st.st_mode)) {
			push_file(p, path);
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
static int expand(struct paths *p, const char *operand, struct err *e)
{
	struct stat st;
	int r;

	if (!strcmp(operand, "-") || stat(operand, &st) < 0 || !S_ISDIR(st.st_mode)) {
		push_file(p, xstrdup(operand));
		return 0;
	}
	r = walk(p, operand, 0, e);
	if (r < 0) {
		while (p->nfiles)
			free(p->files[--p->nfiles]);
		return r;
	}
	if (p->nfiles)
		qsort(p->files, p->nfiles, sizeof(*p->files), cmp_path);
	return 0;
}

/* The next operand: 1, 0 at the end, negative on error. */
static int next_operand(struct paths *p, const char **operand, struct err *e)
{
	ssize_t n;
	int r = 0;

	if (p->next_operand < p->noperands) {
		*operand = p->operands[p->next_operand++];
		return 1;
	}
	if (!p->names)
		return 0;
	n = getdelim(&p->name, &p->name_cap, 0, p->names);
	if (n > 0 && p->name[0]) {
		*operand = p->name;
		return 1;
	}
	if (n > 0)
		return err_set(e, EINVAL, "%s: an empty file name", p->names_name);
	if (ferror(p->names))
		r = err_errno(e, errno, "%s", p->names_name);
	fclose(p->names);
	p->names = NULL;
	return r;
}

bool paths_is_last(const struct paths *p)
{
	return !p->nfiles && p->next_operand == p->noperands && !p->names;
}

int paths_next(struct paths *p, char **path, struct err *e)
{
	const char *operand = NULL;
	int r;

	while (!p->nfiles) {
		r = next_operand(p, &operand, e);
		if (r <= 0)
			return r;
		r = expand(p, operand, e);
		if (r < 0)
			return r;
	}
	*path = p->files[--p->nfiles];
	return 1;
}
