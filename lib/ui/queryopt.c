/* SPDX-License-Identifier: Apache-2.0 */
/* Options for a query. */
#include "lib/ui/queryopt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/ui/cli.h"

enum {
	OPT_SINCE = 0x5100,
	OPT_UNTIL,
	OPT_FOCUS,
	OPT_IGNORE,
	OPT_SHOW,
	OPT_HIDE,
	OPT_SHOW_FROM,
	OPT_GRANULARITY,
	OPT_NO_INLINES,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Choosing a part:", 10},
	{"select", 's', "SELECTOR", 0,
	 "Samples whose labels fit, e.g. 'comm=app,pod=~\"web.*\"'", 10},
	{"type", 't', "TYPE", 0, "Sample type: a name, an index, or as Parca writes it",
	 10},
	{"since", OPT_SINCE, "TIME", 0,
	 "Profiles that start at TIME or later: RFC 3339, @UNIX, -10m", 10},
	{"until", OPT_UNTIL, "TIME", 0, "Profiles that start before TIME", 10},
	{"focus", OPT_FOCUS, "RE", 0,
	 "Keep stacks with a frame that matches (name, file, binary)", 10},
	{"ignore", OPT_IGNORE, "RE", 0, "Leave out stacks with a frame that matches", 10},
	{"show", OPT_SHOW, "RE", 0, "Keep only frames that match", 10},
	{"hide", OPT_HIDE, "RE", 0, "Leave out frames that match", 10},
	{"show-from", OPT_SHOW_FROM, "RE", 0,
	 "Leave out callers above the first match from the root", 10},
	{"granularity", OPT_GRANULARITY, "LEVEL", 0,
	 "Functions, lines, files, addresses or binaries", 10},
	{"no-inlines", OPT_NO_INLINES, NULL, 0,
	 "Count inlined functions as their callers", 10},
	{0},
};

/* --since and --until come one by one, the query takes both. */
struct window {
	int64_t since_ns, until_ns, now_ns;
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void parse_time(struct argp_state *state, const char *name, const char *arg,
		       int64_t *out)
{
	struct window *w = state->hook;

	if (!w->now_ns)
		w->now_ns = now_ns();
	if (num_parse_time(arg, w->now_ns, out))
		cli_usage_error("--%s: \"%s\" is not a time, such as "
				"2026-01-31T23:59:00Z, @1700000000 or -10m",
				name, arg);
}

static void parse_granularity(struct query *q, const char *arg)
{
	static const struct {
		const char *name;
		enum granularity g;
	} names[] = {
		{"functions", GRANULARITY_FUNCTIONS},
		{"lines", GRANULARITY_LINES},
		{"files", GRANULARITY_FILES},
		{"addresses", GRANULARITY_ADDRESSES},
		{"binaries", GRANULARITY_BINARIES},
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(arg, names[i].name)) {
			query_set_granularity(q, names[i].g);
			return;
		}
	}
	cli_usage_error(
		"--granularity: \"%s\" is not functions, lines, files, addresses or "
		"binaries",
		arg);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	static const char *const filter_names[STACK_FILTERS] = {"focus", "ignore", "show",
								"hide", "show-from"};
	struct query *q = state->input;
	struct window *w = state->hook;
	const char *name = NULL;
	struct err e = {0};
	int r = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		w = xcalloc(1, sizeof(*w));
		*w = (struct window){.since_ns = INT64_MIN, .until_ns = INT64_MAX};
		state->hook = w;
		break;
	case 's':
		name = "select";
		r = query_add_selector(q, arg, &e);
		break;
	case 't':
		name = "type";
		r = query_set_type(q, arg, &e);
		break;
	case OPT_SINCE:
		parse_time(state, "since", arg, &w->since_ns);
		break;
	case OPT_UNTIL:
		parse_time(state, "until", arg, &w->until_ns);
		break;
	case OPT_FOCUS:
	case OPT_IGNORE:
	case OPT_SHOW:
	case OPT_HIDE:
	case OPT_SHOW_FROM:
		name = filter_names[key - OPT_FOCUS];
		r = query_add_filter(q, (enum stack_filter)(key - OPT_FOCUS), arg, &e);
		break;
	case OPT_GRANULARITY:
		parse_granularity(q, arg);
		break;
	case OPT_NO_INLINES:
		query_set_no_inlines(q);
		break;
	case ARGP_KEY_END:
		query_set_time(q, w->since_ns, w->until_ns);
		break;
	case ARGP_KEY_FINI:
		free(w);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (r)
		cli_usage_error("--%s: %s", name, e.msg);
	return 0;
}

static const struct argp queryopt_argp = {options, parse_opt, NULL, NULL,
					  NULL,	   NULL,      NULL};

const struct argp_child queryopt_children[] = {
	{&queryopt_argp, 0, NULL, 0},
	{&cli_input_argp, 0, NULL, 0},
	{&cli_argp, 0, NULL, 0},
	{0},
};

void queryopt_init(struct argp_state *state, struct query *q, struct cli *c)
{
	state->child_inputs[0] = q;
	state->child_inputs[1] = state->child_inputs[2] = c;
}

void queryopt_notes(const struct cli *c, struct query *q)
{
	const char *const *notes;
	size_t n, i;

	query_note_misses(q);
	notes = query_notes(q, &n);
	for (i = 0; i < n; i++)
		cli_note(c, "%s", notes[i]);
}
