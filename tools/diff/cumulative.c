/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of consecutive profiles. */
#include "tools/diff/cumulative.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/merge.h"
#include "lib/pprof/model.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/writer.h"
#include "tools/diff/combine.h"

struct series {
	enum side side;
	struct profile *last;
};

struct cumulative {
	struct store *st;
	struct series *v;
	size_t n, cap;
};

struct cumulative *cumulative_new(void)
{
	struct cumulative *c = xcalloc(1, sizeof(*c));

	c->st = store_new(STORE_MERGED);
	return c;
}

void cumulative_free(struct cumulative *c)
{
	if (!c)
		return;
	while (c->n)
		profile_free(c->v[--c->n].last);
	free(c->v);
	store_free(c->st);
	free(c);
}

static bool grows(const struct profile *p)
{
	size_t i;

	for (i = 0; i < p->h.ntypes; i++) {
		if (type_is_cumulative(p, i))
			return p->h.duration_ns == 0;
	}
	return false;
}

static struct series *series_of(struct cumulative *c, enum side side,
				const struct profile *p)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].side == side && header_same_type(&c->v[i].last->h, &p->h))
			return &c->v[i];
	}
	return NULL;
}

static double total_of(const struct profile *p, size_t column)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < p->nsamples; i++)
		sum += (double)profile_values(p, i)[column];
	return sum;
}

/* That the later one can be the same counters, later. */
static int check_order(const struct profile *last, const struct profile *p, struct err *e)
{
	double before, after;
	size_t i;

	if (p->h.time_ns < last->h.time_ns)
		return err_set(e, EINVAL,
			       "--delta: this profile is of an earlier time than the one "
			       "before it");
	for (i = 0; i < p->h.ntypes; i++) {
		if (!type_is_cumulative(p, i))
			continue;
		before = total_of(last, i);
		after = total_of(p, i);
		if (after < before)
			return err_set(
				e, EINVAL,
				"--delta: %s falls from %.0f to %.0f: not the same "
				"process, or it has started anew",
				store_cstr(p->store, p->h.types[i].type), before, after);
	}
	return 0;
}

/* Add a profile: all of it, or less its counters. */
static int add(struct profile *d, const struct profile *p, bool negative, struct err *e)
{
	int64_t *v = xcalloc(p->h.ntypes + 1, sizeof(*v));
	const int64_t *of;
	size_t i, k;
	int r = 0;

	for (i = 0; i < p->nsamples && !r; i++) {
		of = profile_values(p, i);
		for (k = 0; k < p->h.ntypes; k++) {
			v[k] = of[k];
			if (!negative)
				continue;
			v[k] = type_is_cumulative(p, k) && of[k] != INT64_MIN ? -of[k]
									      : 0;
		}
		r = profile_add(d, p->samples[i].stack, p->samples[i].labelset, v, e);
	}
	free(v);
	return r;
}

static int difference(const struct profile *last, const struct profile *p,
		      struct profile *d, struct err *e)
{
	struct mapping m;
	size_t i, k;
	int r;

	header_copy(&d->h, &p->h);
	if (last->h.time_ns && p->h.time_ns) {
		d->h.time_ns = last->h.time_ns;
		d->h.duration_ns = p->h.time_ns - last->h.time_ns;
	}
	r = add(d, p, false, e);
	if (!r)
		r = add(d, last, true, e);
	/* what a heap is thought to be by its samples may fall by a rounding */
	for (i = 0; i < d->nsamples && !r; i++) {
		for (k = 0; k < d->h.ntypes; k++) {
			if (d->values[i * d->h.ntypes + k] < 0 &&
			    type_is_cumulative(d, k))
				d->values[i * d->h.ntypes + k] = 0;
		}
	}
	for (i = 0; i < p->nextents; i++) {
		if (!p->extents[i].used)
			continue;
		m = profile_mapping(p, (uint32_t)i);
		profile_extend(d, (uint32_t)i, &m);
	}
	profile_drop_zero(d);
	return r;
}

int cumulative_step(struct cumulative *c, enum side side, const uint8_t **msg, size_t *n,
		    struct buf *out, struct err *e)
{
	struct profile *p, *d;
	struct series *s;
	int r = profile_decode(c->st, *msg, *n, &p, e);

	if (r < 0)
		return r;
	if (!grows(p)) {
		profile_free(p);
		return 0;
	}
	*n = 0;
	s = series_of(c, side, p);
	if (!s) {
		XGROW(c->v, c->n, c->cap);
		c->v[c->n++] = (struct series){side, p};
		return 0;
	}
	r = check_order(s->last, p, e);
	if (r < 0) {
		profile_free(p);
		return r;
	}
	d = profile_new(c->st);
	r = difference(s->last, p, d, e);
	buf_clear(out);
	if (!r)
		r = profile_encode(d, out, e);
	*msg = out->data;
	*n = out->len;
	profile_free(d);
	profile_free(s->last);
	s->last = p;
	return r;
}
