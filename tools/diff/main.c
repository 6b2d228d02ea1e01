/* SPDX-License-Identifier: Apache-2.0 */
/* prof-diff: what changed between two sets of profiles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/pprof/writer.h"
#include "lib/ui/queryopt.h"
#include "tools/diff/closures.h"
#include "tools/diff/inlines.h"
#include "tools/diff/options.h"
#include "tools/diff/renamed.h"
#include "tools/diff/startlines.h"

/* What text is fit to where it does not go to a wider terminal. */
#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN 60

/* When waivers are held to their dates: as the new side was measured, so that equal input
 * gives equal output; now where it does not say. */
static int64_t waiver_time(const struct part *p)
{
	struct timespec now;

	if (p->pair->side[SIDE_NEW]->h.time_ns)
		return p->pair->side[SIDE_NEW]->h.time_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int judge_part(const struct gate *g, struct options *o, struct part *p,
		      struct err *e)
{
	struct gate_context ctx = {.c = &p->comparison,
				   .v = &p->verdicts,
				   .waivers = &o->waivers,
				   .now_ns = waiver_time(p)};
	int ret = gate_judge(g, &ctx, &p->results[p->nresults], e);

	if (!ret)
		p->nresults++;
	return ret;
}

static int judge_gates(struct options *o, struct report *r, struct err *e)
{
	size_t i, k;
	bool found;
	int ret;

	for (k = 0; k < r->nparts; k++)
		r->parts[k].results =
			xcalloc(o->ngates + 1, sizeof(*r->parts[k].results));
	for (i = 0; i < o->ngates; i++) {
		found = false;
		for (k = 0; k < r->nparts; k++) {
			ret = judge_part(o->gates[i], o, &r->parts[k], e);
			if (ret < 0 && ret != -ENOENT)
				return ret;
			found |= !ret;
		}
		if (!found)
			return err_set(e, ENOENT, "gate \"%s\" matches nothing",
				       gate_text(o->gates[i]));
	}
	return 0;
}

static void say_gates(const struct options *o, const struct report *r)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i, k;

	for (k = 0; k < r->nparts; k++) {
		for (i = 0; i < r->parts[k].nresults; i++) {
			const struct gate_result *g = &r->parts[k].results[i];
			const char *verdict = report_gate_verdict(r, &r->parts[k], g);

			if (!strcmp(verdict, "ok"))
				continue;
			buf_clear(&b);
			report_gate(&r->parts[k], g, COLUMNS_DEFAULT, &b);
			cli_note(&o->cli, "gate %s: %s: %s",
				 !strcmp(verdict, "fail")   ? "failed"
				 : !strcmp(verdict, "warn") ? "warns"
							    : verdict,
				 gate_text(g->gate), buf_str(&b));
		}
	}
	buf_release(&b);
}

static void say_waivers(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->waivers.n; i++) {
		const struct waiver *w = &o->waivers.v[i];

		if (!w->used)
			cli_note(&o->cli, "waiver for %s (%s): %s", w->name, w->issue,
				 w->expired   ? "has expired"
				 : w->too_low ? "the ceiling is too low"
					      : "not needed: no gate asked");
	}
}

