/* SPDX-License-Identifier: Apache-2.0 */
/* The difference as a profile. */
#include "tools/diff/combine.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/gcd.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/order.h"

/* Exact ratio that a column of a side is multiplied by. */
struct ratio {
	unsigned __int128 num, den;
};

/* Running sum of a column, before and after rounding. */
struct running {
	unsigned __int128 exact; /* of unscaled values */
	int64_t rounded;
};

const char *norm_name(enum norm norm)
{
	static const char *const names[] = {"none",   "seconds", "share",
					    "stable", "work",	 "auto"};

	return names[norm];
}

static int already_a_diff(const struct profile *p, const char *side, struct err *e)
{
	uint32_t key = intern_find(&p->store->strings, BASE_KEY, strlen(BASE_KEY)), n, k;
	const struct label *l;
	size_t i;

	for (i = 0; i < p->nsamples * p->h.ntypes; i++) {
		if (p->values[i] < 0)
			return err_set(e, EINVAL,
				       "%s has negative values: it is a difference "
				       "already",
				       side);
	}
	for (i = 0; i < p->nsamples && key != ID_NONE; i++) {
		l = store_labels(p->store, p->samples[i].labelset, &n);
		for (k = 0; k < n; k++) {
			if (l[k].key == key)
				return err_set(e, EINVAL,
					       "%s has label " BASE_KEY
					       ": it is a difference already",
					       side);
		}
	}
	return 0;
}

int pair_is_plain(const struct pair *pair, struct err *e)
{
	int r = already_a_diff(pair->side[SIDE_BASE], "base", e);

	return r ? r : already_a_diff(pair->side[SIDE_NEW], "new", e);
}

static int column_total(const struct profile *p, size_t column, uint64_t *total,
			struct err *e)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		if (__builtin_add_overflow(sum, profile_values(p, i)[column], &sum))
			return err_set(e, EOVERFLOW,
				       "the total of %s does not fit 64 bits",
				       store_cstr(p->store, p->h.types[column].type));
	}
	*total = (uint64_t)sum;
	return 0;
}

/* r *= num / den, in lowest terms as far as these two go, so that products stay small. */
static void multiply(struct ratio *r, uint64_t num, uint64_t den)
{
	uint64_t d = gcd_u64(num, den);

	r->num *= num / d;
	r->den *= den / d;
}

bool type_is_cumulative(const struct profile *p, size_t column)
{
	const char *type = store_cstr(p->store, p->h.types[column].type);

	return !strncmp(type, "alloc_", 6) || !strcmp(type, "contentions") ||
	       !strcmp(type, "delay");
}

bool type_is_sample_count(const struct profile *p, size_t column)
{
	const struct value_type *t = &p->h.types[column];

	return !strcmp(store_cstr(p->store, t->type), "samples") &&
	       !strcmp(store_cstr(p->store, t->unit), "count");
}

/* A positive factor as a ratio of whole numbers, to 40 bits. */
static void multiply_by(struct ratio *r, double factor)
{
	uint64_t den = 1ull << 40;

	for (; den > 1 && factor * (double)den > 0x1p60; den >>= 1)
		;
	multiply(r, (uint64_t)llround(factor * (double)den), den);
}

/* What makes one side's numbers of a column comparable with the other's. */
static int find_ratios(const struct pair *pair, enum norm norm, double factor,
		       size_t column, struct ratio ratio[SIDES], struct err *e)
{
	const struct header *b = &pair->side[SIDE_BASE]->h, *n = &pair->side[SIDE_NEW]->h;
	bool gauge = type_is_gauge(pair->side[SIDE_BASE], column);
	uint64_t total[SIDES];
	int side, r;

	for (side = 0; side < SIDES; side++) {
		r = column_total(pair->side[side], column, &total[side], e);
		if (r < 0)
			return r;
		ratio[side] = (struct ratio){1, 1};
		if (gauge)
			multiply(&ratio[side], 1, pair->profiles[side]);
	}
	if (norm == NORM_SHARE) {
		if (!total[SIDE_BASE] || !total[SIDE_NEW])
			return 0;
		ratio[SIDE_BASE] = ratio[SIDE_NEW];
		multiply(&ratio[SIDE_BASE], total[SIDE_NEW], total[SIDE_BASE]);
		return 0;
	}
	if (type_is_sample_count(pair->side[SIDE_BASE], column) && b->period > 0 &&
	    n->period > 0)
		multiply(&ratio[SIDE_BASE], b->period, n->period);
	if (norm == NORM_SECONDS && !gauge) {
		if (b->duration_ns <= 0 || n->duration_ns <= 0)
			return err_set(e, EINVAL, "--norm seconds: %s has no duration",
				       b->duration_ns <= 0 ? "base" : "new");
		multiply(&ratio[SIDE_BASE], n->duration_ns, b->duration_ns);
	}
	if ((norm == NORM_STABLE || norm == NORM_WORK) && !gauge)
		multiply_by(&ratio[SIDE_BASE], factor);
	return 0;
}

