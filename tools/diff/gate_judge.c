/* SPDX-License-Identifier: Apache-2.0 */
/* Holding a comparison to its gates. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/stat/adjust.h"
#include "tools/diff/gate_internal.h"
#include "tools/diff/labels.h"

struct judge {
	const struct gate *g;
	const struct gate_context *ctx;
	const struct comparison *c;
	struct gate_result *r;
	double worst; /* how far over the limit */
	bool there;   /* something the gate speaks of */
	bool any;     /* and large enough */
};

/* The largest whole value within the limit. 100 x1.15 is 115, also where 1.15 is a bit less. */
static int64_t whole_limit(double limit)
{
	double near = nearbyint(limit);

	if (fabs(limit - near) > fabs(near) * 1e-12)
		near = floor(limit);
	return near < 0x1p63 ? (int64_t)near : INT64_MAX;
}

/* The limit as a rise, in parts of the base's total. */
static double allowed_rise(const struct judge *j, const struct finding *f)
{
	return j->g->relative > 0 ? f->e.rate[SIDE_BASE] * (j->g->relative - 1)
				  : j->g->percent_of_base;
}

static bool is_waived(const struct judge *j, enum waiver_kind kind, struct str item,
		      const struct amount *a)
{
	return j->ctx->waivers &&
	       waivers_accept(j->ctx->waivers, kind, item, (double)a->base,
			      (double)a->new, (double)j->c->total.base, j->ctx->now_ns);
}

/* f NULL: nothing was tested. */
static enum gate_state state_of(const struct judge *j, bool over, enum waiver_kind kind,
				struct str item, const struct amount *a,
				const struct finding *f, enum verdict verdict)
{
	if (over && (!f || verdict_is_rise(verdict)))
		return is_waived(j, kind, item, a) ? GATE_WAIVED : GATE_OVER;
	if (!f || !f->tested || verdict == VERDICT_MOVED || verdict_is_fall(verdict))
		return GATE_OK;
	if (over && verdict == VERDICT_INCONCLUSIVE) {
		j->r->over_by_chance = true;
		return GATE_INCONCLUSIVE;
	}
	/* had it risen to the limit, would that have been seen? */
	if (verdict == VERDICT_INCONCLUSIVE && f->detectable > allowed_rise(j, f))
		return GATE_INCONCLUSIVE;
	return GATE_OK;
}

/* Hold one item to the limit; keep it if none was worse. */
static void weigh(struct judge *j, enum waiver_kind kind, struct str item,
		  const struct amount *a, const struct finding *f, enum verdict verdict)
{
	double base = (double)a->base, new = (double)a->new, total, limit;
	const struct amount *t = &j->c->total;
	enum gate_state state;

	j->there = true;
	total = (double)(t->base > t->new ? t->base : t->new);
	if (total <= 0 || (base > new ? base : new) < j->g->min_share * total)
		return;
	limit = j->g->relative > 0 ? base * j->g->relative
				   : base + j->g->percent_of_base * (double)t->base;
	state = state_of(j, a->new > whole_limit(limit), kind, item, a, f, verdict);
	if (j->any &&
	    (state < j->r->state || (state == j->r->state && new - limit <= j->worst)))
		return;
	j->any = true;
	j->worst = new - limit;
	j->r->item = item;
	j->r->amount = *a;
	j->r->limit = whole_limit(limit);
	j->r->finding = f;
	j->r->state = state;
	j->r->failed = state == GATE_OVER;
}

static struct str text_of(const char *s)
{
	return (struct str){s, (uint32_t)strlen(s)};
}

static const struct finding *finding_of(const struct judge *j, const struct diff_row *row)
{
	const struct row_finding *f;

	if (!j->ctx->v)
		return NULL;
	f = &j->ctx->v->rows[row->frame];
	return j->g->subject == ON_CUM ? &f->cum : &f->flat;
}

/* The rows that a gate names, and what each is among these alone. */
static int choose_rows(struct judge *j, const struct diff_row **rows, double *q,
		       size_t *n, struct err *e)
{
	double *up = xcalloc(j->c->nrows + 1, sizeof(*up));
	const struct finding *f;
	size_t i, k = 0, tested = 0;

	*n = 0;
	for (i = 0; i < j->c->nrows; i++) {
		const struct diff_row *row = &j->c->rows[i];

		if (j->g->re && !regex_match(j->g->re, row->name.p, row->name.n))
			continue;
		rows[(*n)++] = row;
		f = finding_of(j, row);
		if (f && f->tested)
			up[tested++] = f->e.p_up;
	}
	stat_bh(up, tested, up);
	for (i = 0; i < *n; i++) {
		f = finding_of(j, rows[i]);
		q[i] = f && f->tested ? up[k++] : 1;
	}
	free(up);
	return j->g->re ? regex_status(j->g->re, e) : 0;
}

