/* SPDX-License-Identifier: Apache-2.0 */
/* prof-diff: what changed between two sets of profiles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/pprof/writer.h"
#include "lib/ui/cli.h"
#include "lib/ui/queryopt.h"
#include "tools/diff/checks.h"
#include "tools/diff/report.h"

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
};

/* What text is fit to where it does not go to a wider terminal. */
#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN 60

struct report_spec {
	void (*make)(const struct report *r, size_t columns, struct buf *out);
	const char *file;
};

struct options {
	struct cli cli;
	struct query *query;
	struct sides_opts sides;
	struct operands plain; /* before any --base or --new */
	int side;	       /* of the FILEs that come now; -1 before a flag */
	enum norm norm;
	struct check_opts checks;
	bool by_cum, all_frames;
	uint64_t top;
	struct gate **gates;
	struct report_spec *reports;
	size_t ngates, gates_cap, nreports, reports_cap;
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "The sides (or BASE NEW):", 1},
	{"base", OPT_BASE, NULL, 0, "The FILEs that follow are the base", 1},
	{"new", OPT_NEW, NULL, 0, "The FILEs that follow are the new side", 1},
	{"base-select", OPT_BASE_SELECT, "SELECTOR", 0,
	 "Samples of the base in one stream", 1},
	{"new-select", OPT_NEW_SELECT, "SELECTOR", 0, "Samples of the new side in it", 1},
	{NULL, 0, NULL, 0, "Comparing:", 2},
	{"norm", OPT_NORM, "HOW", 0, "Scale the base: none (default), seconds or share",
	 2},
	{"gate", OPT_GATE, "GATE", 0,
	 "Exit 1 if the change is over a limit: 'total > +2%', 'flat:RE > +0.5%'...", 2},
	{"force", OPT_FORCE, NULL, 0,
	 "Compare although little of the cost has the same names", 2},
	{"allow-unsymbolized", OPT_ALLOW_UNSYMBOLIZED, NULL, 0,
	 "Compare although much of the cost has no names", 2},
	{"all-frames", OPT_ALL_FRAMES, NULL, 0,
	 "Ignore drop_frames and keep_frames in profiles", 2},
	{NULL, 0, NULL, 0, "Reports:", 3},
	{"report", OPT_REPORT, "FORMAT[:FILE]", 0,
	 "text or json, to FILE or standard output instead of pprof", 3},
	{"top", 'n', "N", 0, "Text: at most N functions (20; 0: all that changed)", 3},
	{"sort", OPT_SORT, "COLUMN", 0, "flat (default) or cum", 3},
	{0},
};

static void add_report(struct options *o, char *arg)
{
	char *colon = strchr(arg, ':');
	size_t n = colon ? (size_t)(colon - arg) : strlen(arg);
	struct report_spec s = {.file = colon ? colon + 1 : "-"};

	if (n == 4 && !memcmp(arg, "text", 4))
		s.make = report_text;
	else if (n == 4 && !memcmp(arg, "json", 4))
		s.make = report_json;
	else
		cli_usage_error("--report: text[:FILE] or json[:FILE], not %s", arg);
	if (!*s.file)
		cli_usage_error("--report: no FILE after the colon of %s", arg);
	XGROW(o->reports, o->nreports, o->reports_cap);
	o->reports[o->nreports++] = s;
}

static void add_gate(struct options *o, const char *arg)
{
	struct err e;

	XGROW(o->gates, o->ngates, o->gates_cap);
	if (gate_parse(arg, &o->gates[o->ngates], &e) < 0)
		cli_usage_error("--gate: %s", e.msg);
	o->ngates++;
}

static enum norm parse_norm(const char *arg)
{
	enum norm n;

	for (n = NORM_NONE; n <= NORM_SHARE; n++) {
		if (!strcmp(arg, norm_name(n)))
			return n;
	}
	cli_usage_error("--norm: none, seconds or share, not %s", arg);
}

static bool is_dash(const char *file)
{
	return !strcmp(file, "-");
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
		o->norm = parse_norm(arg);
		return 0;
	case OPT_GATE:
		add_gate(o, arg);
		return 0;
	case OPT_FORCE:
		o->checks.force = true;
		return 0;
	case OPT_ALLOW_UNSYMBOLIZED:
		o->checks.allow_unsymbolized = true;
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
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
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

static int judge_gates(const struct options *o, struct report *r, bool *failed,
		       struct err *e)
{
	struct gate_result result;
	struct part *p;
	size_t i, k;
	bool found;
	int ret;

	for (k = 0; k < r->nparts; k++)
		r->parts[k].results = xcalloc(o->ngates, sizeof(*r->parts[k].results));
	for (i = 0; i < o->ngates; i++) {
		found = false;
		for (k = 0; k < r->nparts; k++) {
			p = &r->parts[k];
			ret = gate_judge(o->gates[i], &p->comparison, &result, e);
			if (ret == -ENOENT)
				continue;
			if (ret < 0)
				return ret;
			found = true;
			p->results[p->nresults++] = result;
			*failed |= result.failed && !gate_only_warns(o->gates[i]);
		}
		if (!found)
			return err_set(e, ENOENT, "gate \"%s\" matches nothing",
				       gate_text(o->gates[i]));
	}
	return 0;
}

static void say_failed_gates(const struct options *o, const struct report *r)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i, k;

	for (k = 0; k < r->nparts; k++) {
		for (i = 0; i < r->parts[k].nresults; i++) {
			const struct gate_result *g = &r->parts[k].results[i];

			if (!g->failed)
				continue;
			buf_clear(&b);
			report_gate(&r->parts[k], g, COLUMNS_DEFAULT, &b);
			cli_note(&o->cli, "gate %s: %s: %s",
				 gate_only_warns(g->gate) ? "warns" : "failed",
				 gate_text(g->gate), buf_str(&b));
		}
	}
	if (o->ngates)
		cli_note(&o->cli, "gates compare values as they are, without a test of "
				  "significance");
	buf_release(&b);
}

