/* SPDX-License-Identifier: Apache-2.0 */
/* Testing every function. */
#include "tools/diff/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/stat/adjust.h"
#include "lib/stat/special.h"

/* A function with fewer counts on both sides together says nothing. */
#define COUNTS_MIN 20
/* What is nearly all of the cost varies less than its parts: no measure of noise. */
#define FIT_RATE_MAX 0.5
/* Where the scale is not known, one side's work costs no more than this times the other's. */
#define SCALE_MAX 10

enum { FLAT, CUM, MEASURES };

const char *verdict_name(enum verdict v)
{
	static const char *const names[VERDICTS] = {
		"inconclusive", "unchanged", "regressed", "improved",
		"moved",	"renamed",   "new",	  "gone"};

	return names[v];
}

/* The frames of each stack, each once, leaf's last line first. */
struct spread {
	struct frames *frames;
	const uint32_t *alias;
	struct seq *by_stack; /* n = 0: not yet known (a stack has a frame at least) */
	size_t nstacks;
	uint32_t *pool;
	size_t npool, cap;
	uint32_t *seen, stamp;
	size_t nseen;
};

static void put_frame(struct spread *s, uint32_t frame)
{
	size_t old = s->nseen;

	frame = s->alias[frame];
	if (frame >= s->nseen) {
		XRESERVE(s->seen, s->nseen, frame + 1);
		memset(s->seen + old, 0, (s->nseen - old) * sizeof(*s->seen));
	}
	if (s->seen[frame] == s->stamp)
		return;
	s->seen[frame] = s->stamp;
	XGROW(s->pool, s->npool, s->cap);
	s->pool[s->npool++] = frame;
}

static const uint32_t *spread_of(struct spread *s, uint32_t stack, uint32_t *n)
{
	struct seq *q = &s->by_stack[stack];
	const uint32_t *locations, *frames;
	uint32_t nl, nf, i, k;

	if (!q->n) {
		q->off = (uint32_t)s->npool;
		s->stamp++;
		locations = store_frames(s->frames->p->store, stack, &nl);
		for (i = 0; i < nl; i++) {
			frames = frames_of(s->frames, locations[i], &nf);
			for (k = nf; k; k--)
				put_frame(s, frames[k - 1]);
		}
		q->n = (uint32_t)s->npool - q->off;
	}
	*n = q->n;
	return s->pool + q->off;
}

/* Pooled counts by frame, of which the candidates are chosen: without regard to sides. */
static void add_sums(struct verdicts *v, struct spread *s)
{
	const struct evidence *ev = v->ev;
	const uint32_t *frames;
	uint32_t n, i;
	size_t r, k;
	int side;

	for (side = 0; side < SIDES; side++) {
		for (r = 0; r < ev->design.n[side]; r++) {
			const struct replica *x = ev->r[side][r];

			for (k = 0; k < x->ncosts; k++) {
				double c = x->costs[k].value / ev->unit;

				frames = spread_of(s, x->costs[k].stack, &n);
				if (!n)
					continue;
				v->sums[FLAT][side][frames[0]] += c;
				for (i = 0; i < n; i++)
					v->sums[CUM][side][frames[i]] += c;
			}
		}
	}
}

static double pooled(const struct verdicts *v, int measure, size_t frame)
{
	return v->sums[measure][SIDE_BASE][frame] + v->sums[measure][SIDE_NEW][frame];
}

double verdicts_counts_needed(const struct verdicts *v)
{
	const double *t = v->ev->design.total;

	return fmax(COUNTS_MIN, v->o.min_effect * fmin(t[0], t[1]));
}

/* Places for what is tested, flat or cumulative (which is never less than flat). */
static size_t choose_places(struct verdicts *v)
{
	double need = verdicts_counts_needed(v);
	size_t i, n = 0;

	for (i = 0; i < v->nrows; i++) {
		v->place[i] = ID_NONE;
		if (pooled(v, CUM, i) < need)
			continue;
		v->place[i] = (uint32_t)n++;
		v->rows[i].cum.tested = true;
		v->rows[i].flat.tested = pooled(v, FLAT, i) >= need;
	}
	return n;
}

