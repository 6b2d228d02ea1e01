/* SPDX-License-Identifier: Apache-2.0 */
/* Pairing by neighbours. */
#include "tools/diff/renamed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

/* So many of a side, the largest: beyond it nothing is worth a guess. */
#define LEFT_MAX 200
#define NAME_MAX_COMPARED 300
/* Weights of the four likenesses; what neither has does not count. */
#define WEIGHT_CALLEES 0.4
#define WEIGHT_CALLERS 0.3
#define WEIGHT_FILE 0.2
#define WEIGHT_NAME 0.1
/* How alike two must be, and by how much more than to any other. */
#define SCORE_MIN 0.8
#define LEAD_MIN 0.1
/* Neighbours in common (and the file) that make a guess good enough. */
#define ANCHORS_MIN 3
/* The cheaper one costs at least this part of the other. */
#define COST_RATIO_MIN 0.25

struct neighbour {
	uint32_t frame;
	bool callee;
	double weight;
};

struct left {
	uint32_t frame;
	double cost; /* share of its side's total, cumulative */
	struct neighbour *v;
	size_t n, cap;
};

struct match {
	struct comparison *c;
	struct left *left[2]; /* base, new */
	size_t n[2];
	uint32_t *which[2]; /* by frame: index in left; ID_NONE */
	uint32_t *alias;    /* the comparison's */
	double *score;	    /* n[0] x n[1] */
};

static int cmp_cost(const void *a, const void *b)
{
	const struct left *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Frames that only one side has, the costliest. */
static void find_left(struct match *m, int side, double least)
{
	const struct comparison *c = m->c;
	double total = (double)(side ? c->total.new : c->total.base);
	size_t i, n = 0;

	m->left[side] = xcalloc(c->nrows + 1, sizeof(struct left));
	m->which[side] = xmalloc((c->nrows + 1) * sizeof(uint32_t));
	memset(m->which[side], 0xff, (c->nrows + 1) * sizeof(uint32_t));
	for (i = 0; i < c->nrows; i++) {
		const struct diff_row *r = &c->rows[i];
		double cost = (double)(side ? r->cum.new : r->cum.base) / total;

		if (r->joined || row_status(r) != (side ? STATUS_NEW : STATUS_GONE) ||
		    cost < least)
			continue;
		m->left[side][n++] = (struct left){.frame = (uint32_t)i, .cost = cost};
	}
	if (n)
		qsort(m->left[side], n, sizeof(struct left), cmp_cost);
	m->n[side] = n < LEFT_MAX ? n : LEFT_MAX;
	for (i = 0; i < m->n[side]; i++)
		m->which[side][m->left[side][i].frame] = (uint32_t)i;
}

static void add_neighbour(struct match *m, int side, uint32_t frame, uint32_t other,
			  bool callee, double weight)
{
	struct left *l;

	if (m->which[side][frame] == ID_NONE || other == frame)
		return;
	l = &m->left[side][m->which[side][frame]];
	XGROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct neighbour){m->alias[other], callee, weight};
}

/* Each step of a stack, outermost first. */
static void add_stack(struct match *m, const struct weight *w)
{
	struct comparison *c = m->c;
	const uint32_t *locations, *frames;
	uint32_t n, nf, k, before = ID_NONE;

	locations = store_frames(c->p->store, w->stack, &n);
	while (n) {
		frames = frames_of(&c->frames, locations[--n], &nf);
		for (k = 0; k < nf; k++) {
			if (before != ID_NONE) {
				add_neighbour(m, 0, before, frames[k], true,
					      -(double)w->minus);
				add_neighbour(m, 0, frames[k], before, false,
					      -(double)w->minus);
				add_neighbour(m, 1, before, frames[k], true,
					      (double)w->plus);
				add_neighbour(m, 1, frames[k], before, false,
					      (double)w->plus);
			}
			before = frames[k];
		}
	}
}

