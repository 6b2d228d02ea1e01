/* SPDX-License-Identifier: Apache-2.0 */
/* Options of prof-diff, and what they must not say together. */
#include "tools/diff/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/lines.h"
#include "lib/ui/queryopt.h"

enum {
	OPT_BASE = 1,
	OPT_NEW,
	OPT_BASE_SELECT,
	OPT_NEW_SELECT,
	OPT_NORM,
	OPT_GATE,
	OPT_REPORT,
	OPT_SORT,
	OPT_FORCE,
	OPT_ALLOW_UNSYMBOLIZED,
	OPT_ALL_FRAMES,
	OPT_WORK,
	OPT_REPLICATE_BY,
	OPT_PAIR_BY,
	OPT_NAMES,
	OPT_NO_SHIFT,
	OPT_ALPHA,
	OPT_POWER,
	OPT_MIN_EFFECT,
	OPT_ASSUME_CV,
	OPT_FORCE_SINGLE,
	OPT_CALIBRATE,
	OPT_GATES,
	OPT_WAIVE,
	OPT_ADVISORY,
	OPT_REQUIRE_POWER,
	OPT_SELF,
	OPT_BY,
	OPT_DELTA,
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "The sides (or BASE NEW):", 1},
	{"base", OPT_BASE, NULL, 0, "The FILEs that follow are the base", 1},
	{"new", OPT_NEW, NULL, 0, "The FILEs that follow are the new side", 1},
	{"base-select", OPT_BASE_SELECT, "SELECTOR", 0,
	 "Samples of the base in one stream", 1},
	{"new-select", OPT_NEW_SELECT, "SELECTOR", 0, "Samples of the new side in it", 1},
	{NULL, 0, NULL, 0, "Comparing:", 2},
	{"norm", OPT_NORM, "HOW", 0,
	 "Scale the base: auto (default), work, stable, share, seconds or none", 2},
	{"work", OPT_WORK, "COUNTS", 0,
	 "Work done: base=N,new=M, or 1 (each profile the same), or a FILE of counts", 2},
	{"names", OPT_NAMES, "WHICH", 0,
	 "canonical (default: without what builds add) or raw", 2},
	{"force", OPT_FORCE, NULL, 0,
	 "Compare although little of the cost has the same names", 2},
	{"allow-unsymbolized", OPT_ALLOW_UNSYMBOLIZED, NULL, 0,
	 "Compare although much of the cost has no names", 2},
	{"delta", OPT_DELTA, NULL, 0,
	 "Of counters since the start of a process take what each profile added", 2},
	{"self", OPT_SELF, NULL, 0, "Compare although some intervals are on both sides",
	 2},
	{"all-frames", OPT_ALL_FRAMES, NULL, 0,
	 "Ignore drop_frames and keep_frames in profiles", 2},
	{NULL, 0, NULL, 0, "Testing:", 3},
	{"replicate-by", OPT_REPLICATE_BY, "WHAT", 0,
	 "profile (default), file, host, time:DURATION or label:KEY", 3},
	{"pair-by", OPT_PAIR_BY, "WHAT", 0,
	 "As --replicate-by, in pairs: each is compared with its twin on the other side",
	 3},
	{"by", OPT_BY, "WHAT", 0,
	 "Test also each value of a label (label:KEY), or each subtree (subtree)", 3},
	{"alpha", OPT_ALPHA, "P", 0, "Chance of a false finding (0.01)", 3},
	{"power", OPT_POWER, "P", 0, "Chance that what is detectable is found (0.8)", 3},
	{"min-effect", OPT_MIN_EFFECT, "P%", 0,
	 "Smaller changes, in parts of the base's total, are none (0.25%)", 3},
	{"assume-cv", OPT_ASSUME_CV, "P%", 0,
	 "Variation between runs where one profile a side cannot tell (10%)", 3},
	{"no-shift", OPT_NO_SHIFT, NULL, 0, "Do not look for cost that only moved", 3},
	{"calibrate", OPT_CALIBRATE, NULL, 0,
	 "Both sides are the same build: say how many findings are false", 3},
	{NULL, 0, NULL, 0, "Gates:", 4},
	{"gate", OPT_GATE, "GATE", 0,
	 "Exit 1 if a change is real and over a limit: 'total > +2%', 'flat:RE > "
	 "+0.5%'...",
	 4},
	{"gates", OPT_GATES, "FILE", 0, "Gates from a file, one a line", 4},
	{"waive", OPT_WAIVE, "FILE", 0, "Accepted regressions", 4},
	{"advisory", OPT_ADVISORY, NULL, 0, "Gates that fail only say so", 4},
	{"require-power", OPT_REQUIRE_POWER, NULL, 0,
	 "Exit 3 if a gate could not have seen what it is to stop", 4},
	{"force-single", OPT_FORCE_SINGLE, NULL, 0,
	 "Gates may fail also with one profile a side", 4},
	{NULL, 0, NULL, 0, "Reports:", 5},
	{"report", OPT_REPORT, "FORMAT[:FILE]", 0,
	 "text, json, markdown, junit, github, sarif or codequality, to FILE or standard "
	 "output instead of pprof",
	 5},
	{"top", 'n', "N", 0, "Text: at most N functions (20; 0: all that changed)", 5},
	{"sort", OPT_SORT, "COLUMN", 0, "flat (default) or cum", 5},
	{0},
};

