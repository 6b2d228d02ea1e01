/* SPDX-License-Identifier: Apache-2.0 */
/* Options of prof-merge. */
#include "tools/merge/options.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/ui/queryopt.h"
#include "tools/merge/outname.h"

enum {
	OPT_BY = 1,
	OPT_WITHOUT,
	OPT_LABEL,
	OPT_WINDOW,
	OPT_EXPECT,
	OPT_SPLIT_BY,
	OPT_ROOT_BY,
};

static const struct argp_option option_table[] = {
	{"by", OPT_BY, "LABELS", 0,
	 "Keep only these labels and add up what is then equal", 1},
	{"without", OPT_WITHOUT, "LABELS", 0, "Leave these labels out and add up", 1},
	{"label", OPT_LABEL, "KEY=VALUE", 0, "Put a label on every sample (replaces KEY)",
	 1},
	{"window", OPT_WINDOW, "DURATION", 0,
	 "One result per window of this length since the epoch (UTC)", 1},
	{"split-by", OPT_SPLIT_BY, "LABELS", 0,
	 "One result for each of their values; with -o 'DIR/{LABEL}.pb.gz' one file each",
	 1},
	{"root-by", OPT_ROOT_BY, "LABELS", 0,
	 "Each stack below the values of these labels, as its callers", 1},
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

static bool has_key(const struct operands *keys, const char *key)
{
	size_t i;

	for (i = 0; i < keys->n; i++) {
		if (!strcmp(keys->v[i], key))
			return true;
	}
	return false;
}

/* Labels that `keys` wants must be left: --by keeps them, --without must not name them. */
static void want_labels(struct options *o, const struct operands *keys,
			const char *option)
{
	size_t i;

	for (i = 0; i < keys->n; i++) {
		if (o->by.n && !has_key(&o->by, keys->v[i]))
			cli_operand(&o->by, keys->v[i]);
		if (has_key(&o->without, keys->v[i]))
			cli_usage_error("--without leaves out the label of --%s: %s",
					option, keys->v[i]);
	}
}

static void check(struct options *o)
{
	struct err e = {0};

	if (o->by.n && o->without.n)
		cli_usage_error("--by and --without exclude each other");
	want_labels(o, &o->split_by, "split-by");
	want_labels(o, &o->root_by, "root-by");
	if (o->by.n)
		query_set_by(o->query, o->by.v, o->by.n);
	if (o->without.n)
		query_set_without(o->query, o->without.v, o->without.n);
	if (o->split_by.n &&
	    outname_check(o->cli.output, o->split_by.v, o->split_by.n, &e))
		cli_usage_error("--output: %s", e.msg);
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
	case OPT_SPLIT_BY:
		cli_keys(&o->split_by, arg, "split-by");
		return 0;
	case OPT_ROOT_BY:
		cli_keys(&o->root_by, arg, "root-by");
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

void options_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){.query = query_new()};
	cli_parse(&argp, argc, argv, o);
	/* not while parsing: a child's options may come last */
	check(o);
	cli_need_input(&argp, o->files.n);
}

void options_release(struct options *o)
{
	query_free(o->query);
	free(o->files.v);
	free(o->by.v);
	free(o->without.v);
	free(o->split_by.v);
	free(o->root_by.v);
}
