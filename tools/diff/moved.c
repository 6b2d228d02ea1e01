/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost that only moved: a function that has risen while others of the same domain have fallen by
 * as much. Domains of a function are each caller, near or far, under which its rise happened,
 * its file, and its package or namespace; none that is so large that the rise would be lost in
 * its noise (unless what fell is called by the same caller directly and has fallen for certain).
 *
 * The rise is tested together with those of its domain that fell: if what is left of it is
 * neither half of the rise nor more than chance, it is VERDICT_MOVED. What fell is used up: it
 * does not excuse a second rise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/ui/name.h"
#include "tools/diff/verdict.h"

/* A domain that costs this many times the rise is too large to tell. */
#define DOMAIN_MAX 20
/* A caller is a domain of a function if this part of its change happens below it. */
#define BELOW_MIN 0.8
/* What must be made up for. */
#define BACK_MIN 0.5
/* One-sided chance below which something fell, and below which a net rise is real. */
#define CHANCE 0.01

struct search {
	struct verdicts *v;
	struct comparison *c;
	double *left;	   /* by frame: of its fall, what has not excused anything yet */
	double *below;	   /* by frame: scratch: change of flat cost below a caller */
	double *callers;   /* by frame: scratch: change of the riser below this caller */
	double *direct;	   /* the same, called by it directly */
	double *net;	   /* counts of riser and fallers, scratch */
	uint32_t *members; /* scratch */
	uint32_t *seen, stamp;
	uint32_t *row_of; /* by frame: index of the row; ID_NONE: joined into another */
	double total;	  /* of the base, as values are */
	bool together;	  /* several falls may make up for one rise */
};

static double change_of(const struct weight *w)
{
	return (double)w->plus + (double)w->minus;
}

/* Add to every frame of a stack, to each once. */
static void each_frame(struct search *s, uint32_t stack, double change, double *sums)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, i, k;

	s->stamp++;
	locations = store_frames(s->c->p->store, stack, &n);
	for (i = 0; i < n; i++) {
		frames = frames_of(&s->c->frames, locations[i], &nf);
		for (k = 0; k < nf; k++) {
			if (s->seen[frames[k]] == s->stamp)
				continue;
			s->seen[frames[k]] = s->stamp;
			sums[frames[k]] += change;
		}
	}
}

static bool has_frame(struct search *s, uint32_t stack, uint32_t frame)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, i, k;

	locations = store_frames(s->c->p->store, stack, &n);
	for (i = 0; i < n; i++) {
		frames = frames_of(&s->c->frames, locations[i], &nf);
		for (k = 0; k < nf; k++) {
			if (frames[k] == frame)
				return true;
		}
	}
	return false;
}

static bool has_fallen(const struct search *s, uint32_t frame)
{
	const struct finding *f = &s->v->rows[frame].flat;

	return f->tested && f->e.difference < 0 && f->e.p_down <= CHANCE &&
	       s->left[frame] > 0;
}

static void add_counts(struct search *s, uint32_t frame)
{
	size_t width = verdicts_width(s->v), i;

	for (i = 0; i < width; i++)
		s->net[i] += s->v->counts[0][s->v->place[frame] * width + i];
}

/*
 * The riser, those that fell, and the rises that these have made up for already, together: does
 * anything of the rise remain?
 */
static bool is_made_up_for(struct search *s, uint32_t riser, size_t nmembers)
{
	const struct verdicts *v = s->v;
	const struct stat_design *d = &v->ev->design;
	size_t width = verdicts_width(v), i, k;
	double rise = v->rows[riser].flat.e.difference, fallen = 0, sums[SIDES] = {0, 0};
	struct stat_effect e;

	memset(s->net, 0, width * sizeof(*s->net));
	add_counts(s, riser);
	for (k = 0; k < nmembers; k++) {
		fallen += s->left[s->members[k]];
		add_counts(s, s->members[k]);
		for (i = 0; i < v->nrows; i++) {
			if (v->rows[i].moved_with == s->members[k] && i != riser &&
			    v->rows[i].flat.e.difference > 0)
				add_counts(s, (uint32_t)i);
		}
	}
	if (fallen < BACK_MIN * rise)
		return false;
	for (i = 0; i < width; i++)
		sums[i >= d->n[SIDE_BASE]] += s->net[i];
	stat_test(&e, d, &v->noise[0], sums,
		  v->ev->single ? 1 : stat_phi(&v->noise[0], d, s->net));
	return e.difference <= (1 - BACK_MIN) * rise && e.p_up > CHANCE;
}