static void fill_counts(struct verdicts *v, struct spread *s)
{
	const struct evidence *ev = v->ev;
	size_t width = verdicts_width(v), r, k, column = 0;
	const uint32_t *frames;
	uint32_t n, i, place;
	int side;

	for (side = 0; side < SIDES; side++) {
		for (r = 0; r < ev->design.n[side]; r++, column++) {
			const struct replica *x = ev->r[side][r];

			for (k = 0; k < x->ncosts; k++) {
				double c = x->costs[k].value / ev->unit;

				frames = spread_of(s, x->costs[k].stack, &n);
				for (i = 0; i < n; i++) {
					place = v->place[frames[i]];
					if (place == ID_NONE)
						continue;
					if (!i)
						v->counts[FLAT][place * width + column] +=
							c;
					v->counts[CUM][place * width + column] += c;
				}
			}
		}
	}
}

static struct finding *finding_of(struct verdicts *v, size_t frame, int measure)
{
	return measure == FLAT ? &v->rows[frame].flat : &v->rows[frame].cum;
}

/* Nothing can fall by more than it was. */
static void interval(const struct verdicts *v, struct finding *f)
{
	double t = stat_t_quantile(v->o.alpha, f->e.df);

	f->low = fmax(f->e.difference - t * f->e.se, -f->e.rate[SIDE_BASE]);
	f->high = f->e.difference + t * f->e.se;
}

/* Whatever the scale is, within reason: the other functions cannot have done that. */
static bool beyond_scale(const struct finding *f)
{
	const double *rate = f->e.rate;

	return rate[SIDE_NEW] > SCALE_MAX * rate[SIDE_BASE] ||
	       rate[SIDE_BASE] > SCALE_MAX * rate[SIDE_NEW];
}

enum verdict verdict_of(const struct verdicts *v, const struct finding *f, double q)
{
	double d = f->e.difference, least = v->o.min_effect;

	if (q <= v->o.alpha && fabs(d) >= least && d != 0) {
		if (!(f->e.rate[SIDE_BASE] > 0))
			return VERDICT_NEW;
		if (!(f->e.rate[SIDE_NEW] > 0))
			return VERDICT_GONE;
		if (v->ev->scale_unknown && !beyond_scale(f))
			return VERDICT_INCONCLUSIVE;
		return d > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
	}
	if (f->low >= -least && f->high <= least)
		return VERDICT_UNCHANGED;
	return VERDICT_INCONCLUSIVE;
}

/* phi: by place; NULL: nothing was fitted. */
static void test_all(struct verdicts *v, int measure, const double *phi)
{
	const struct stat_noise *noise = &v->noise[measure];
	double *up = xcalloc(v->nrows + 1, sizeof(*up)),
	       *down = xcalloc(v->nrows + 1, sizeof(*down)), own;
	uint32_t *frames = xcalloc(v->nrows + 1, sizeof(*frames));
	struct finding *f;
	size_t i, n = 0;

	for (i = 0; i < v->nrows; i++) {
		double sums[SIDES] = {v->sums[measure][0][i], v->sums[measure][1][i]};

		f = finding_of(v, i, measure);
		/* without counts of its own an item has the noise of the others */
		own = phi && v->place[i] != ID_NONE ? phi[v->place[i]] : noise->prior;
		stat_test(&f->e, &v->ev->design, noise, sums, own);
		interval(v, f);
		f->q = 1;
		if (f->tested) {
			up[n] = f->e.p_up;
			down[n] = f->e.p_down;
			frames[n++] = (uint32_t)i;
		}
	}
	v->tests[measure] = n;
	stat_bh(up, n, up);
	stat_bh(down, n, down);
	for (i = 0; i < n; i++) {
		f = finding_of(v, frames[i], measure);
		f->q = f->e.difference > 0 ? up[i] : down[i];
	}
	for (i = 0; i < v->nrows; i++) {
		double sums[SIDES] = {v->sums[measure][0][i], v->sums[measure][1][i]};

		f = finding_of(v, i, measure);
		f->verdict = verdict_of(v, f, f->q);
		own = phi && v->place[i] != ID_NONE ? phi[v->place[i]] : noise->prior;
		if (f->tested)
			f->detectable = stat_detectable(&v->ev->design, noise, sums, own,
							v->o.alpha / (double)n,
							v->o.power, v->o.min_effect);
	}
	free(up);
	free(down);
	free(frames);
}

