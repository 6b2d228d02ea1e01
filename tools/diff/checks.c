/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two sides can be compared, and what to bear in mind where they can. */
#include "tools/diff/checks.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tools/diff/environment.h"

/* Below this share of cost in functions that both sides have, a comparison says nothing. */
#define MATCHED_MIN 0.20
/* Shares of cost without a function's name: worth a word, and too much. */
#define UNNAMED_NOTE 0.01
#define UNNAMED_MAX 0.20
/* Durations that differ by more than this part are worth a word. */
#define DURATION_NOTE 0.10
/* A median share that changed by more than this part may be most of the cost that changed. */
#define SHARE_NOTE 0.10

static const char *const side_names[SIDES] = {"base", "new"};

static void note_periods(const struct cli *c, const struct part *p, const char *type)
{
	const struct header *b = &p->pair->side[SIDE_BASE]->h,
			    *n = &p->pair->side[SIDE_NEW]->h;
	bool counts = type_is_sample_count(p->comparison.p, p->comparison.column);

	if (b->period == n->period)
		return;
	if (b->period <= 0 || n->period <= 0)
		cli_note(c, "%s: the sampling period of %s is not known or not one", type,
			 b->period > 0 ? "new" : "base");
	else
		cli_note(c, "%s: the sampling periods differ (base %lld, new %lld)%s",
			 type, (long long)b->period, (long long)n->period,
			 counts ? ": base is scaled to new's" : "");
}

/* Twice the time is twice the cost, which is no news. */
static void note_durations(const struct cli *c, const struct part *p, enum norm norm,
			   const char *type)
{
	int64_t base = p->pair->side[SIDE_BASE]->h.duration_ns,
		new = p->pair->side[SIDE_NEW]->h.duration_ns;
	double ratio = base > 0 ? (double)new / (double)base : 0;

	if (norm != NORM_NONE || base <= 0 || new <= 0 ||
	    type_is_gauge(p->comparison.p, p->comparison.column) ||
	    (ratio > 1 - DURATION_NOTE && ratio < 1 + DURATION_NOTE))
		return;
	cli_note(c,
		 "%s: new lasted %.3g times as long as base, and nothing is scaled "
		 "(--norm seconds)",
		 type, ratio);
}

/* What most functions did is taken for no change. */
static void note_size_factor(const struct cli *c, const struct part *p, const char *type)
{
	double factor = p->evidence.size.factor;

	if (p->evidence.norm == NORM_STABLE && !p->evidence.scale_unknown &&
	    (factor < 1 - SHARE_NOTE || factor > 1 + SHARE_NOTE))
		cli_note(c,
			 "%s: most functions have %.3g times their share of the total, "
			 "which is taken for no change of theirs: --work would tell",
			 type, factor);
}

/* Totals since the process began, which must not be added up. */
static void note_cumulative(const struct cli *c, const struct part *p, const char *type)
{
	int side;

	if (!type_is_cumulative(p->comparison.p, p->comparison.column))
		return;
	for (side = 0; side < SIDES; side++) {
		if (p->pair->profiles[side] > 1 && !p->pair->side[side]->h.duration_ns)
			cli_note(c,
				 "%s: %s adds up %zu profiles without a duration: if "
				 "each counts from the start of its process, say "
				 "--delta or compare single ones",
				 type, side_names[side], p->pair->profiles[side]);
	}
}

static void note_unnamed(const struct cli *c, const struct part *p, const char *type)
{
	double share;
	int side;

	for (side = 0; side < SIDES; side++) {
		share = p->comparison.unnamed_share[side];
		if (share > UNNAMED_NOTE)
			cli_note(c, "%s: %.1f%% of %s has no function names", type,
				 share * 100, side_names[side]);
	}
}

/* Where one side was named without inlined frames, what was inlined seems new or gone. */
static void note_inlined(const struct cli *c, const struct part *p, const char *type)
{
	const struct pair *pair = p->pair;

	if (pair->folded)
		cli_note(c,
			 "%s: only %s has inlined frames: they count as what they are "
			 "inlined into",
			 type, side_names[pair->inlined_only]);
	else if (pair->inlined_only >= 0)
		cli_note(c,
			 "%s: only %s has inlined frames: the functions in them seem %s "
			 "(--no-inlines)",
			 type, side_names[pair->inlined_only],
			 pair->inlined_only == SIDE_NEW ? "new" : "gone");
}

static int check_names(const struct part *p, const struct check_opts *o, const char *type,
		       struct err *e)
{
	const struct comparison *c = &p->comparison;
	/* what is the same program has a side that holds little else */
	double matched = fmax(c->matched[SIDE_BASE], c->matched[SIDE_NEW]);
	int side;

	for (side = 0; side < SIDES; side++) {
		double share = c->unnamed_share[side];

		if (share > UNNAMED_MAX && !o->allow_unsymbolized)
			return err_set(e, EINVAL,
				       "%s: %.0f%% of %s has no function names, and "
				       "builds do not share addresses: run "
				       "prof-symbolize (its -v tells which files it "
				       "lacks), or --allow-unsymbolized",
				       type, share * 100, side_names[side]);
	}
	if (matched < MATCHED_MIN && !o->force)
		return err_set(
			e, EINVAL,
			"%s: only %.0f%% of the cost is in functions that both sides "
			"have: the same program? (--force)",
			type, matched * 100);
	return 0;
}

static const char *type_of(const struct part *p)
{
	const struct comparison *c = &p->comparison;

	return store_cstr(c->p->store, c->p->h.types[c->column].type);
}

int check_part(const struct part *p, const struct check_opts *o, struct err *e)
{
	const struct comparison *c = &p->comparison;
	const char *type = type_of(p);

	if (!c->total.base || !c->total.new)
		return err_set(e, ENODATA, "%s has no %s", c->total.base ? "new" : "base",
			       type);
	return check_names(p, o, type, e);
}

/* Another machine or another way of measuring: what differs may be that. */
static void note_environment(const struct cli *c, const struct part *p, const char *type)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t at = 0;

	while (environment_differs(p->pair, &at, &b)) {
		cli_note(c, "%s: measured differently: %s", type, buf_str(&b));
		buf_clear(&b);
	}
	buf_release(&b);
}

/* Slices of one run say how it varies, not how runs do. */
static void note_one_source(const struct cli *c, const struct part *p, const char *type)
{
	if (p->evidence.work_of_sides)
		cli_note(c,
			 "%s: one count of work a side does not say how runs differ: "
			 "better several, a file and a count each (--replicate-by file)",
			 type);
	else if (p->evidence.one_source)
		cli_note(c,
			 "%s: all profiles of a side are of one host or run: how runs "
			 "differ is not known (--replicate-by, --calibrate)",
			 type);
}

void check_notes(const struct cli *c, const struct report *r)
{
	const struct part *p;
	const char *type;
	size_t i;

	for (i = 0; i < r->nparts; i++) {
		p = &r->parts[i];
		type = type_of(p);
		note_environment(c, p, type);
		note_periods(c, p, type);
		note_durations(c, p, r->norm, type);
		note_size_factor(c, p, type);
		note_cumulative(c, p, type);
		if (pair_same_build(p->pair))
			cli_note(c, "%s: both sides are of the same build", type);
		note_one_source(c, p, type);
		note_unnamed(c, p, type);
		note_inlined(c, p, type);
	}
}
