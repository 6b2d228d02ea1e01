/* SPDX-License-Identifier: Apache-2.0 */
/* Differences of counters. */
#include "tools/merge/minus.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/query/weights.h"

static __int128 total(const struct profile *p, size_t column)
{
	__int128 sum = 0;
	size_t i;

	for (i = 0; i < p->nsamples; i++)
		sum += profile_values(p, i)[column];
	return sum;
}

static const char *find_fallen(const struct profile *p, const struct profile *base)
{
	size_t i;

	for (i = 0; i < p->h.ntypes; i++) {
		if (!type_is_gauge(p, i) && total(p, i) < total(base, i))
			return store_cstr(p->store, p->h.types[i].type);
	}
	return NULL;
}

static int take_off(struct profile *p, const struct profile *base, struct err *e)
{
	int64_t *v = xcalloc(p->h.ntypes + 1, sizeof(*v));
	size_t i, k;
	int r = 0;

	for (i = 0; i < base->nsamples && !r; i++) {
		for (k = 0; k < p->h.ntypes; k++) {
			v[k] = 0;
			if (!type_is_gauge(p, k) &&
			    __builtin_sub_overflow(0, profile_values(base, i)[k], &v[k]))
				r = err_set(e, EOVERFLOW, "a value of %s is too large",
					    store_cstr(p->store, p->h.types[k].type));
		}
		if (!r)
			r = profile_add(p, base->samples[i].stack,
					base->samples[i].labelset, v, e);
	}
	free(v);
	return r;
}

int minus(struct profile *p, const struct profile *base, const char **fell, struct err *e)
{
	const char *type = store_cstr(p->store, p->h.types[profile_default_type(p)].type);
	size_t i;
	int r = 0;

	if (p->h.duration_ns)
		return err_set(
			e, EINVAL,
			"--minus: %s is of an interval, and does not count on from "
			"an earlier profile",
			type);
	if (p->h.time_ns && p->h.time_ns < base->h.time_ns)
		return err_set(e, EINVAL, "--minus: its %s is the later one", type);
	*fell = find_fallen(p, base);
	if (p->h.time_ns && base->h.time_ns) {
		p->h.duration_ns = p->h.time_ns - base->h.time_ns;
		p->h.time_ns = base->h.time_ns;
	}
	if (*fell)
		return 0;
	r = take_off(p, base, e);
	for (i = 0; i < p->nsamples * p->h.ntypes && !r; i++) {
		if (p->values[i] < 0 && !type_is_gauge(p, i % p->h.ntypes))
			p->values[i] = 0;
	}
	profile_drop_zero(p);
	return r;
}