static int judge_functions(struct judge *j, struct err *e)
{
	const struct diff_row **rows = xcalloc(j->c->nrows + 1, sizeof(*rows));
	double *q = xcalloc(j->c->nrows + 1, sizeof(*q));
	bool cum = j->g->subject == ON_CUM;
	const struct finding *f;
	enum verdict verdict;
	size_t i, n;
	int r;

	r = choose_rows(j, rows, q, &n, e);
	for (i = 0; i < n && !r; i++) {
		f = finding_of(j, rows[i]);
		verdict = f ? f->verdict : VERDICT_INCONCLUSIVE;
		/* what is watched by name is a family of its own, and may not move away */
		if (f && j->g->re)
			verdict = verdict_of(j->ctx->v, f,
					     f->e.difference > 0 ? q[i] : f->q);
		weigh(j, cum ? WAIVE_CUM : WAIVE_FLAT, rows[i]->name,
		      cum ? &rows[i]->cum : &rows[i]->flat, f, verdict);
	}
	free(rows);
	free(q);
	return r;
}

/* Of new functions together: the sum is real if one of them is. */
static void judge_new(struct judge *j)
{
	struct amount sum = {0, 0};
	const struct finding *f, *largest = NULL;
	bool risen = false;
	size_t i;

	for (i = 0; i < j->c->nrows; i++) {
		if (row_status(&j->c->rows[i]) != STATUS_NEW)
			continue;
		f = finding_of(j, &j->c->rows[i]);
		/* moved here is not new cost */
		if (f && f->verdict == VERDICT_MOVED)
			continue;
		sum.new += j->c->rows[i].flat.new;
		risen |= f && verdict_is_rise(f->verdict);
		if (f && (!largest || f->e.difference > largest->e.difference))
			largest = f;
	}
	weigh(j, WAIVE_FLAT, text_of("new functions"), &sum, largest,
	      risen ? VERDICT_NEW : VERDICT_INCONCLUSIVE);
}

static void judge_label(struct judge *j)
{
	const struct profile *p = j->c->p;
	const struct finding *f = j->ctx->v ? &j->ctx->v->labels[j->g->label] : NULL;
	struct amount sum = {0, 0};
	bool there = false;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		int64_t v = profile_values(p, i)[j->c->column];

		if (!label_has(p->store, p->samples[i].labelset, j->g->key, j->g->value))
			continue;
		there = true;
		if (v < 0)
			sum.base -= v;
		else
			sum.new += v;
	}
	if (there)
		weigh(j, WAIVE_LABEL, text_of(j->g->text_of_label), &sum, f,
		      f ? f->verdict : VERDICT_INCONCLUSIVE);
}

static int judge_total(struct judge *j, struct err *e)
{
	const struct verdicts *v = j->ctx->v;

	j->there = true;
	if (v && !v->ev->total_assessed)
		return err_set(e, EINVAL,
			       "--norm %s makes both totals equal: say how much work was "
			       "done (--work), or --norm seconds or none",
			       norm_name(v->ev->norm));
	weigh(j, WAIVE_TOTAL, text_of("total"), &j->c->total, v ? &v->total : NULL,
	      v ? v->total.verdict : VERDICT_INCONCLUSIVE);
	return 0;
}

int gate_judge(const struct gate *g, const struct gate_context *ctx,
	       struct gate_result *r, struct err *e)
{
	struct judge j = {.g = g, .ctx = ctx, .c = ctx->c, .r = r};
	int ret = 0;

	*r = (struct gate_result){.gate = g};
	switch (g->subject) {
	case ON_TOTAL:
		ret = judge_total(&j, e);
		break;
	case ON_NEW:
		judge_new(&j);
		break;
	case ON_LABEL:
		judge_label(&j);
		break;
	case ON_REGRESSED:
		j.there = true;
		/* fall through */
	case ON_FLAT:
	case ON_CUM:
		ret = judge_functions(&j, e);
		break;
	}
	if (ret < 0)
		return err_prefix(e, "gate \"%s\"", g->text);
	if (!j.there)
		return err_set(e, ENOENT, "gate \"%s\" matches nothing", g->text);
	return 0;
}
