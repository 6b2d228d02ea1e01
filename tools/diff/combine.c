/* SPDX-License-Identifier: Apache-2.0 */
/* The difference as a profile. */
#include "tools/diff/combine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/order.h"

#define BASE_KEY "pprof::base"

/* Exact ratio that a column of the base is multiplied by. */
struct ratio {
	uint64_t num, den;
};

/* Running sum of a column, before and after rounding. */
struct running {
	unsigned __int128 exact; /* of unscaled values */
	int64_t rounded;
};

const char *norm_name(enum norm norm)
{
	static const char *const names[] = {"none", "seconds", "share"};

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
	*total = sum;
	return 0;
}

static int find_ratio(const struct pair *pair, enum norm norm, size_t column,
		      struct ratio *r, struct err *e)
{
	const struct header *b = &pair->side[SIDE_BASE]->h, *n = &pair->side[SIDE_NEW]->h;
	uint64_t base, new;
	int ret;

	*r = (struct ratio){1, 1};
	ret = column_total(pair->side[SIDE_BASE], column, &base, e);
	if (!ret)
		ret = column_total(pair->side[SIDE_NEW], column, &new, e);
	if (ret < 0 || norm == NORM_NONE)
		return ret;
	if (norm == NORM_SECONDS) {
		if (b->duration_ns <= 0 || n->duration_ns <= 0)
			return err_set(e, EINVAL, "--norm seconds: %s has no duration",
				       b->duration_ns <= 0 ? "base" : "new");
		*r = (struct ratio){n->duration_ns, b->duration_ns};
	} else if (base && new) {
		*r = (struct ratio){new, base};
	}
	return 0;
}

/* round(sum * num / den), halves up; false when it does not fit. */
static bool scaled(unsigned __int128 sum, const struct ratio *r, int64_t *out)
{
	unsigned __int128 x, q;

	if (__builtin_mul_overflow(sum, (unsigned __int128)r->num, &x) ||
	    __builtin_add_overflow(x, (unsigned __int128)(r->den / 2), &x))
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
};

static void paths_init(struct paths *x, const struct profile *p)
{
	const struct store *st = p->store;
	uint32_t *rank = xcalloc(st->nfunctions, sizeof(*rank)), next = 0, k;
	size_t i, n = 0;

	x->p = p;
	order_init(&x->o, p);
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
		if (!l->nlines) /* all of a binary's are one frame to a reader */
			x->pool[n++] = next + 1 + order_mapping(&x->o, l);
		x->by_location[id].n = n - x->by_location[id].off;
	}
	free(rank);
}

static void paths_release(struct paths *x)
{
	order_release(&x->o);
	free(x->pool);
	free(x->by_location);
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
	return (na > nb) - (na < nb);
}

static int add_base(struct profile *d, const struct profile *base,
		    const struct ratio *ratios, struct err *e)
{
	size_t n = base->h.ntypes, i, k, s;
	struct running *sums = xcalloc(n, sizeof(*sums));
	int64_t *values = xcalloc(n, sizeof(*values)), now;
	struct store *st = d->store;
	struct label *labels = NULL;
	size_t cap = 0;
	struct paths paths;
	uint32_t nlabels;
	int r = 0;

	paths_init(&paths, base);
	/* stable, so that what is equal stays in the order of content */
	qsort_r(paths.o.samples, base->nsamples, sizeof(uint32_t), cmp_path, &paths);
	for (i = 0; i < base->nsamples && !r; i++) {
		s = paths.o.samples[i];
		for (k = 0; k < n; k++) {
			sums[k].exact += profile_values(base, s)[k];
			if (!scaled(sums[k].exact, &ratios[k], &now)) {
				r = err_set(e, EOVERFLOW,
					    "the scaled sum of %s does not fit 64 bits",
					    store_cstr(st, base->h.types[k].type));
				break;
			}
			values[k] = sums[k].rounded - now;
			sums[k].rounded = now;
		}
		if (r)
			break;
		nlabels = st->labelsets[base->samples[s].labelset].n;
		XRESERVE(labels, cap, nlabels + 1);
		memcpy(labels, store_labels(st, base->samples[s].labelset, &nlabels),
		       nlabels * sizeof(*labels));
		labels[nlabels] = (struct label){.key = store_puts(st, BASE_KEY),
						 .str = store_puts(st, "true")};
		r = profile_add(d, base->samples[s].stack,
				store_labelset(st, labels, nlabels + 1), values, e);
	}
	paths_release(&paths);
	free(labels);
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

int combine(struct combined *c, const struct pair *pair, enum norm norm, struct err *e)
{
	const struct profile *base = pair->side[SIDE_BASE], *new = pair->side[SIDE_NEW];
	struct ratio *ratios = xcalloc(new->h.ntypes, sizeof(*ratios));
	size_t i;
	int r;

	*c = (struct combined){.p = profile_new(new->store),
			       .factor = xcalloc(new->h.ntypes, sizeof(double))};
	header_copy(&c->p->h, &new->h);
	if (base->h.period != new->h.period)
		c->p->h.period = 0;
	r = already_a_diff(base, "base", e);
	if (!r)
		r = already_a_diff(new, "new", e);
	for (i = 0; i < new->h.ntypes && !r; i++) {
		r = find_ratio(pair, norm, i, &ratios[i], e);
		c->factor[i] = (double)ratios[i].num /
			       (double)(ratios[i].den ? ratios[i].den : 1);
	}
	for (i = 0; i < new->nsamples && !r; i++)
		r = profile_add(c->p, new->samples[i].stack, new->samples[i].labelset,
				profile_values(new, i), e);
	if (!r)
		r = add_base(c->p, base, ratios, e);
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