static void add_report(struct options *o, char *arg)
{
	static const struct {
		const char *name;
		void (*make)(const struct report *r, size_t columns, struct buf *out);
	} formats[] = {
		{"text", report_text},
		{"json", report_json},
		{"markdown", report_markdown},
		{"junit", report_junit},
		{"github", report_github},
		{"sarif", report_sarif},
		{"codequality", report_codequality},
	};
	char *colon = strchr(arg, ':');
	size_t n = colon ? (size_t)(colon - arg) : strlen(arg);
	struct report_spec s = {.file = colon ? colon + 1 : "-"};

	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strlen(formats[i].name) == n && !memcmp(arg, formats[i].name, n))
			s.make = formats[i].make;
	}
	if (!s.make)
		cli_usage_error("--report: text, json, markdown, junit, github, sarif or "
				"codequality, with [:FILE], not %s",
				arg);
	if (!*s.file)
		cli_usage_error("--report: no FILE after the colon of %s", arg);
	XGROW(o->reports, o->nreports, o->reports_cap);
	o->reports[o->nreports++] = s;
}

static int add_gate(void *options, char *text, struct err *e)
{
	struct options *o = options;
	struct watched_label label;
	size_t i;
	int r;

	XGROW(o->gates, o->ngates, o->gates_cap);
	r = gate_parse(text, &o->gates[o->ngates], e);
	if (r < 0)
		return r;
	o->gates_given++;
	for (i = 0; strcmp(gate_text(o->gates[i]), text); i++)
		;
	if (i < o->ngates) {
		/* said once, judged once */
		gate_free(o->gates[o->ngates]);
		return 0;
	}
	if (gate_label(o->gates[o->ngates], &label.key, &label.value)) {
		gate_watch(o->gates[o->ngates], o->nwatched);
		XGROW(o->watched, o->nwatched, o->watched_cap);
		o->watched[o->nwatched++] = label;
	}
	o->ngates++;
	return 0;
}

static void add_gates(struct options *o, const char *file)
{
	size_t before = o->gates_given;
	struct err e;

	if (lines_read(file, add_gate, o, &e) < 0)
		cli_usage_error("--gates: %s", e.msg);
	if (o->gates_given == before)
		cli_usage_error("--gates: %s: no gates", file);
}

static void parse_work(struct options *o, const char *arg)
{
	if (!strcmp(arg, "1")) {
		o->evidence.work_each = true;
	} else if (!strncmp(arg, "base=", 5) || !strncmp(arg, "new=", 4)) {
		if (!work_parse_counts(arg, o->evidence.work) ||
		    !(o->evidence.work[SIDE_BASE] > 0) ||
		    !(o->evidence.work[SIDE_NEW] > 0))
			cli_usage_error("--work: base=N,new=M with counts over 0 "
					"expected, not %s",
					arg);
	} else {
		o->evidence.work_file = &o->work;
		o->work_file = arg;
	}
}

static double parse_fraction(const char *option, const char *arg, double least,
			     double most)
{
	double v;

	if (num_parse_percent(arg, &v) || !(v >= least && v <= most))
		cli_usage_error("--%s: %s is not between %g and %g", option, arg, least,
				most);
	return v;
}

static void parse_grouping(const char *option, const char *arg, struct grouping *g)
{
	struct err e;

	if (grouping_parse(arg, g, &e) < 0)
		cli_usage_error("--%s: %s", option, e.msg);
}

static enum norm parse_norm(const char *arg)
{
	enum norm n;

