/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stat/sizefactor.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"

#define COUNT_MIN 50
/* variance of a ratio between replicates beyond sampling: a coefficient of variation of 10 % */
#define RATIO_VARIANCE 0.01

struct weighted {
	double v, weight;
};

static int cmp_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->v != y->v)
		return x->v < y->v ? -1 : 1;
	return x->weight < y->weight ? -1 : x->weight > y->weight;
}

static double weighted_median(struct weighted *w, size_t n, double sum)
{
	double acc = 0;
	size_t i;

	qsort(w, n, sizeof(*w), cmp_value);
	for (i = 0; i + 1 < n; i++) {
		acc += w[i].weight;
		if (acc >= sum / 2)
			break;
	}
	return w[i].v;
}

void stat_size_factor(struct size_factor *s, const double *a, const double *b, size_t n,
		      double total_a, double total_b, size_t replicates)
{
	struct weighted *w = xcalloc(n + 1, sizeof(*w));
	double sum = 0, squares = 0, median, spread;
	size_t used = 0, i;

	for (i = 0; i < n; i++) {
		if (a[i] < COUNT_MIN || b[i] < COUNT_MIN)
			continue;
		w[used].v = log((b[i] / total_b) / (a[i] / total_a));
		w[used].weight =
			1 / (1 / a[i] + 1 / b[i] + RATIO_VARIANCE / (double)replicates);
		sum += w[used].weight;
		squares += w[used].weight * w[used].weight;
		used++;
	}
	*s = (struct size_factor){.factor = 1, .used = used};
	if (used >= STAT_SIZE_FACTOR_MIN) {
		median = weighted_median(w, used, sum);
		for (i = 0; i < used; i++)
			w[i].v = fabs(w[i].v - median);
		/* of a normal variable: 1.4826 times the median deviation is the standard
		 * one, and a median is 1.2533 times as uncertain as a mean */
		spread = 1.4826 * weighted_median(w, used, sum);
		s->factor = exp(median);
		s->se_of_log = 1.2533 * spread / sqrt(sum * sum / squares);
	}
	free(w);
}
