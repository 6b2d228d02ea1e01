/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost that only moved: a function that has risen while others of the same domain have fallen by
 * as much. Domains of a function are each caller, near or far, under which its change happened;
 * its clones, file, package and namespaces (moved_place.h); and the labels of the samples that
 * changed (moved_label.c). None that is so large that the rise would be lost in its noise, or
 * anything could be in it (unless what fell is called by the same caller directly and has fallen
 * for certain).
 *
 * A rise and a fall of one domain are tested together: if what is left is neither half of the
 * rise nor more than chance, the rise is VERDICT_MOVED. A fall is used up by it and excuses no
 * second rise: pairs of a small domain come first, in one domain those that fit best. Where two
 * rises have but one fall between them, nobody can tell, and both stay. What no fall alone makes
 * up for is tested with all that fell in its domains.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/diff/moved.h"

/* What must be made up for. */
#define BACK_MIN 0.5

static void add_counts(struct search *s, uint32_t frame)
{
	size_t width = verdicts_width(s->v), i;

	for (i = 0; i < width; i++)
		s->net[i] += s->v->counts[0][s->v->place[frame] * width + i];
}

/*
 * What is left of a fall. Of equal totals all that did not rise fell by its share of the rise,
 * which excuses nothing: a function that is nearly all of the cost would excuse every rise.
 */
static double fall_of(const struct search *s, const struct mover *down,
		      const struct mover *up)
{
	if (s->v->ev->total_assessed)
		return down->left;
	return down->left - moved_cost(s, 0, down->frame) * up->change;
}

/*
 * A rise, falls, and the rises that these have made up for already, together: what is left of
 * the rise? INFINITY where it is too much, else how far it is from nothing.
 */
static double rest_of(struct search *s, const struct mover *up, const size_t *falls,
		      size_t n)
{
	const struct verdicts *v = s->v;
	const struct stat_design *d = &v->ev->design;
	size_t width = verdicts_width(v), i, k;
	double fallen = 0, sums[SIDES] = {0, 0};
	struct stat_effect e;

	for (k = 0; k < n; k++)
		fallen += fall_of(s, &s->down.v[falls[k]], up);
	if (fallen < BACK_MIN * up->change)
		return INFINITY;
	memset(s->net, 0, width * sizeof(*s->net));
	add_counts(s, up->frame);
	for (k = 0; k < n; k++) {
		uint32_t frame = s->down.v[falls[k]].frame;

		add_counts(s, frame);
		for (i = 0; i < s->up.n; i++) {
			if (v->rows[s->up.v[i].frame].moved_with == frame &&
			    &s->up.v[i] != up)
				add_counts(s, s->up.v[i].frame);
		}
	}
	for (i = 0; i < width; i++)
		sums[i >= d->n[SIDE_BASE]] += s->net[i];
	stat_test(&e, d, &v->noise[0], sums,
		  v->ev->single ? 1 : stat_phi(&v->noise[0], d, s->net));
	if (e.difference > (1 - BACK_MIN) * up->change || e.p_up <= CHANCE)
		return INFINITY;
	return fabs(e.difference);
}

/* The falls pay, largest first; the largest is named. */
static void use_up(struct search *s, const struct mover *up, const size_t *falls,
		   size_t n)
{
	struct row_finding *r = &s->v->rows[up->frame], *of_fall;
	double rise = up->change, part;
	struct mover *largest;
	size_t k;

	r->flat.verdict = VERDICT_MOVED;
	while (rise > 0) {
		largest = &s->down.v[falls[0]];
		for (k = 1; k < n; k++) {
			if (s->down.v[falls[k]].left > largest->left)
				largest = &s->down.v[falls[k]];
		}
		part = fmin(rise, largest->left);
		if (part <= 0)
			break;
		if (r->moved_with == ID_NONE)
			r->moved_with = largest->frame;
		largest->left -= part;
		rise -= part;
		/* most of its fall went elsewhere: no improvement */
		of_fall = &s->v->rows[largest->frame];
		if (largest->left < BACK_MIN * fabs(largest->change) &&
		    verdict_is_fall(of_fall->flat.verdict)) {
			of_fall->flat.verdict = VERDICT_MOVED;
			of_fall->moved_with = up->frame;
		}
	}
}