/* The fallers pay, largest first; the largest is named. */
static void use_up(struct search *s, uint32_t riser, size_t nmembers)
{
	double rise = s->v->rows[riser].flat.e.difference;
	size_t k, largest;

	s->v->rows[riser].flat.verdict = VERDICT_MOVED;
	while (rise > 0) {
		struct row_finding *r;
		double part;

		largest = 0;
		for (k = 1; k < nmembers; k++) {
			if (s->left[s->members[k]] > s->left[s->members[largest]])
				largest = k;
		}
		part = fmin(rise, s->left[s->members[largest]]);
		if (part <= 0)
			break;
		if (s->v->rows[riser].moved_with == ID_NONE)
			s->v->rows[riser].moved_with = s->members[largest];
		r = &s->v->rows[s->members[largest]];
		s->left[s->members[largest]] -= part;
		rise -= part;
		/* most of its fall went elsewhere: no improvement */
		if (s->left[s->members[largest]] <
			    BACK_MIN * fabs(r->flat.e.difference) &&
		    verdict_is_fall(r->flat.verdict)) {
			r->flat.verdict = VERDICT_MOVED;
			r->moved_with = riser;
		}
	}
}

/* The one whose fall is nearest to the rise first; in the second round all of them. */
static bool try_members(struct search *s, uint32_t riser, size_t n)
{
	double rise = s->v->rows[riser].flat.e.difference;
	size_t nearest = 0, k;
	uint32_t other;

	if (!n)
		return false;
	if (!s->together) {
		for (k = 1; k < n; k++) {
			if (fabs(s->left[s->members[k]] - rise) <
			    fabs(s->left[s->members[nearest]] - rise))
				nearest = k;
		}
		other = s->members[0];
		s->members[0] = s->members[nearest];
		s->members[nearest] = other;
		n = 1;
	}
	if (!is_made_up_for(s, riser, n))
		return false;
	use_up(s, riser, n);
	return true;
}

/* The frame right above the leaf; ID_NONE at the root. */
static uint32_t caller_of(struct comparison *c, uint32_t stack)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf;

	locations = store_frames(c->p->store, stack, &n);
	if (!n)
		return ID_NONE;
	frames = frames_of(&c->frames, locations[0], &nf);
	if (nf > 1)
		return frames[nf - 2];
	if (n < 2)
		return ID_NONE;
	frames = frames_of(&c->frames, locations[1], &nf);
	return frames[nf - 1];
}

/*
 * Those that fell below a caller, where that is where they fell. direct: called by it without
 * anything between, or the caller itself, and certainly fallen: for domains that are large.
 */
static bool try_caller(struct search *s, uint32_t riser, uint32_t caller, bool direct)
{
	const struct weights *w = &s->c->weights;
	const struct finding *f;
	size_t i, n = 0;
	uint32_t leaf;

	memset(s->below, 0, s->v->nrows * sizeof(*s->below));
	for (i = 0; i < w->n; i++) {
		leaf = comparison_leaf(s->c, w->v[i].stack);
		if (leaf == ID_NONE || !has_fallen(s, leaf))
			continue;
		if (leaf == caller || (direct ? caller_of(s->c, w->v[i].stack) == caller
					      : has_frame(s, w->v[i].stack, caller)))
			s->below[leaf] += change_of(&w->v[i]) / s->total;
	}
	for (i = 0; i < s->v->nrows; i++) {
		f = &s->v->rows[i].flat;
		if (i != riser && s->below[i] < 0 && has_fallen(s, (uint32_t)i) &&
		    s->below[i] <= BELOW_MIN * f->e.difference &&
		    (!direct || f->q <= s->v->o.alpha))
			s->members[n++] = (uint32_t)i;
	}
	return try_members(s, riser, n);
}

static double cost_of(const struct search *s, int measure, uint32_t frame)
{
	const struct finding *f =
		measure ? &s->v->rows[frame].cum : &s->v->rows[frame].flat;

	return fmax(f->e.rate[SIDE_BASE], f->e.rate[SIDE_NEW]);
}