/* What is tested and not more than this part of the cost. */
static size_t choose_items(const struct verdicts *v, int measure, double part,
			   uint32_t *items)
{
	double most = part * (v->ev->design.total[0] + v->ev->design.total[1]);
	size_t i, n = 0;

	for (i = 0; i < v->nrows; i++) {
		const struct finding *f =
			measure == FLAT ? &v->rows[i].flat : &v->rows[i].cum;

		if (f->tested && pooled(v, measure, i) <= most)
			items[n++] = v->place[i];
	}
	return n;
}

/* What noise is learned from. */
static size_t choose_fit(const struct verdicts *v, int measure, uint32_t *items)
{
	size_t n = choose_items(v, measure, FIT_RATE_MAX, items);

	return n ? n : choose_items(v, measure, INFINITY, items);
}

static void find_carrier(struct verdicts *v, size_t frame)
{
	struct row_finding *r = &v->rows[frame];
	size_t which = 0;
	int side = 0;

	if (v->place[frame] == ID_NONE ||
	    !(verdict_is_rise(r->flat.verdict) || verdict_is_fall(r->flat.verdict)))
		return;
	r->without_carrier = stat_without_one(
		&v->ev->design, v->counts[FLAT] + v->place[frame] * verdicts_width(v),
		&side, &which);
	if (!isnan(r->without_carrier))
		r->carrier = v->ev->r[side][which];
}

/* One item by itself. */
static void test_item(const struct verdicts *v, int measure, struct finding *f,
		      const double *counts, double tests)
{
	const struct stat_design *d = &v->ev->design;
	const struct stat_noise *noise = &v->noise[measure];
	double sums[SIDES] = {0, 0}, phi;
	size_t i;

	for (i = 0; i < verdicts_width(v); i++)
		sums[i >= d->n[SIDE_BASE]] += counts[i];
	phi = v->ev->single ? 1 : stat_phi(noise, d, counts);
	stat_test(&f->e, d, noise, sums, phi);
	interval(v, f);
	f->q = f->e.difference > 0 ? f->e.p_up : f->e.p_down;
	f->detectable = stat_detectable(d, noise, sums, phi, v->o.alpha / tests,
					v->o.power, v->o.min_effect);
}

/*
 * Where the exposure is the total itself, all that the total can do is what the size factor
 * says: how far most functions are from it.
 */
static void test_total_by_factor(struct verdicts *v)
{
	const struct evidence *ev = v->ev;
	struct finding *f = &v->total;

	f->tested = true;
	f->e.rate[SIDE_BASE] = 1;
	f->e.rate[SIDE_NEW] = 1 / ev->size.factor;
	f->e.difference = f->e.rate[SIDE_NEW] - 1;
	f->e.se = ev->size.se_of_log * f->e.rate[SIDE_NEW];
	f->e.df = INFINITY;
	f->e.t = f->e.se > 0 ? f->e.difference / f->e.se : 0;
	f->e.p_up = stat_t_upper(f->e.t, f->e.df);
	f->e.p_down = stat_t_upper(-f->e.t, f->e.df);
	f->q = f->e.difference > 0 ? f->e.p_up : f->e.p_down;
	f->detectable =
		fmax(stat_t_quantile(v->o.alpha, INFINITY) * f->e.se, v->o.min_effect) +
		stat_t_quantile(1 - v->o.power, INFINITY) * f->e.se;
}

static void test_total(struct verdicts *v, double *counts)
{
	const struct evidence *ev = v->ev;
	size_t i, column = 0;
	int side;

	if (!ev->total_assessed)
		return;
	if (ev->norm == NORM_STABLE) {
		test_total_by_factor(v);
	} else {
		for (side = 0; side < SIDES; side++) {
			for (i = 0; i < ev->design.n[side]; i++)
				counts[column++] = ev->r[side][i]->total / ev->unit;
		}
		v->total.tested = true;
		test_item(v, FLAT, &v->total, counts, 1);
	}
	interval(v, &v->total);
	v->total.verdict = verdict_of(v, &v->total, v->total.q);
}