	for (n = NORM_NONE; n <= NORM_AUTO; n++) {
		if (!strcmp(arg, norm_name(n)))
			return n;
	}
	cli_usage_error("--norm: auto, work, stable, share, seconds or none, not %s",
			arg);
}

static size_t count_dashes(const struct operands *files)
{
	size_t i, n = 0;

	for (i = 0; i < files->n; i++)
		n += is_dash(files->v[i]);
	return n;
}

/* The three ways of naming the sides, and that only one was used. */
static void settle_sides(struct options *o)
{
	struct sides_opts *s = &o->sides;
	bool flags = s->files[SIDE_BASE].n || s->files[SIDE_NEW].n || o->side >= 0;
	bool selectors = s->selectors[SIDE_BASE] || s->selectors[SIDE_NEW];

	if (selectors) {
		if (flags)
			cli_usage_error(
				"--base-select and --new-select split one stream: no "
				"--base or --new with them");
		if (!s->selectors[SIDE_BASE] || !s->selectors[SIDE_NEW])
			cli_usage_error("--base-select and --new-select go together");
		s->stream = o->plain;
		return;
	}
	if (flags) {
		if (o->plain.n)
			cli_usage_error("%s: before --base or --new: of which side?",
					o->plain.v[0]);
		if (!s->files[SIDE_BASE].n || !s->files[SIDE_NEW].n)
			cli_usage_error("no FILE after --%s",
					s->files[SIDE_BASE].n ? "new" : "base");
		return;
	}
	if (o->plain.n != 2)
		cli_usage_error(
			"BASE and NEW expected (or --base FILE... --new FILE...)");
	cli_operand(&s->files[SIDE_BASE], o->plain.v[0]);
	cli_operand(&s->files[SIDE_NEW], o->plain.v[1]);
}

/* The second of two would be all that is left. Devices take both. */
static void refuse_same_file(const char *a, const char *b)
{
	if (!strcmp(a, b) && strncmp(a, "/dev/", 5) != 0)
		cli_usage_error("%s: two documents to one file", a);
}

/* What can be there but once: standard input, standard output, and each file. */
static void settle_streams(const struct options *o)
{
	const struct sides_opts *s = &o->sides;
	size_t i, k, n;

	n = count_dashes(&s->files[SIDE_BASE]) + count_dashes(&s->files[SIDE_NEW]) +
	    count_dashes(&s->stream);
	if (n > 1)
		cli_usage_error("standard input can be named once only");
	n = o->cli.output && is_dash(o->cli.output);
	for (i = 0; i < o->nreports; i++)
		n += is_dash(o->reports[i].file);
	if (n > 1)
		cli_usage_error("one document only can go to standard output");
	for (i = 0; i < o->nreports; i++) {
		if (o->cli.output)
			refuse_same_file(o->cli.output, o->reports[i].file);
		for (k = 0; k < i; k++)
			refuse_same_file(o->reports[k].file, o->reports[i].file);
	}
}

static void settle_statistics(const struct options *o)
{
	const struct evidence_opts *v = &o->evidence;
	bool work = v->work_each || v->work_file || v->work[SIDE_BASE] > 0;

	if (v->norm == NORM_WORK && !work)
		cli_usage_error("--norm work: how much was done? (--work)");
	if (work && v->norm != NORM_WORK && v->norm != NORM_AUTO)
		cli_usage_error("--work goes with --norm work or auto, not %s",
				norm_name(v->norm));
	if (v->paired && o->pair_by.kind == GROUP_PROFILE)
		cli_usage_error("--pair-by: file, host, time:DURATION or label:KEY "
				"expected: profiles have no twins");
}

