/* SPDX-License-Identifier: Apache-2.0 */
/* prof-merge: add profiles up, one result per profile type and time window. */
#include <errno.h>

#include "lib/pprof/merge.h"
#include "lib/pprof/source.h"
#include "lib/ui/input.h"
#include "lib/ui/queryopt.h"
#include "tools/merge/options.h"
#include "tools/merge/write.h"

static int add(void *merger, const uint8_t *msg, size_t n, struct err *e)
{
	return merger_add(merger, msg, n, e);
}

/* Read everything; nothing is written before the last input was good. */
static int read_all(const struct options *o, struct merger *m, struct err *e)
{
	struct source *s = source_new(o->files.v, o->files.n, o->cli.max_size);
	size_t good;
	int r = input_read(&o->cli, s, add, m, &good, e);

	if (!r && o->has_expect && good != o->expect)
		r = err_set(e, EINVAL, "expected %llu profiles, got %zu",
			    (unsigned long long)o->expect, good);
	source_free(s);
	if (!r)
		r = query_status(o->query, e);
	return r ? r : query_taken_status(o->query, e);
}

int main(int argc, char **argv)
{
	struct options o;
	struct merge_opts mo = {0};
	struct merger *m;
	struct err e = {0};
	int r;

	cli_start("prof-merge", true);
	options_parse(&o, argc, argv);
	mo.hooks = query_hooks(o.query);
	mo.take = query_take;
	mo.ctx = o.query;
	mo.max_size = o.cli.max_size;
	mo.window_ns = o.window_ns;
	m = merger_new(&mo);
	r = read_all(&o, m, &e);
	if (!r)
		r = write_results(&o, m, &e);
	if (!r)
		queryopt_notes(&o.cli, o.query);
	merger_free(m);
	options_release(&o);
	return cli_finish(r, EXIT_OK, &e);
}
