/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where functions stand, and which of these places two have in common: the clones of one function
 * (of which rows are several with raw names, or lines), its file, its package or class, and the
 * namespaces or modules around that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/diff/verdict.h"

/* A domain that costs so many times the rise is too large to tell. */
#define DOMAIN_MAX 20
/* One with this part of all the cost is the whole program: it tells if much of it is the rise. */
#define WHOLE_SHARE 0.5
#define WHOLE_MAX 4
/* Of labels and namespaces this part is. */
#define WIDE_SHARE 0.25

struct place {
	double cost; /* flat, of all in it */
	bool wide;   /* a namespace */
};

struct places {
	struct intern keys; /* kind and name: their ids are indexes of v */
	struct place *v;
	size_t cap;
	uint32_t *pool;
	size_t npool, pool_cap;
	struct seq *by_frame;
};

void places_init(struct places *p, const struct comparison *c, const struct verdicts *v);
void places_release(struct places *p);

/*
 * A rise may be made up for within a domain that costs this much. Of what is wide, namespaces and
 * labels, only by what has fallen for certain.
 */
static inline bool is_domain(double cost, double rise, bool wide, bool certain)
{
	if (wide)
		return certain && cost <= WIDE_SHARE;
	return cost <= DOMAIN_MAX * rise &&
	       (cost <= WHOLE_SHARE || cost <= WHOLE_MAX * rise);
}

/* What the smallest place of both costs that is a domain of the rise; INFINITY: there is none. */
double places_in_common(const struct places *p, uint32_t a, uint32_t b, double rise,
			bool certain);