/* round(sum * num / den), halves up; false when it does not fit. */
static bool scaled(unsigned __int128 sum, const struct ratio *r, int64_t *out)
{
	unsigned __int128 x, q;

	if (__builtin_mul_overflow(sum, r->num, &x) ||
	    __builtin_add_overflow(x, r->den / 2, &x))
		return false;
	q = x / r->den;
	if (q > INT64_MAX)
		return false;
	*out = (int64_t)q;
	return true;
}

/* Ranks of the names in each location, outermost first: the path of a calling tree of names. */
struct paths {
	const struct profile *p;
	struct order o;
	uint32_t *pool;
	struct seq *by_location;
	uint32_t *place; /* by sample: where its content puts it */
};

/*
 * By mapping number: all of a binary's unnamed code is one frame to a reader, whichever build
 * it is of.
 */
static uint32_t *rank_binaries(const struct profile *p, const struct order *o)
{
	uint32_t *first = xcalloc(p->store->strings.n, sizeof(*first)), file, i;
	uint32_t *rank = xcalloc(o->nmappings + 1, sizeof(*rank));

	for (i = 0; i < o->nmappings; i++) {
		file = profile_mapping(p, o->mappings[i]).file;
		if (!first[file])
			first[file] = i + 1;
		rank[i + 1] = first[file];
	}
	free(first);
	return rank;
}

static void paths_init(struct paths *x, const struct profile *p)
{
	const struct store *st = p->store;
	uint32_t *rank = xcalloc(st->nfunctions, sizeof(*rank)), next = 0, k, *binary;
	size_t i, n = 0;

	x->p = p;
	order_init(&x->o, p);
	binary = rank_binaries(p, &x->o);
	x->place = xcalloc(p->nsamples, sizeof(*x->place));
	for (i = 0; i < p->nsamples; i++)
		x->place[x->o.samples[i]] = i;
	/* functions come by name: equal names are neighbours */
	for (i = 0; i < x->o.nfunctions; i++) {
		if (i && st->functions[x->o.functions[i]].name !=
				 st->functions[x->o.functions[i - 1]].name)
			next++;
		rank[x->o.functions[i]] = next;
	}
	x->pool = xcalloc(st->nlines + st->nlocations, sizeof(*x->pool));
	x->by_location = xcalloc(st->nlocations, sizeof(*x->by_location));
	for (i = 0; i < x->o.nlocations; i++) {
		uint32_t id = x->o.locations[i];
		const struct location *l = &st->locations[id];
		const struct line *lines = store_lines(st, id);

		x->by_location[id].off = n;
		for (k = l->nlines; k; k--)
			x->pool[n++] = rank[lines[k - 1].function];
		if (!l->nlines)
			x->pool[n++] = next + 1 + binary[order_mapping(&x->o, l)];
		x->by_location[id].n = n - x->by_location[id].off;
	}
	free(rank);
	free(binary);
}

static void paths_release(struct paths *x)
{
	order_release(&x->o);
	free(x->pool);
	free(x->by_location);
	free(x->place);
}

static int cmp_path(const void *a, const void *b, void *ctx)
{
	const struct paths *x = ctx;
	const struct store *st = x->p->store;
	uint32_t sa = *(const uint32_t *)a, sb = *(const uint32_t *)b, na, nb, ia = 0,
		 ib = 0;
	const uint32_t *fa = store_frames(st, x->p->samples[sa].stack, &na);
	const uint32_t *fb = store_frames(st, x->p->samples[sb].stack, &nb);
	const struct seq *qa, *qb;

	/* a name at a time, whatever location it is in */
	while (na && nb) {
		qa = &x->by_location[fa[na - 1]];
		qb = &x->by_location[fb[nb - 1]];
		if (x->pool[qa->off + ia] != x->pool[qb->off + ib])
			return x->pool[qa->off + ia] < x->pool[qb->off + ib] ? -1 : 1;
		if (++ia == qa->n) {
			ia = 0;
			na--;
		}
		if (++ib == qb->n) {
			ib = 0;
			nb--;
		}
	}
	if (na != nb)
		return na > nb ? 1 : -1;
	return x->place[sa] < x->place[sb] ? -1 : x->place[sa] > x->place[sb];
}

/* The label set of a base sample: marked as such. */
static uint32_t base_labelset(struct store *st, uint32_t set)
{
	uint32_t n;
	struct label *labels;

	n = st->labelsets[set].n;
	labels = xcalloc(n + 1, sizeof(*labels));
	memcpy(labels, store_labels(st, set, &n), n * sizeof(*labels));
	labels[n] = (struct label){.key = store_puts(st, BASE_KEY),
				   .str = store_puts(st, "true")};
	set = store_labelset(st, labels, n + 1);
	free(labels);
	return set;
}

static bool is_one(const struct ratio *r)
{
	return r->num == r->den;
}