void verdicts_test_items(const struct verdicts *v, int measure, const double *counts,
			 size_t n, double need, struct finding *findings)
{
	double *up = xcalloc(n + 1, sizeof(*up)), *down = xcalloc(n + 1, sizeof(*down)),
	       sum;
	size_t width = verdicts_width(v), tests = 0, i, k;

	for (i = 0; i < n; i++) {
		for (sum = 0, k = 0; k < width; k++)
			sum += counts[i * width + k];
		findings[i] = (struct finding){.tested = sum >= need};
		tests += findings[i].tested;
	}
	for (i = k = 0; i < n; i++) {
		test_item(v, measure, &findings[i], counts + i * width,
			  tests ? (double)tests : 1);
		if (!findings[i].tested)
			continue;
		up[k] = findings[i].e.p_up;
		down[k++] = findings[i].e.p_down;
	}
	stat_bh(up, tests, up);
	stat_bh(down, tests, down);
	for (i = k = 0; i < n; i++) {
		struct finding *f = &findings[i];

		f->q = 1;
		if (f->tested) {
			f->q = f->e.difference > 0 ? up[k] : down[k];
			k++;
		}
		f->verdict = verdict_of(v, f, f->q);
	}
	free(up);
	free(down);
}

/* What gates watch is tested however little it is. */
static void test_labels(struct verdicts *v, size_t nlabels)
{
	const struct evidence *ev = v->ev;
	size_t width = verdicts_width(v), l, i, column;
	double *counts = xcalloc(nlabels * width + 1, sizeof(*counts));
	int side;

	v->labels = xcalloc(nlabels + 1, sizeof(*v->labels));
	for (l = 0; l < nlabels; l++) {
		column = l * width;
		for (side = 0; side < SIDES; side++) {
			for (i = 0; i < ev->design.n[side]; i++)
				counts[column++] = ev->r[side][i]->watched[l] / ev->unit;
		}
	}
	verdicts_test_items(v, FLAT, counts, nlabels, 0, v->labels);
	free(counts);
}

void verdicts_init(struct verdicts *v, struct comparison *c, const struct evidence *ev,
		   const struct verdict_opts *o, size_t nlabels)
{
	struct spread s = {.frames = &c->frames, .alias = c->alias};
	double *phi, *scratch;
	size_t places, nfit, i;
	uint32_t *items;
	int m, side;

	*v = (struct verdicts){.ev = ev, .o = *o, .nrows = c->frames.n};
	s.nstacks = c->p->store->nstacks;
	s.by_stack = xcalloc(s.nstacks + 1, sizeof(*s.by_stack));
	v->rows = xcalloc(v->nrows + 1, sizeof(*v->rows));
	v->place = xcalloc(v->nrows + 1, sizeof(*v->place));
	for (m = 0; m < MEASURES; m++) {
		for (side = 0; side < SIDES; side++)
			v->sums[m][side] = xcalloc(v->nrows + 1, sizeof(double));
	}
	add_sums(v, &s);
	places = choose_places(v);
	for (m = 0; m < MEASURES; m++)
		v->counts[m] = xcalloc(places * verdicts_width(v) + 1, sizeof(double));
	fill_counts(v, &s);
	phi = xcalloc(places + 1, sizeof(*phi));
	items = xcalloc(places + 1, sizeof(*items));
	for (m = 0; m < MEASURES; m++) {
		nfit = choose_fit(v, m, items);
		if (ev->single)
			stat_noise_assume(&v->noise[m], o->assume_cv);
		else
			stat_noise_fit(&v->noise[m], &ev->design, v->counts[m], places,
				       items, nfit, phi);
		test_all(v, m, ev->single ? NULL : phi);
	}
	for (i = 0; i < v->nrows; i++) {
		v->rows[i].moved_with = ID_NONE;
		if (c->rows[i].was.p && !verdict_is_rise(v->rows[i].flat.verdict) &&
		    !verdict_is_fall(v->rows[i].flat.verdict))
			v->rows[i].flat.verdict = VERDICT_RENAMED;
		find_carrier(v, i);
	}
	scratch = xcalloc(verdicts_width(v) + 1, sizeof(*scratch));
	test_total(v, scratch);
	test_labels(v, nlabels);
	free(scratch);
	free(items);
	free(phi);
	free(s.by_stack);
	free(s.pool);
	free(s.seen);
}

void verdicts_release(struct verdicts *v)
{
	int m, side;

	for (m = 0; m < MEASURES; m++) {
		free(v->counts[m]);
		for (side = 0; side < SIDES; side++)
			free(v->sums[m][side]);
	}
	free(v->labels);
	free(v->rows);
	free(v->place);
	*v = (struct verdicts){0};
}