static bool try_callers(struct search *s, uint32_t riser)
{
	double rise = s->v->rows[riser].flat.e.difference;
	const struct weights *w = &s->c->weights;
	size_t n = s->v->nrows, i;
	double change;
	uint32_t caller;

	memset(s->callers, 0, n * sizeof(*s->callers));
	memset(s->direct, 0, n * sizeof(*s->direct));
	for (i = 0; i < w->n; i++) {
		if (comparison_leaf(s->c, w->v[i].stack) != riser)
			continue;
		change = change_of(&w->v[i]) / s->total;
		each_frame(s, w->v[i].stack, change, s->callers);
		caller = caller_of(s->c, w->v[i].stack);
		if (caller != ID_NONE)
			s->direct[caller] += change;
	}
	for (i = 0; i < n; i++) {
		if (i == riser || s->callers[i] < BELOW_MIN * rise)
			continue;
		if (cost_of(s, 1, (uint32_t)i) <= DOMAIN_MAX * rise &&
		    try_caller(s, riser, (uint32_t)i, false))
			return true;
		if (s->direct[i] >= BELOW_MIN * rise &&
		    try_caller(s, riser, (uint32_t)i, true))
			return true;
	}
	return false;
}

static bool same_file(const struct search *s, uint32_t a, uint32_t b)
{
	const struct frame *f = s->c->frames.v;

	return f[a].where_file && f[a].where_file == f[b].where_file;
}

static bool same_package(const struct search *s, uint32_t a, uint32_t b)
{
	struct str x, y;
	size_t n;

	if (s->row_of[a] == ID_NONE || s->row_of[b] == ID_NONE)
		return false;
	x = s->c->rows[s->row_of[a]].name;
	y = s->c->rows[s->row_of[b]].name;
	n = name_package(x.p, x.n);
	return n && n == name_package(y.p, y.n) && !memcmp(x.p, y.p, n);
}

/* Those that fell in what two functions can have in common. */
static bool try_common(struct search *s, uint32_t riser,
		       bool (*same)(const struct search *, uint32_t, uint32_t))
{
	double rise = s->v->rows[riser].flat.e.difference, cost = 0;
	size_t i, n = 0;

	for (i = 0; i < s->v->nrows; i++) {
		if (!(cost_of(s, 0, (uint32_t)i) > 0) || !same(s, riser, (uint32_t)i))
			continue;
		cost += cost_of(s, 0, (uint32_t)i);
		if (i != riser && has_fallen(s, (uint32_t)i))
			s->members[n++] = (uint32_t)i;
	}
	return cost <= DOMAIN_MAX * rise && try_members(s, riser, n);
}

struct riser {
	double rise;
	uint32_t frame;
};

static int cmp_rise(const void *a, const void *b)
{
	const struct riser *x = a, *y = b;

	if (x->rise != y->rise)
		return x->rise > y->rise ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

void verdicts_find_moved(struct verdicts *v, struct comparison *c)
{
	size_t n = v->nrows + 1, nrisers = 0, i;
	struct riser *risers = xcalloc(n, sizeof(*risers));
	struct search s = {
		.v = v,
		.c = c,
		.left = xcalloc(n, sizeof(double)),
		.below = xcalloc(n, sizeof(double)),
		.callers = xcalloc(n, sizeof(double)),
		.direct = xcalloc(n, sizeof(double)),
		.net = xcalloc(verdicts_width(v) + 1, sizeof(double)),
		.members = xcalloc(n, sizeof(uint32_t)),
		.seen = xcalloc(n, sizeof(uint32_t)),
		.row_of = xcalloc(n, sizeof(uint32_t)),
		.total = c->total.base > 0 ? (double)c->total.base : 1,
	};

	memset(s.row_of, 0xff, n * sizeof(uint32_t));
	for (i = 0; i < c->nrows; i++)
		s.row_of[c->rows[i].frame] = (uint32_t)i;
	for (i = 0; i < v->nrows; i++) {
		double d = v->rows[i].flat.e.difference;

		s.left[i] = d < 0 ? -d : 0;
		if (verdict_is_rise(v->rows[i].flat.verdict))
			risers[nrisers++] = (struct riser){d, (uint32_t)i};
	}
	if (nrisers)
		qsort(risers, nrisers, sizeof(*risers), cmp_rise);
	/* first what one other makes up for, so that it is gone for what needs several */
	for (i = 0; i < 2 * nrisers; i++) {
		uint32_t riser = risers[i % nrisers].frame;

		s.together = i >= nrisers;
		if (verdict_is_rise(v->rows[riser].flat.verdict) &&
		    !try_callers(&s, riser) && !try_common(&s, riser, same_file))
			(void)try_common(&s, riser, same_package);
	}
	free(risers);
	free(s.left);
	free(s.below);
	free(s.callers);
	free(s.direct);
	free(s.net);
	free(s.members);
	free(s.seen);
	free(s.row_of);
}