/* The next sample of a side: its values as the difference has them. */
static int scale_sample(const struct profile *p, size_t sample, enum side side,
			struct ratio (*ratios)[SIDES], struct running *sums,
			int64_t *values, struct err *e)
{
	int64_t now, v;
	size_t k;

	for (k = 0; k < p->h.ntypes; k++) {
		v = profile_values(p, sample)[k];
		if (!is_one(&ratios[k][side])) {
			sums[k].exact += (unsigned __int128)v;
			if (!scaled(sums[k].exact, &ratios[k][side], &now))
				return err_set(e, EOVERFLOW,
					       "the scaled sum of %s does not fit 64 "
					       "bits",
					       store_cstr(p->store, p->h.types[k].type));
			v = now - sums[k].rounded;
			sums[k].rounded = now;
		}
		values[k] = side == SIDE_BASE ? -v : v;
	}
	return 0;
}

static int add_side(struct profile *d, const struct profile *p, enum side side,
		    struct ratio (*ratios)[SIDES], struct err *e)
{
	size_t n = p->h.ntypes, i, s;
	struct running *sums = xcalloc(n, sizeof(*sums));
	int64_t *values = xcalloc(n, sizeof(*values));
	bool exact = true;
	struct paths paths;
	uint32_t set;
	int r = 0;

	for (i = 0; i < n; i++)
		exact &= is_one(&ratios[i][side]);
	if (!exact) {
		paths_init(&paths, p);
		qsort_r(paths.o.samples, p->nsamples, sizeof(uint32_t), cmp_path, &paths);
	}
	for (i = 0; i < p->nsamples && !r; i++) {
		s = exact ? i : paths.o.samples[i];
		r = scale_sample(p, s, side, ratios, sums, values, e);
		if (r < 0)
			break;
		set = p->samples[s].labelset;
		if (side == SIDE_BASE)
			set = base_labelset(d->store, set);
		r = profile_add(d, p->samples[s].stack, set, values, e);
	}
	if (!exact)
		paths_release(&paths);
	free(values);
	free(sums);
	return r;
}

static void add_extents(struct profile *d, const struct profile *side)
{
	struct mapping row;
	size_t i;

	for (i = 0; i < side->nextents; i++) {
		if (!side->extents[i].used)
			continue;
		row = profile_mapping(side, i);
		profile_extend(d, i, &row);
	}
}

/* Comments of both sides but for counters, and what the comparison was. */
static void add_comments(struct combined *c, const struct pair *pair, enum norm norm)
{
	static const char ours[] = "profpipe: ";
	struct profile *d = c->p;
	size_t i;
	int side;

	d->h.ncomments = 0;
	for (side = 0; side < SIDES; side++) {
		const struct profile *p = pair->side[side];

		for (i = 0; i < p->h.ncomments; i++) {
			const char *text = store_cstr(p->store, p->h.comments[i]);

			if (strncmp(text, ours, sizeof(ours) - 1))
				profile_comment(d, text);
		}
	}
	profile_comment_kv(d, "norm", "%s", norm_name(norm));
	profile_comment_kv(d, "base_profiles", "%zu", pair->profiles[SIDE_BASE]);
	profile_comment_kv(d, "new_profiles", "%zu", pair->profiles[SIDE_NEW]);
	profile_comment_kv(d, "base_duration_nanos", "%" PRId64,
			   pair->side[SIDE_BASE]->h.duration_ns);
}

int combine(struct combined *c, const struct pair *pair, enum norm norm, double factor,
	    struct err *e)
{
	const struct profile *base = pair->side[SIDE_BASE], *new = pair->side[SIDE_NEW];
	struct ratio(*ratios)[SIDES] = xcalloc(new->h.ntypes, sizeof(*ratios));
	size_t i;
	int r = 0;

	*c = (struct combined){.p = profile_new(new->store),
			       .factor = xcalloc(new->h.ntypes, sizeof(double))};
	header_copy(&c->p->h, &new->h);
	if (base->h.period != new->h.period)
		c->p->h.period = 0;
	for (i = 0; i < new->h.ntypes && !r; i++) {
		r = find_ratios(pair, norm, factor, i, ratios[i], e);
		c->factor[i] = (double)ratios[i][SIDE_BASE].num /
			       (double)ratios[i][SIDE_BASE].den;
	}
	if (!r)
		r = add_side(c->p, new, SIDE_NEW, ratios, e);
	if (!r)
		r = add_side(c->p, base, SIDE_BASE, ratios, e);
	/* what was rounded away */
	if (!r)
		profile_drop_zero(c->p);
	free(ratios);
	if (r < 0) {
		combined_release(c);
		return r;
	}
	add_extents(c->p, base);
	add_extents(c->p, new);
	add_comments(c, pair, norm);
	return 0;
}

void combined_release(struct combined *c)
{
	profile_free(c->p);
	free(c->factor);
	*c = (struct combined){0};
}
