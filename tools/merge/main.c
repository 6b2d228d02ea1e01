/* SPDX-License-Identifier: Apache-2.0 */
/* prof-merge: add profiles up, one result per profile type and time window. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/pprof/merge.h"
#include "lib/pprof/source.h"
#include "lib/pprof/writer.h"
#include "lib/query/query.h"
#include "lib/ui/cli.h"
#include "lib/ui/input.h"
#include "lib/ui/queryopt.h"

enum { OPT_BY = 1, OPT_WITHOUT, OPT_LABEL, OPT_WINDOW, OPT_EXPECT };

struct options {
	struct cli cli;
	struct query *query;
	struct operands files, by, without;
	int64_t window_ns;
	uint64_t expect;
	bool has_expect;
};

static const struct argp_option option_table[] = {
	{"by", OPT_BY, "LABELS", 0,
	 "Keep only these labels and add up what is then equal", 1},
	{"without", OPT_WITHOUT, "LABELS", 0, "Leave these labels out and add up", 1},
	{"label", OPT_LABEL, "KEY=VALUE", 0, "Put a label on every sample (replaces KEY)",
	 1},
	{"window", OPT_WINDOW, "DURATION", 0,
	 "One result per window of this length since the epoch (UTC)", 1},
	{"expect", OPT_EXPECT, "N", 0,
	 "Fail, writing nothing, unless there are N profiles", 1},
	{0},
};

static void add_label(struct options *o, char *arg)
{
	char *eq = strchr(arg, '=');

	if (!eq || eq == arg)
		cli_usage_error("--label: not KEY=VALUE: %s", arg);
	*eq = 0;
	query_add_label(o->query, arg, eq + 1);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		queryopt_init(state, o->query, &o->cli);
		return 0;
	case OPT_BY:
		cli_keys(&o->by, arg, "by");
		return 0;
	case OPT_WITHOUT:
		cli_keys(&o->without, arg, "without");
		return 0;
	case OPT_LABEL:
		add_label(o, arg);
		return 0;
	case OPT_WINDOW:
		if (num_parse_duration(arg, &o->window_ns) < 0 || o->window_ns <= 0)
			cli_usage_error("--window: not a length of time: %s", arg);
		return 0;
	case OPT_EXPECT:
		if (num_parse_u64(arg, &o->expect) < 0)
			cli_usage_error("--expect: not a number: %s", arg);
		o->has_expect = true;
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(&o->files, arg);
		return 0;
	case ARGP_KEY_END:
		if (o->by.n && o->without.n)
			cli_usage_error("--by and --without exclude each other");
		if (o->by.n)
			query_set_by(o->query, o->by.v, o->by.n);
		if (o->without.n)
			query_set_without(o->query, o->without.v, o->without.n);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "[FILE...]",
	.doc = "Add pprof profiles up: one result per profile type (and window).\v"
	       "Without FILE, or for -, reads standard input; a directory means its "
	       "*.pb.gz. "
	       "See prof-merge(1).",
	.children = queryopt_children,
};

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
	return r;
}

static int write_all(const struct options *o, struct merger *m, struct err *e)
{
	struct output *out;
	struct profile **results;
	size_t n, i;
	int r = query_status(o->query, e);

	if (!r)
		r = query_taken_status(o->query, e);
	if (r < 0)
		return r;
	results = merger_results(m, &n);
	r = output_open(o->cli.output, true, &out, e);
	if (r < 0)
		return r;
	for (i = 0; i < n && !r; i++)
		r = profile_write(results[i], out, e);
	if (!r)
		return output_commit(out, e);
	output_abort(out);
	return r;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct merge_opts mo = {0};
	struct merger *m;
	struct err e = {0};
	int r;

	cli_start("prof-merge", true);
	o.query = query_new();
	cli_parse(&argp, argc, argv, &o);
	cli_need_input(&argp, o.files.n);
	mo.hooks = query_hooks(o.query);
	mo.take = query_take;
	mo.ctx = o.query;
	mo.max_size = o.cli.max_size;
	mo.window_ns = o.window_ns;
	m = merger_new(&mo);
	r = read_all(&o, m, &e);
	if (!r)
		r = write_all(&o, m, &e);
	if (!r)
		queryopt_notes(&o.cli, o.query);
	merger_free(m);
	query_free(o.query);
	free(o.files.v);
	free(o.by.v);
	free(o.without.v);
	return cli_finish(r, EXIT_OK, &e);
}
