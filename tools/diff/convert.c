/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/convert.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/ui/units.h"

/* How many of the unit `to` one of `from` is; 0: no whole number, or no number at all. */
static int64_t factor(const struct store *st, uint32_t from, uint32_t to)
{
	static const char *const kinds[] = {"ns", "B"};
	const char *f = store_cstr(st, from), *t = store_cstr(st, to), *unit;
	double n;
	size_t i;

	if (from == to)
		return 1;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!units_fit(f, kinds[i]) || !units_fit(t, kinds[i]))
			continue;
		n = units_scale(1, f, kinds[i], &unit) /
		    units_scale(1, t, kinds[i], &unit);
		if (n >= 1 && n < 1e18 && n == floor(n))
			return (int64_t)n;
	}
	return 0;
}

static bool unit_fits(const struct store *st, const struct value_type *a,
		      const struct value_type *b)
{
	return a->type == b->type &&
	       (factor(st, a->unit, b->unit) || factor(st, b->unit, a->unit));
}

bool convert_fits(const struct profile *a, const struct profile *b)
{
	const struct header *x = &a->h, *y = &b->h;
	size_t i;

	if (x->ntypes != y->ntypes || x->drop_frames != y->drop_frames ||
	    x->keep_frames != y->keep_frames ||
	    !unit_fits(a->store, &x->period_type, &y->period_type))
		return false;
	for (i = 0; i < x->ntypes; i++) {
		if (!unit_fits(a->store, &x->types[i], &y->types[i]))
			return false;
	}
	return true;
}

static int multiply_column(struct profile *p, size_t column, int64_t by)
{
	int64_t *v = p->values + column;
	size_t i;

	for (i = 0; i < p->nsamples; i++, v += p->h.ntypes) {
		if (__builtin_mul_overflow(*v, by, v))
			return -EOVERFLOW;
	}
	return 0;
}

/* This side's units to the other's, where these are finer. */
static int refine(struct profile *p, const struct header *other, int64_t *by)
{
	struct header *h = &p->h;
	int64_t f;
	size_t i;
	int r = 0;

	for (i = 0; i < h->ntypes && !r; i++) {
		by[i] = 1;
		f = factor(p->store, h->types[i].unit, other->types[i].unit);
		if (!f)
			continue;
		by[i] = f;
		h->types[i].unit = other->types[i].unit;
		r = multiply_column(p, i, f);
	}
	f = factor(p->store, h->period_type.unit, other->period_type.unit);
	if (f && !r) {
		h->period_type.unit = other->period_type.unit;
		if (__builtin_mul_overflow(h->period, f, &h->period))
			r = -EOVERFLOW;
	}
	return r;
}

int convert_units(struct pair *pair, struct replicas *all, struct err *e)
{
	size_t n = pair->side[SIDE_BASE]->h.ntypes;
	int64_t *by = xcalloc(n + 1, sizeof(*by));
	struct header was;
	int side, r = 0;

	for (side = 0; side < SIDES && !r; side++) {
		struct profile *p = pair->side[side];

		header_copy(&was, &p->h);
		r = refine(p, &pair->side[!side]->h, by);
		if (!r)
			replicas_convert(all, side, &was, &p->h, by);
		header_release(&was);
	}
	free(by);
	return r ? err_set(e, -r,
			   "values do not fit 64 bits in the finer unit of the two "
			   "sides")
		 : 0;
}
