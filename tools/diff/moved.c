/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost that only moved: a function that has risen while others of the same domain have fallen by
 * as much. Domains of a function are each caller, near or far, under which its change happened,
 * its file, and its package or namespace; none that is so large that the rise would be lost in
 * its noise (unless what fell is called by the same caller directly and has fallen for certain).
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
/* So many rises and so many falls, the largest: pairs are looked at one by one. */
#define MOVERS_MAX 500

/* A caller, near or far, and how much of a mover's change happened below it. */
struct caller {
	uint32_t frame;
	double all, direct;
};

struct mover {
	uint32_t frame;
	double change;	  /* of the flat rate; never 0 */
	double left;	  /* of a fall: what has not excused anything yet */
	struct caller *v; /* by frame; only those that are domains */
	size_t n, cap, tidy_at;
	double file_cost, package_cost; /* of a rise: of the domains of that kind */
	bool contested; /* a rise that a fall makes up for as well as for another one */
};

struct movers {
	struct mover *v;
	size_t n;
};

struct search {
	struct verdicts *v;
	struct comparison *c;
	struct movers up, down;
	uint32_t *which;  /* by frame: index in up or down; ID_NONE */
	double *net;	  /* counts, scratch */
	size_t *members;  /* indexes of falls, scratch */
	uint32_t *row_of; /* by frame: index of the row; ID_NONE: joined into another */
	double total;	  /* of the base, as values are */
};

static const struct finding *flat_of(const struct search *s, uint32_t frame)
{
	return &s->v->rows[frame].flat;
}

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
		f = flat_of(s, (uint32_t)i);
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
	return flat_of(s, frame)->e.difference > 0 ? &s->up.v[s->which[frame]]
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

/* The callers of a stack that ends in a mover. A frame that recurs counts once: see tidy(). */
static void add_callers(struct search *s, const struct weight *w)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, i, k, leaf = comparison_leaf(s->c, w->stack);
	struct mover *m = leaf == ID_NONE ? NULL : mover_of(s, leaf);
	double change = ((double)w->plus + (double)w->minus) / s->total;
	size_t from, j;
	bool is_leaf = true, direct = true;

	if (!m || change == 0)
		return;
	if (m->n >= m->tidy_at)
		tidy(m);
	from = m->n;
	locations = store_frames(s->c->p->store, w->stack, &n);
	for (i = 0; i < n; i++) {
		frames = frames_of(&s->c->frames, locations[i], &nf);
		for (k = nf; k; k--) {
			if (is_leaf) {
				is_leaf = false;
				continue;
			}
			for (j = from; j < m->n && m->v[j].frame != frames[k - 1]; j++)
				;
			if (j == m->n) {
				XGROW(m->v, m->n, m->cap);
				m->v[m->n++] = (struct caller){frames[k - 1], change,
							       direct ? change : 0};
			}
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

static double cost_of(const struct search *s, int measure, uint32_t frame)
{
	const struct finding *f =
		measure ? &s->v->rows[frame].cum : &s->v->rows[frame].flat;

	return fmax(f->e.rate[SIDE_BASE], f->e.rate[SIDE_NEW]);
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

static void find_costs(struct search *s)
{
	size_t i, k;
	double cost;

	for (i = 0; i < s->up.n; i++) {
		struct mover *m = &s->up.v[i];

		for (k = 0; k < s->v->nrows; k++) {
			cost = cost_of(s, 0, (uint32_t)k);
			if (!(cost > 0))
				continue;
			if (same_file(s, m->frame, (uint32_t)k))
				m->file_cost += cost;
			if (same_package(s, m->frame, (uint32_t)k))
				m->package_cost += cost;
		}
	}
}

static bool has_caller(const struct mover *m, uint32_t frame)
{
	struct caller key = {.frame = frame};
	const struct caller *c =
		m->n ? bsearch(&key, m->v, m->n, sizeof(key), cmp_caller) : NULL;

	return c && c->direct / m->change >= BELOW_MIN;
}

/* What the smallest caller of both costs that may be a domain of theirs; INFINITY without. */
static double caller_in_common(const struct search *s, const struct mover *up,
			       const struct mover *down)
{
	bool certain = flat_of(s, down->frame)->q <= s->v->o.alpha;
	double least = INFINITY, cost;
	size_t i = 0, k = 0;

	/* or what fell is the caller itself */
	if (certain && has_caller(up, down->frame))
		return cost_of(s, 1, down->frame);
	while (i < up->n && k < down->n) {
		const struct caller *a = &up->v[i], *b = &down->v[k];

		cost = a->frame == b->frame ? cost_of(s, 1, a->frame) : INFINITY;
		if (cost <= DOMAIN_MAX * up->change ||
		    (certain && a->direct / up->change >= BELOW_MIN &&
		     b->direct / down->change >= BELOW_MIN))
			least = fmin(least, cost);
		i += a->frame <= b->frame;
		k += b->frame <= a->frame;
	}
	return least;
}

/* What the smallest domain of both costs; INFINITY without. */
static double domain_of(const struct search *s, const struct mover *up,
			const struct mover *down)
{
	double least = caller_in_common(s, up, down);

	if (up->file_cost <= DOMAIN_MAX * up->change &&
	    same_file(s, up->frame, down->frame))
		least = fmin(least, up->file_cost);
	if (up->package_cost <= DOMAIN_MAX * up->change &&
	    same_package(s, up->frame, down->frame))
		least = fmin(least, up->package_cost);
	return least;
}

/* --- whether one makes up for the other --------------------------------------------------------- */

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
	return down->left - cost_of(s, 0, down->frame) * up->change;
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

		c[i] = (struct couple){i / nd, i % nd, domain_of(s, up, down), INFINITY};
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
		    !verdict_is_rise(flat_of(s, s->up.v[i].frame)->verdict))
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

static void free_movers(struct movers *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->v[i].v);
	free(m->v);
}

void verdicts_find_moved(struct verdicts *v, struct comparison *c)
{
	size_t n = v->nrows + 1, i;
	struct couple *couples;
	struct search s = {
		.v = v,
		.c = c,
		.net = xcalloc(verdicts_width(v) + 1, sizeof(double)),
		.which = xmalloc(n * sizeof(uint32_t)),
		.row_of = xmalloc(n * sizeof(uint32_t)),
		.total = c->total.base > 0 ? (double)c->total.base : 1,
	};

	memset(s.which, 0xff, n * sizeof(uint32_t));
	memset(s.row_of, 0xff, n * sizeof(uint32_t));
	for (i = 0; i < c->nrows; i++)
		s.row_of[c->rows[i].frame] = (uint32_t)i;
	find_movers(&s, &s.up, true);
	find_movers(&s, &s.down, false);
	s.members = xcalloc(s.down.n + 1, sizeof(*s.members));
	if (s.up.n && s.down.n) {
		for (i = 0; i < c->weights.n; i++)
			add_callers(&s, &c->weights.v[i]);
		keep_domains(&s.up);
		keep_domains(&s.down);
		find_costs(&s);
		couples = make_couples(&s);
		pair_up(&s, couples);
		pair_with_all(&s, couples);
		free(couples);
	}
	free_movers(&s.up);
	free_movers(&s.down);
	free(s.members);
	free(s.net);
	free(s.which);
	free(s.row_of);
}