/* Options that have to do with the test and the gates. */
static bool parse_test(int key, char *arg, struct options *o)
{
	struct err e;

	switch (key) {
	case OPT_REPLICATE_BY:
		parse_grouping("replicate-by", arg, &o->replicate_by);
		return true;
	case OPT_PAIR_BY:
		parse_grouping("pair-by", arg, &o->pair_by);
		o->evidence.paired = true;
		return true;
	case OPT_BY:
		if (family_parse(&o->by, arg, &e) < 0)
			cli_usage_error("--by: %s", e.msg);
		return true;
	case OPT_ALPHA:
		o->verdict.alpha = parse_fraction("alpha", arg, 1e-9, 0.5);
		return true;
	case OPT_POWER:
		o->verdict.power = parse_fraction("power", arg, 0.5, 0.999);
		return true;
	case OPT_MIN_EFFECT:
		o->verdict.min_effect = parse_fraction("min-effect", arg, 0, 1);
		return true;
	case OPT_ASSUME_CV:
		o->verdict.assume_cv = parse_fraction("assume-cv", arg, 0, 1);
		return true;
	case OPT_NO_SHIFT:
		o->verdict.shift = false;
		return true;
	case OPT_CALIBRATE:
		o->calibrate = true;
		return true;
	case OPT_GATE:
		if (add_gate(o, arg, &e) < 0)
			cli_usage_error("--gate: %s", e.msg);
		return true;
	case OPT_GATES:
		add_gates(o, arg);
		return true;
	case OPT_WAIVE:
		if (waivers_read(&o->waivers, arg, &e) < 0)
			cli_usage_error("--waive: %s", e.msg);
		return true;
	case OPT_ADVISORY:
		o->advisory = true;
		return true;
	case OPT_REQUIRE_POWER:
		o->require_power = true;
		return true;
	case OPT_FORCE_SINGLE:
		o->force_single = true;
		return true;
	}
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		queryopt_init(state, o->query, &o->cli);
		return 0;
	case OPT_BASE:
		o->side = SIDE_BASE;
		return 0;
	case OPT_NEW:
		o->side = SIDE_NEW;
		return 0;
	case OPT_BASE_SELECT:
		o->sides.selectors[SIDE_BASE] = arg;
		return 0;
	case OPT_NEW_SELECT:
		o->sides.selectors[SIDE_NEW] = arg;
		return 0;
	case OPT_NORM:
		o->evidence.norm = parse_norm(arg);
		return 0;
	case OPT_WORK:
		parse_work(o, arg);
		return 0;
	case OPT_NAMES:
		if (strcmp(arg, "raw") && strcmp(arg, "canonical"))
			cli_usage_error("--names: canonical or raw, not %s", arg);
		o->raw_names = !strcmp(arg, "raw");
		return 0;
	case OPT_FORCE:
		o->checks.force = true;
		return 0;
	case OPT_ALLOW_UNSYMBOLIZED:
		o->checks.allow_unsymbolized = true;
		return 0;
	case OPT_DELTA:
		o->sides.delta = true;
		return 0;
	case OPT_SELF:
		o->sides.self = true;
		return 0;
	case OPT_ALL_FRAMES:
		o->all_frames = true;
		return 0;
	case OPT_REPORT:
		add_report(o, arg);
		return 0;
	case 'n':
		if (num_parse_u64(arg, &o->top) < 0)
			cli_usage_error("--top: not a number: %s", arg);
		return 0;
	case OPT_SORT:
		if (strcmp(arg, "flat") && strcmp(arg, "cum"))
			cli_usage_error("--sort: flat or cum, not %s", arg);
		o->by_cum = !strcmp(arg, "cum");
		return 0;
	case ARGP_KEY_ARG:
		cli_operand(o->side < 0 ? &o->plain : &o->sides.files[o->side], arg);
		return 0;
	case ARGP_KEY_END:
		settle_sides(o);
		settle_streams(o);
		settle_statistics(o);
		return 0;
	}
	return parse_test(key, arg, o) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp options_argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "BASE NEW\n--base FILE... --new FILE...\n"
		    "--base-select=SEL --new-select=SEL [FILE...]",
	.doc = "Compare two sets of pprof profiles: a pprof difference for prof-render "
	       "and "
	       "others, reports, and an exit status for CI.\v"
	       "On a terminal the text report is printed instead of pprof. See "
	       "prof-diff(1).",
	.children = queryopt_children,
};

void options_init(struct options *o)
{
	*o = (struct options){.side = -1, .top = 20};
	o->query = query_new();
	o->evidence.norm = NORM_AUTO;
	o->verdict = (struct verdict_opts){.alpha = 0.01,
					   .power = 0.8,
					   .min_effect = 0.0025,
					   .assume_cv = 0.1,
					   .shift = true};
	o->sides.cli = &o->cli;
	o->sides.query = o->query;
}

void options_release(struct options *o)
{
	size_t i;

	for (i = 0; i < o->ngates; i++)
		gate_free(o->gates[i]);
	free(o->gates);
	free(o->watched);
	waivers_release(&o->waivers);
	work_release(&o->work);
	family_specs_release(&o->by);
	free(o->reports);
	free(o->plain.v);
	free(o->sides.files[SIDE_BASE].v);
	free(o->sides.files[SIDE_NEW].v);
	query_free(o->query);
}