static int cmp_neighbour(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void tidy(struct left *l)
{
	size_t i, n = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), cmp_neighbour);
	for (i = 0; i < l->n; i++) {
		if (n && !cmp_neighbour(&l->v[n - 1], &l->v[i]))
			l->v[n - 1].weight += l->v[i].weight;
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

/* Cosine of the weights of one kind of neighbours; NAN where neither has any. */
static double likeness(const struct left *a, const struct left *b, bool callee,
		       size_t *anchors)
{
	double dot = 0, aa = 0, bb = 0;
	size_t i = 0, k = 0;
	int c;

	while (i < a->n || k < b->n) {
		c = i == a->n ? 1 : k == b->n ? -1 : cmp_neighbour(&a->v[i], &b->v[k]);
		if (c <= 0 && a->v[i].callee == callee)
			aa += a->v[i].weight * a->v[i].weight;
		if (c >= 0 && b->v[k].callee == callee)
			bb += b->v[k].weight * b->v[k].weight;
		if (!c && a->v[i].callee == callee) {
			dot += a->v[i].weight * b->v[k].weight;
			(*anchors)++;
		}
		i += c <= 0;
		k += c >= 0;
	}
	if (aa <= 0 && bb <= 0)
		return NAN;
	return aa > 0 && bb > 0 ? dot / sqrt(aa * bb) : 0;
}

/* 1 less the edit distance over the longer one's length. */
static double alike_names(struct str a, struct str b)
{
	size_t row[NAME_MAX_COMPARED + 1], i, k, diagonal, up, least;
	size_t na = a.n < NAME_MAX_COMPARED ? a.n : NAME_MAX_COMPARED,
	       nb = b.n < NAME_MAX_COMPARED ? b.n : NAME_MAX_COMPARED;

	for (k = 0; k <= nb; k++)
		row[k] = k;
	for (i = 1; i <= na; i++) {
		diagonal = row[0];
		row[0] = i;
		for (k = 1; k <= nb; k++) {
			up = row[k];
			least = diagonal + (a.p[i - 1] != b.p[k - 1]);
			least = least < up + 1 ? least : up + 1;
			least = least < row[k - 1] + 1 ? least : row[k - 1] + 1;
			diagonal = up;
			row[k] = least;
		}
	}
	return na || nb ? 1 - (double)row[nb] / (double)(na > nb ? na : nb) : 1;
}

static double score_of(const struct match *m, const struct left *a, const struct left *b)
{
	const struct frame *fa = &m->c->frames.v[a->frame],
			   *fb = &m->c->frames.v[b->frame];
	double sum = 0, weight = 0, v;
	size_t anchors = 0;

	if (fmin(a->cost, b->cost) < COST_RATIO_MIN * fmax(a->cost, b->cost))
		return 0;
	v = likeness(a, b, true, &anchors);
	if (!isnan(v)) {
		sum += WEIGHT_CALLEES * v;
		weight += WEIGHT_CALLEES;
	}
	v = likeness(a, b, false, &anchors);
	if (!isnan(v)) {
		sum += WEIGHT_CALLERS * v;
		weight += WEIGHT_CALLERS;
	}
	if (fa->where_file && fb->where_file) {
		sum += fa->where_file == fb->where_file ? WEIGHT_FILE : 0;
		weight += WEIGHT_FILE;
		anchors += fa->where_file == fb->where_file;
	}
	if (anchors < ANCHORS_MIN)
		return 0;
	sum += WEIGHT_NAME *
	       alike_names(m->c->rows[a->frame].name, m->c->rows[b->frame].name);
	return sum / (weight + WEIGHT_NAME);
}

/* The best of a row or column of scores, if it leads. */
static size_t best_of(const double *score, size_t n, size_t step)
{
	double best = 0, second = 0;
	size_t i, at = SIZE_MAX;

	for (i = 0; i < n; i++) {
		double v = score[i * step];

		if (v > best) {
			second = best;
			best = v;
			at = i;
		} else if (v > second) {
			second = v;
		}
	}
	return best >= SCORE_MIN && best - second >= LEAD_MIN ? at : SIZE_MAX;
}

static void pair_up(struct match *m)
{
	size_t i, k;

	m->score = xcalloc(m->n[0] * m->n[1] + 1, sizeof(double));
	for (i = 0; i < m->n[0]; i++) {
		for (k = 0; k < m->n[1]; k++)
			m->score[i * m->n[1] + k] =
				score_of(m, &m->left[0][i], &m->left[1][k]);
	}
	for (i = 0; i < m->n[0]; i++) {
		k = best_of(m->score + i * m->n[1], m->n[1], 1);
		if (k == SIZE_MAX || best_of(m->score + k, m->n[0], m->n[1]) != i)
			continue;
		m->alias[m->left[0][i].frame] = m->left[1][k].frame;
		comparison_join(m->c, m->left[0][i].frame, m->left[1][k].frame);
	}
	free(m->score);
}

void find_renamed(struct comparison *c, double least)
{
	struct match m = {.c = c, .alias = c->alias};
	size_t i, k;
	int side;

	for (side = 0; side < 2; side++)
		find_left(&m, side, least);
	if (m.n[0] && m.n[1]) {
		for (i = 0; i < c->weights.n; i++)
			add_stack(&m, &c->weights.v[i]);
		for (side = 0; side < 2; side++) {
			for (k = 0; k < m.n[side]; k++)
				tidy(&m.left[side][k]);
		}
		pair_up(&m);
	}
	for (side = 0; side < 2; side++) {
		for (k = 0; k < m.n[side]; k++)
			free(m.left[side][k].v);
		free(m.left[side]);
		free(m.which[side]);
	}
	/* what was one with a function of the base goes with it */
	for (i = 0; i < c->frames.n; i++)
		c->alias[i] = c->alias[c->alias[i]];
}