/* A rise and a fall. */
struct couple {
	size_t up, down;
	double domain; /* INFINITY: nothing in common */
	double rest;   /* INFINITY: the fall does not make up for the rise */
};

static bool is_better(const struct couple *a, const struct couple *b)
{
	if (isinf(a->rest) || isinf(b->rest))
		return a->rest < b->rest;
	/* who is nearer, then who fits better */
	return a->domain < b->domain || (a->domain == b->domain && a->rest < b->rest);
}

static struct couple *make_couples(struct search *s)
{
	size_t nu = s->up.n, nd = s->down.n, i;
	struct couple *c = xcalloc(nu * nd + 1, sizeof(*c));

	for (i = 0; i < nu * nd; i++) {
		struct mover *up = &s->up.v[i / nd], *down = &s->down.v[i % nd];

		c[i] = (struct couple){i / nd, i % nd, moved_domain(s, up, down),
				       INFINITY};
		if (!isinf(c[i].domain))
			c[i].rest = rest_of(s, up, &c[i].down, 1);
	}
	return c;
}

/* Nothing else makes up for a rise. */
static bool is_only_one(const struct search *s, const struct couple *c, size_t at)
{
	size_t nd = s->down.n, k;

	for (k = 0; k < nd; k++) {
		if (k != c[at].down && !isinf(c[c[at].up * nd + k].rest))
			return false;
	}
	return true;
}

/*
 * The best fall fits another rise as well, which has no other one: nobody can tell which of
 * them it was. Neither is excused.
 */
static bool is_contested(struct search *s, struct couple *c, size_t best)
{
	size_t nd = s->down.n, i, k, at;
	bool any = false;

	for (i = 0; i < s->up.n; i++) {
		at = i * nd + c[best].down;
		if (i == c[best].up || isinf(c[at].rest) ||
		    c[at].domain > c[best].domain || !is_only_one(s, c, at))
			continue;
		any = s->up.v[i].contested = true;
		for (k = 0; k < nd; k++)
			c[i * nd + k].rest = INFINITY;
	}
	return any;
}

static void pair_up(struct search *s, struct couple *c)
{
	size_t n = s->up.n * s->down.n, i, best;

	for (;;) {
		for (best = 0, i = 1; i < n; i++)
			best = is_better(&c[i], &c[best]) ? i : best;
		if (isinf(c[best].rest))
			break;
		if (is_only_one(s, c, best) && is_contested(s, c, best)) {
			s->up.v[c[best].up].contested = true;
			c[best].rest = INFINITY;
			continue;
		}
		use_up(s, &s->up.v[c[best].up], &c[best].down, 1);
		/* the rise is excused; what is left of the fall excuses less */
		for (i = 0; i < n; i++) {
			if (c[i].up == c[best].up)
				c[i].rest = INFINITY;
			else if (c[i].down == c[best].down && !isinf(c[i].rest))
				c[i].rest = rest_of(s, &s->up.v[c[i].up], &c[i].down, 1);
		}
	}
}

/*
 * All that fell together, for what needs several; without what is mostly used up, whose noise
 * would hide what is left of the rise.
 */
static void pair_with_all(struct search *s, const struct couple *c)
{
	size_t nd = s->down.n, i, k, n;

	for (i = 0; i < s->up.n; i++) {
		if (s->up.v[i].contested ||
		    !verdict_is_rise(moved_flat(s, s->up.v[i].frame)->verdict))
			continue;
		for (k = n = 0; k < nd; k++) {
			if (!isinf(c[i * nd + k].domain) &&
			    s->down.v[k].left >= BACK_MIN * fabs(s->down.v[k].change))
				s->members[n++] = k;
		}
		if (n && !isinf(rest_of(s, &s->up.v[i], s->members, n)))
			use_up(s, &s->up.v[i], s->members, n);
	}
}

void verdicts_find_moved(struct verdicts *v, struct comparison *c)
{
	struct search s = {.v = v, .c = c};
	struct couple *couples;

	s.total = c->total.base > 0 ? (double)c->total.base : 1;
	moved_find(&s);
	if (s.up.n && s.down.n) {
		couples = make_couples(&s);
		pair_up(&s, couples);
		pair_with_all(&s, couples);
		free(couples);
	}
	moved_release(&s);
}
