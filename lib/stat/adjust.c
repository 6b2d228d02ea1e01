/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stat/adjust.h"

#include <stdlib.h>

#include "lib/base/xalloc.h"

struct ranked {
	double p;
	size_t at;
};

static int cmp_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void stat_bh(const double *p, size_t n, double *q)
{
	struct ranked *r = xcalloc(n + 1, sizeof(*r));
	double least = 1, v;
	size_t i;

	for (i = 0; i < n; i++)
		r[i] = (struct ranked){p[i], i};
	qsort(r, n, sizeof(*r), cmp_p);
	for (i = n; i--;) {
		v = r[i].p * (double)n / (double)(i + 1);
		if (v < least)
			least = v;
		q[r[i].at] = least;
	}
	free(r);
}