/* The width of the terminal that a report goes to; COLUMNS_DEFAULT where it goes elsewhere. */
static size_t columns_of(const char *file)
{
	const char *env = getenv("COLUMNS");
	struct winsize w;
	uint64_t n;

	if (!is_dash(file) || !isatty(STDOUT_FILENO))
		return COLUMNS_DEFAULT;
	if (env && !num_parse_u64(env, &n) && n > 0 && n < 100000)
		return n > COLUMNS_MIN ? n : COLUMNS_MIN;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		return w.ws_col > COLUMNS_MIN ? w.ws_col : COLUMNS_MIN;
	return COLUMNS_DEFAULT;
}

static int write_report(const struct report *r, const struct report_spec *s,
			struct err *e)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct output *out = NULL;
	int ret;

	s->make(r, columns_of(s->file), &b);
	ret = output_open(s->file, false, &out, e);
	if (!ret)
		ret = output_write(out, b.data, b.len, e);
	if (!ret)
		ret = output_commit(out, e);
	else
		output_abort(out);
	buf_release(&b);
	return ret;
}

static int write_pprof(const struct options *o, const struct report *r, struct err *e)
{
	struct output *out;
	size_t i;
	int ret = output_open(o->cli.output, true, &out, e);

	if (ret < 0)
		return ret;
	for (i = 0; i < r->nparts && !ret; i++)
		ret = profile_write(r->parts[i].combined.p, out, e);
	if (!ret)
		return output_commit(out, e);
	output_abort(out);
	return ret;
}

/* Compare every pair, then judge, then write: reports are there also when a gate fails. */
static int compare(struct options *o, struct sides *s, struct report *r, bool *failed,
		   struct err *e)
{
	struct comparison_opts co = {query_granularity(o->query), o->by_cum};
	struct part *p;
	size_t i;
	int ret, column;

	r->parts = xcalloc(s->npairs, sizeof(*r->parts));
	for (i = 0; i < s->npairs; i++) {
		p = &r->parts[r->nparts++];
		p->pair = &s->pairs[i];
		ret = combine(&p->combined, p->pair, o->norm, e);
		if (ret < 0)
			return ret;
		column = query_type_index(o->query, p->combined.p->store,
					  &p->combined.p->h);
		ret = comparison_init(&p->comparison, p->pair, p->combined.p,
				      (size_t)column, &co, e);
		if (!ret)
			ret = check_part(p, &o->checks, e);
		if (ret < 0)
			return ret;
	}
	return judge_gates(o, r, failed, e);
}

static int write_all(const struct options *o, const struct report *r, struct err *e)
{
	bool to_terminal = !o->nreports && !o->cli.output && isatty(STDOUT_FILENO);
	bool stdout_taken = to_terminal;
	size_t i;
	int ret = 0;

	if (to_terminal)
		return write_report(r, &(struct report_spec){report_text, "-"}, e);
	for (i = 0; i < o->nreports && !ret; i++) {
		stdout_taken |= is_dash(o->reports[i].file);
		ret = write_report(r, &o->reports[i], e);
	}
	if (!ret && (o->cli.output || !stdout_taken))
		ret = write_pprof(o, r, e);
	return ret;
}

static void release(struct options *o, struct sides *s, struct report *r)
{
	size_t i;

	for (i = 0; i < r->nparts; i++) {
		comparison_release(&r->parts[i].comparison);
		combined_release(&r->parts[i].combined);
		free(r->parts[i].results);
	}
	free(r->parts);
	sides_release(s);
	for (i = 0; i < o->ngates; i++)
		gate_free(o->gates[i]);
	free(o->gates);
	free(o->reports);
	free(o->plain.v);
	free(o->sides.files[SIDE_BASE].v);
	free(o->sides.files[SIDE_NEW].v);
	query_free(o->query);
}

int main(int argc, char **argv)
{
	struct options o = {.side = -1, .top = 20};
	struct report r = {0};
	struct sides s = {0};
	struct err e = {0};
	bool failed = false;
	int ret;

	cli_start("prof-diff", true);
	o.query = query_new();
	cli_parse_in_order(&argp, argc, argv, &o);
	query_set_stored_frames(o.query, !o.all_frames);
	o.sides.cli = &o.cli;
	o.sides.query = o.query;
	r.norm = o.norm;
	r.by_cum = o.by_cum;
	r.top = o.top;
	if (o.sides.selectors[SIDE_BASE])
		cli_need_input(&argp, o.sides.stream.n);
	ret = sides_read(&s, &o.sides, &e);
	if (!ret)
		ret = compare(&o, &s, &r, &failed, &e);
	if (!ret)
		ret = write_all(&o, &r, &e);
	if (!ret) {
		queryopt_notes(&o.cli, o.query);
		check_notes(&o.cli, &r);
		say_failed_gates(&o, &r);
	}
	release(&o, &s, &r);
	return cli_finish(ret, failed ? EXIT_SAID_NO : EXIT_OK, &e);
}
