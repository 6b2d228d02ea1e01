/* SPDX-License-Identifier: Apache-2.0 */
/* Movers and their domains. */
#include "tools/diff/moved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

/* A caller is a domain of a function if this part of its change happens below it. */
#define BELOW_MIN 0.8
/* So many rises and so many falls, the largest: pairs are looked at one by one. */
#define MOVERS_MAX 500

/* --- who moved -------------------------------------------------------------------------------- */

static int cmp_mover(const void *a, const void *b)
{
	const struct mover *x = a, *y = b;

	if (fabs(x->change) != fabs(y->change))
		return fabs(x->change) > fabs(y->change) ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void find_movers(struct search *s, struct movers *m, bool rises)
{
	const struct finding *f;
	size_t i;

	m->v = xcalloc(s->v->nrows + 1, sizeof(*m->v));
	for (i = 0; i < s->v->nrows; i++) {
		f = moved_flat(s, (uint32_t)i);
		if (rises ? !verdict_is_rise(f->verdict)
			  : !f->tested || f->e.difference >= 0 || f->e.p_down > CHANCE)
			continue;
		m->v[m->n++] = (struct mover){.frame = (uint32_t)i,
					      .change = f->e.difference,
					      .left = fabs(f->e.difference)};
	}
	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), cmp_mover);
	m->n = m->n < MOVERS_MAX ? m->n : MOVERS_MAX;
	for (i = 0; i < m->n; i++)
		s->which[m->v[i].frame] = (uint32_t)i;
}

static struct mover *mover_of(struct search *s, uint32_t frame)
{
	if (s->which[frame] == ID_NONE)
		return NULL;
	return moved_flat(s, frame)->e.difference > 0 ? &s->up.v[s->which[frame]]
						      : &s->down.v[s->which[frame]];
}

static int cmp_caller(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void tidy(struct mover *m)
{
	size_t i, n = 0;

	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), cmp_caller);
	for (i = 0; i < m->n; i++) {
		if (n && m->v[n - 1].frame == m->v[i].frame) {
			m->v[n - 1].all += m->v[i].all;
			m->v[n - 1].direct += m->v[i].direct;
		} else {
			m->v[n++] = m->v[i];
		}
	}
	m->n = n;
	m->tidy_at = 2 * n + 64;
}

struct mover *moved_of_stack(struct search *s, uint32_t stack)
{
	uint32_t leaf = comparison_leaf(s->c, stack);
	struct mover *m = leaf == ID_NONE ? NULL : mover_of(s, leaf);

	if (m && m->n >= m->tidy_at)
		tidy(m);
	return m;
}

void moved_add_caller(struct mover *m, size_t from, uint32_t frame, double change,
		      double direct)
{
	size_t j;

	for (j = from; j < m->n; j++) {
		if (m->v[j].frame == frame)
			return;
	}
	XGROW(m->v, m->n, m->cap);
	m->v[m->n++] = (struct caller){frame, change, direct};
}

/* The callers of a stack that ends in a mover. A frame that recurs counts once. */
static void add_callers(struct search *s, const struct weight *w)
{
	struct mover *m = moved_of_stack(s, w->stack);
	double change = ((double)w->plus + (double)w->minus) / s->total;
	const uint32_t *locations, *frames;
	bool is_leaf = true, direct = true;
	uint32_t n, nf, i, k;
	size_t from;

	if (!m || change == 0)
		return;
	from = m->n;
	locations = store_frames(s->c->p->store, w->stack, &n);
	for (i = 0; i < n; i++) {
		frames = frames_of(&s->c->frames, locations[i], &nf);
		for (k = nf; k; k--) {
			if (is_leaf) {
				is_leaf = false;
				continue;
			}
			moved_add_caller(m, from, s->c->alias[frames[k - 1]], change,
					 direct ? change : 0);
			direct = false;
		}
	}
}

/* Only those below which most of it happened. */
static void keep_domains(struct movers *m)
{
	size_t i, k, n;

	for (i = 0; i < m->n; i++) {
		struct mover *x = &m->v[i];

		tidy(x);
		for (k = n = 0; k < x->n; k++) {
			if (x->v[k].all / x->change >= BELOW_MIN)
				x->v[n++] = x->v[k];
		}
		x->n = n;
	}
}

/* --- what two have in common ------------------------------------------------------------------- */

double moved_cost(const struct search *s, int measure, uint32_t frame)
{
	return finding_cost(measure ? &s->v->rows[frame].cum : &s->v->rows[frame].flat);
}

static bool has_caller(const struct mover *m, uint32_t frame)
{
	struct caller key = {.frame = frame};
	const struct caller *c =
		m->n ? bsearch(&key, m->v, m->n, sizeof(key), cmp_caller) : NULL;

	return c && c->direct / m->change >= BELOW_MIN;
}

/* Both changed below a and b, which are one: what that costs; INFINITY: it is no domain. */
static double cost_of_both(const struct search *s, const struct mover *up,
			   const struct mover *down, const struct caller *a,
			   const struct caller *b, bool certain)
{
	bool label = a->frame >= s->v->nrows;
	double cost = label ? s->label_cost[a->frame - s->v->nrows]
			    : moved_cost(s, 1, a->frame);

	if (is_domain(cost, up->change, label, certain) ||
	    (certain && cost <= WHOLE_SHARE && a->direct / up->change >= BELOW_MIN &&
	     b->direct / down->change >= BELOW_MIN))
		return cost;
	return INFINITY;
}

/* What the smallest caller (or label) of both costs that may be a domain; INFINITY without. */
static double caller_in_common(const struct search *s, const struct mover *up,
			       const struct mover *down, bool certain)
{
	double least = INFINITY;
	size_t i = 0, k = 0;

	/* or what fell is the caller itself */
	if (certain && has_caller(up, down->frame))
		return moved_cost(s, 1, down->frame);
	while (i < up->n && k < down->n) {
		const struct caller *a = &up->v[i], *b = &down->v[k];

		if (a->frame == b->frame)
			least = fmin(least, cost_of_both(s, up, down, a, b, certain));
		i += a->frame <= b->frame;
		k += b->frame <= a->frame;
	}
	return least;
}

double moved_domain(const struct search *s, const struct mover *up,
		    const struct mover *down)
{
	bool certain = moved_flat(s, down->frame)->q <= s->v->o.alpha;

	return fmin(caller_in_common(s, up, down, certain),
		    places_in_common(&s->places, up->frame, down->frame, up->change,
				     certain));
}

static void free_movers(struct movers *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->v[i].v);
	free(m->v);
}

void moved_release(struct search *s)
{
	free_movers(&s->up);
	free_movers(&s->down);
	free(s->members);
	free(s->net);
	free(s->which);
	free(s->label_cost);
	places_release(&s->places);
}

void moved_find(struct search *s)
{
	size_t n = s->v->nrows + 1, i;

	s->net = xcalloc(verdicts_width(s->v) + 1, sizeof(double));
	s->which = xmalloc(n * sizeof(uint32_t));
	memset(s->which, 0xff, n * sizeof(uint32_t));
	find_movers(s, &s->up, true);
	find_movers(s, &s->down, false);
	s->members = xcalloc(s->down.n + 1, sizeof(*s->members));
	if (!s->up.n || !s->down.n)
		return;
	for (i = 0; i < s->c->weights.n; i++)
		add_callers(s, &s->c->weights.v[i]);
	moved_add_labels(s);
	keep_domains(&s->up);
	keep_domains(&s->down);
	places_init(&s->places, s->c, s->v);
}