/* What the gates say to the shell. */
static int gates_status(const struct options *o, const struct report *r)
{
	int status = EXIT_OK;
	size_t i, k;

	for (k = 0; k < r->nparts; k++) {
		for (i = 0; i < r->parts[k].nresults; i++) {
			const struct gate_result *g = &r->parts[k].results[i];

			if (!strcmp(report_gate_verdict(r, &r->parts[k], g), "fail"))
				return EXIT_SAID_NO;
			if (g->state == GATE_INCONCLUSIVE && o->require_power &&
			    !gate_only_warns(g->gate))
				status = EXIT_INCONCLUSIVE;
		}
	}
	return status;
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

/* What prof-render draws with: which functions changed, and that all others did not. */
static void add_verdicts(struct part *p)
{
	const struct comparison *c = &p->comparison;
	size_t i;

	profile_comment_kv(p->combined.p, "tested", "%zu",
			   p->verdicts.tests[0] + p->verdicts.tests[1]);
	for (i = 0; i < c->nrows; i++) {
		const struct row_finding *f = &p->verdicts.rows[c->rows[i].frame];
		enum verdict v = f->flat.verdict;

		if (v <= VERDICT_UNCHANGED)
			v = f->cum.verdict;
		if (v > VERDICT_UNCHANGED)
			profile_comment_kv(p->combined.p, "verdict", "%s name=%s",
					   verdict_name(v), c->rows[i].name.p);
	}
}

/* Function by function, and family by family. */
static void test_part(struct options *o, struct part *p, struct label_groups *groups)
{
	if (!o->raw_names) {
		fold_closures(&p->comparison, o->verdict.min_effect);
		find_renamed(&p->comparison, o->verdict.min_effect);
	}
	verdicts_init(&p->verdicts, &p->comparison, &p->evidence, &o->verdict,
		      o->nwatched);
	families_init(&p->families, &o->by, &p->comparison, &p->verdicts, groups);
}

/* What was inlined is not new or gone only because one side was named without it. */
static void level_inlines(const struct options *o, struct pair *pair)
{
	pair->inlined_only = inlines_only_in(pair);
	pair->folded = pair->inlined_only >= 0 && !o->raw_names;
	if (pair->folded)
		inlines_fold(pair, o->sides.replicas);
}

/* Lines are not new or gone only because something was added above them. */
static void level(const struct options *o, struct pair *pair)
{
	level_inlines(o, pair);
	if (query_granularity(o->query) == GRANULARITY_LINES && !o->raw_names)
		startlines_level(pair, o->sides.replicas);
}

static int compare_part(struct options *o, struct report *r, struct part *p,
			struct label_groups *groups, struct err *e)
{
	struct comparison_opts co = {query_granularity(o->query)};
	const struct profile *new = p->pair->side[SIDE_NEW];
	int ret = pair_is_plain(p->pair, e), column;

	if (ret < 0)
		return ret;
	column = query_type_index(o->query, new->store, &new->h);
	ret = evidence_init(&p->evidence, o->sides.replicas, p->pair, (size_t)column,
			    &o->evidence, e);
	if (!ret)
		ret = combine(&p->combined, p->pair, p->evidence.norm, p->evidence.factor,
			      e);
	if (!ret)
		ret = comparison_init(&p->comparison, p->pair, p->combined.p,
				      (size_t)column, &co, e);
	if (ret < 0)
		return ret;
	test_part(o, p, groups);
	comparison_sort(&p->comparison, r->by_cum);
	if (o->verdict.shift)
		verdicts_find_moved(&p->verdicts, &p->comparison);
	add_verdicts(p);
	return check_part(p, &o->checks, e);
}

/* Compare every pair, then judge, then write: reports are there also when a gate fails. */
static int compare(struct options *o, struct sides *s, struct report *r,
		   struct label_groups *groups, struct err *e)
{
	size_t i;
	int ret;

	r->parts = xcalloc(s->npairs, sizeof(*r->parts));
	for (i = 0; i < s->npairs; i++) {
		r->parts[r->nparts].pair = &s->pairs[i];
		level(o, &s->pairs[i]);
		ret = compare_part(o, r, &r->parts[r->nparts++], groups, e);
		if (ret < 0)
			return ret;
	}
	return judge_gates(o, r, e);
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

static void release(struct sides *s, struct report *r)
{
	size_t i;

	for (i = 0; i < r->nparts; i++) {
		families_release(&r->parts[i].families);
		verdicts_release(&r->parts[i].verdicts);
		comparison_release(&r->parts[i].comparison);
		combined_release(&r->parts[i].combined);
		evidence_release(&r->parts[i].evidence);
		free(r->parts[i].results);
	}
	free(r->parts);
	sides_release(s);
}

static int read_all(struct options *o, struct sides *s, struct label_groups *groups,
		    struct err *e)
{
	int ret = 0;

	o->sides.replicas =
		replicas_new(o->evidence.paired ? &o->pair_by : &o->replicate_by,
			     o->evidence.work_file, o->watched, o->nwatched, groups);
	if (o->work_file) {
		ret = work_read(&o->work, o->work_file, e);
		if (ret < 0)
			return err_prefix(e, "--work");
	}
	if (!o->raw_names)
		o->sides.names = names_new();
	return sides_read(s, &o->sides, e);
}

int main(int argc, char **argv)
{
	int ret, status = EXIT_OK;
	struct report r = {0};
	struct sides s = {0};
	struct err e = {0};
	struct options o;
	struct label_groups groups;

	cli_start("prof-diff", true);
	options_init(&o);
	cli_parse_in_order(&options_argp, argc, argv, &o);
	query_set_stored_frames(o.query, !o.all_frames);
	if (o.sides.selectors[SIDE_BASE])
		cli_need_input(&options_argp, o.sides.stream.n);
	groups = (struct label_groups){.keys = o.by.labels, .nkeys = o.by.nlabels};
	ret = read_all(&o, &s, &groups, &e);
	r = (struct report){.norm = o.evidence.norm,
			    .by_cum = o.by_cum,
			    .granularity = query_granularity(o.query),
			    .top = o.top,
			    .sides = &s,
			    .names = o.sides.names,
			    .waivers = &o.waivers,
			    .advisory = o.advisory,
			    .force_single = o.force_single,
			    .calibrate = o.calibrate};
	if (!ret)
		ret = compare(&o, &s, &r, &groups, &e);
	if (!ret)
		ret = write_all(&o, &r, &e);
	if (!ret) {
		status = gates_status(&o, &r);
		queryopt_notes(&o.cli, o.query);
		check_notes(&o.cli, &r);
		say_gates(&o, &r);
		say_waivers(&o);
	}
	release(&s, &r);
	replicas_free(o.sides.replicas);
	label_groups_release(&groups);
	names_free(o.sides.names);
	options_release(&o);
	return cli_finish(ret, status, &e);
}
