/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: operands, lists of names, weights. */
#include "tools/merge/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/pprof/source.h"
#include "lib/ui/input.h"

struct reading {
	const struct options *o;
	struct merge_opts mo;
	struct merger *m;
	uint32_t split;
	struct source *source;
};

static int add(void *ctx, const uint8_t *msg, size_t n, struct err *e)
{
	struct reading *r = ctx;

	query_file(r->o->query, source_path(r->source));
	if (source_message(r->source))
		return merger_add_decoded(r->m, r->split, &r->mo,
					  source_message(r->source), e);
	return merger_add_split(r->m, r->split, &r->mo, msg, n, e);
}

/* Everything of one source; what add() took is added to *good. */
static int read_source(struct reading *r, struct source *s, size_t *good, struct err *e)
{
	size_t n;
	int ret;

	r->source = s;
	/* headers alone are read faster than they are handed over */
	if (r->o->jobs > 1 && !r->mo.headers_only)
		source_set_jobs(s, r->o->jobs);
	ret = input_read(&r->o->cli, s, add, r, &n, e);
	source_free(s);
	*good += n;
	return ret;
}

static int read_names0(struct reading *r, size_t *good, struct err *e)
{
	const char *name = r->o->files0_from;
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;

	if (!f)
		return err_errno(e, errno, "--files0-from: %s", name);
	if (f == stdin)
		name = "standard input";
	return read_source(
		r, source_new_paths(paths_new_names0(f, name), r->o->cli.max_size), good,
		e);
}

static int read_groups(struct reading *r, size_t *good, struct err *e)
{
	const struct options *o = r->o;
	const struct group *g;
	size_t i;
	int ret = 0;

	for (i = 0; i < o->ngroups && !ret; i++) {
		g = &o->groups[i];
		/* no FILE at all: the last --weight is that of standard input */
		if (!g->files.n && (*good || i + 1 < o->ngroups))
			continue;
		r->mo.hooks.times = g->times;
		ret = read_source(r, source_new(g->files.v, g->files.n, o->cli.max_size),
				  good, e);
	}
	return ret;
}

int read_inputs(const struct options *o, const struct merge_opts *mo, struct merger *m,
		struct err *e)
{
	struct reading r = {.o = o, .mo = *mo, .m = m};
	size_t good = 0;
	size_t base = 0;
	int ret = o->files0_from ? read_names0(&r, &good, e) : read_groups(&r, &good, e);

	if (!ret && o->has_expect && good != o->expect)
		ret = err_set(e, EINVAL, "expected %llu profiles, got %zu",
			      (unsigned long long)o->expect, good);
	if (!ret && o->minus.n) {
		r.split = READ_MINUS;
		r.mo.hooks.times = 1;
		ret = read_source(&r, source_new(o->minus.v, o->minus.n, o->cli.max_size),
				  &base, e);
	}
	if (!ret)
		ret = query_status(o->query, e);
	return ret ? ret : query_taken_status(o->query, e);
}
