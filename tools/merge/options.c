/* SPDX-License-Identifier: Apache-2.0 */
/* Options of prof-merge. */
#include "tools/merge/options.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
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
	OPT_LABEL_FROM_NAME,
	OPT_REPLICATES,
	OPT_WEIGHT,
	OPT_FILES0_FROM,
	OPT_SCALE,
	OPT_MEAN,
	OPT_RATE,
	OPT_TRIM,
	OPT_MAX_STACKS,
	OPT_MINUS,
	OPT_LIST,
};

#define REPLICATES_MAX 10000
#define WEIGHT_MAX 1000000000
#define JOBS_MAX 256

static const struct argp_option option_table[] = {
	{"by", OPT_BY, "LABELS", 0,
	 "Keep only these labels and add up what is then equal", 1},
	{"without", OPT_WITHOUT, "LABELS", 0, "Leave these labels out and add up", 1},
	{"label", OPT_LABEL, "KEY=VALUE", 0, "Put a label on every sample (replaces KEY)",
	 1},
	{"label-from-name", OPT_LABEL_FROM_NAME, "RE", 0,
	 "Labels from the names of files, by groups: (?<KEY>...)", 1},
	{"replicates", OPT_REPLICATES, "N[:LABEL]", 0,
	 "A label replicate=0..N-1 by the start of each profile, or by LABEL", 1},
	{"weight", OPT_WEIGHT, "N", 0, "FILEs after it count as if given N times", 1},
	{"files0-from", OPT_FILES0_FROM, "FILE", 0,
	 "Read names of files, each ended by a NUL, from FILE or -", 1},
	{"window", OPT_WINDOW, "DURATION", 0,
	 "One result per window of this length since the epoch (UTC)", 1},
	{"split-by", OPT_SPLIT_BY, "LABELS", 0,
	 "One result for each of their values; with -o 'DIR/{LABEL}.pb.gz' one file each",
	 1},
	{"root-by", OPT_ROOT_BY, "LABELS", 0,
	 "Each stack below the values of these labels, as its callers", 1},
	{"scale", OPT_SCALE, "FACTOR", 0, "Multiply values: 0.5, 3, 1/60", 1},
	{"mean", OPT_MEAN, NULL, 0, "The mean of the profiles, instead of their sum", 1},
	{"rate", OPT_RATE, NULL, 0, "Values for a second", 1},
	{"trim", OPT_TRIM, "PCT", 0,
	 "Put what carries less than PCT of the total below its callers as [other]", 1},
	{"max-stacks", OPT_MAX_STACKS, "N", 0,
	 "The same with the smallest until N stacks are left", 1},
	{"minus", OPT_MINUS, "FILE", 0,
	 "What counters since the start of a process gained since FILE", 1},
	{"list", OPT_LIST, "WHAT", 0,
	 "Print the labels, values, types or ranges of time there are, and merge nothing",
	 1},
	{"jobs", 'j', "N", 0, "N threads read and decode beside the one that adds up (1)",
	 1},
	{"expect", OPT_EXPECT, "N", 0,
	 "Fail, writing nothing, unless N profiles were read", 1},
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

static void parse_replicates(struct options *o, char *arg)
{
	char *label = strchr(arg, ':');
	uint64_t n;

	if (label)
		*label++ = 0;
	if (num_parse_u64(arg, &n) < 0 || n < 2 || n > REPLICATES_MAX)
		cli_usage_error("--replicates: not a number from 2 to %d: %s",
				REPLICATES_MAX, arg);
	if (label && !*label)
		cli_usage_error("--replicates: no label after the colon");
	query_set_replicates(o->query, (uint32_t)n, label);
}

static struct group *new_group(struct options *o, int64_t times)
{
	o->groups = xreallocarray(o->groups, o->ngroups + 1, sizeof(*o->groups));
	o->groups[o->ngroups] = (struct group){.times = times};
	return &o->groups[o->ngroups++];
}

static void parse_weight(struct options *o, const char *arg)
{
	uint64_t n;

	if (num_parse_u64(arg, &n) < 0 || !n || n > WEIGHT_MAX)
		cli_usage_error("--weight: not a whole number from 1 to %d: %s",
				WEIGHT_MAX, arg);
	new_group(o, (int64_t)n);
}

static void scale_to(struct options *o, enum scale_to to)
{
	if (o->scale_to != SCALE_TO_SUM && o->scale_to != to)
		cli_usage_error("--mean and --rate exclude each other");
	o->scale_to = to;
}

static size_t count_files(const struct options *o)
{
	size_t i, n = 0;

	for (i = 0; i < o->ngroups; i++)
		n += o->groups[i].files.n;
	return n;
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
	if (o->files0_from && (count_files(o) || o->ngroups > 1))
		cli_usage_error("--files0-from goes with neither FILE nor --weight");
	if (o->minus.n && (o->window_ns || o->list))
		cli_usage_error("--minus goes with neither --window nor --list");
	if (o->split_by.n &&
	    outname_check(o->cli.output, o->split_by.v, o->split_by.n, &e))
		cli_usage_error("--output: %s", e.msg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct err e = {0};
	uint64_t n;

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
	case OPT_LABEL_FROM_NAME:
		if (query_set_name_labels(o->query, arg, &e))
			cli_usage_error("--label-from-name: %s", e.msg);
		return 0;
	case OPT_REPLICATES:
		parse_replicates(o, arg);
		return 0;
	case OPT_WEIGHT:
		parse_weight(o, arg);
		return 0;
	case OPT_FILES0_FROM:
		o->files0_from = arg;
		return 0;
	case OPT_SCALE:
		if (ratio_parse(arg, &o->factor))
			cli_usage_error("--scale: not a factor such as 0.5 or 1/60: %s",
					arg);
		return 0;
	case OPT_MEAN:
		scale_to(o, SCALE_TO_MEAN);
		return 0;
	case OPT_RATE:
		scale_to(o, SCALE_TO_SECOND);
		return 0;
	case OPT_TRIM:
		if (num_parse_percent(arg, &o->trim) < 0 || !(o->trim >= 0) ||
		    o->trim > 1)
			cli_usage_error("--trim: not a share from 0 to 100%%: %s", arg);
		return 0;
	case OPT_MAX_STACKS:
		if (num_parse_u64(arg, &o->max_stacks) < 0 || o->max_stacks < 2)
			cli_usage_error("--max-stacks: not a number from 2 on: %s", arg);
		return 0;
	case 'j':
		if (num_parse_u64(arg, &n) < 0 || !n || n > JOBS_MAX)
			cli_usage_error("--jobs: not a number from 1 to %d: %s", JOBS_MAX,
					arg);
		o->jobs = n;
		return 0;
	case OPT_MINUS:
		cli_operand(&o->minus, arg);
		return 0;
	case OPT_LIST:
		o->list = list_kind(arg);
		if (!o->list)
			cli_usage_error("--list: not labels, values, types or ranges: %s",
					arg);
		return 0;
	case OPT_WINDOW:
		if (num_parse_duration(arg, &o->window_ns) < 0 || o->window_ns <= 0)
			cli_usage_error("--window: not a duration, such as 10s or 5m: %s",
					arg);
		return 0;
	case OPT_EXPECT:
		if (num_parse_u64(arg, &o->expect) < 0)
			cli_usage_error("--expect: not a number: %s", arg);
		o->has_expect = true;
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(&o->groups[o->ngroups - 1].files, arg);
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
	new_group(o, 1);
	cli_parse_in_order(&argp, argc, argv, o);
	/* not while parsing: a child's options may come last */
	check(o);
	cli_need_input(&argp, count_files(o) + !!o->files0_from);
}

void options_release(struct options *o)
{
	query_free(o->query);
	while (o->ngroups)
		free(o->groups[--o->ngroups].files.v);
	free(o->groups);
	free(o->minus.v);
	free(o->by.v);
	free(o->without.v);
	free(o->split_by.v);
	free(o->root_by.v);
}
