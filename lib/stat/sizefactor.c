/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/stat/sizefactor.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"

#define COUNT_MIN 50
/* variance of a ratio between replicates beyond sampling: a coefficient of variation of 10 % */
#define RATIO_VARIANCE 0.01
/* Where a second costs the same on both sides, as all of a CPU does, it is the total again. */
#define TIME_TELLS_MIN 0.05
/* The part of a few that must agree. */
#define AGREE_FEW 0.6

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

/* The value that this part of the weight is not above. */
static double weighted_quantile(struct weighted *w, size_t n, double part)
{
	double sum = 0, acc = 0;
	size_t i;

	qsort(w, n, sizeof(*w), cmp_value);
	for (i = 0; i < n; i++)
		sum += w[i].weight;
	for (i = 0; i + 1 < n; i++) {
		acc += w[i].weight;
		if (acc >= sum * part)
			break;
	}
	return w[i].v;
}

static void find_factor(struct size_factor *s, struct weighted *w, size_t n, double part)
{
	double median = weighted_quantile(w, n, 0.5), sum = 0, squares = 0, spread;
	size_t i;

	for (i = 0; i < n; i++) {
		w[i].v = fabs(w[i].v - median);
		sum += w[i].weight;
		squares += w[i].weight * w[i].weight;
	}
	/* of a normal variable: 1.4826 times the median deviation is the standard one, and a
	 * median is 1.2533 times as uncertain as a mean */
	spread = 1.4826 * weighted_quantile(w, n, part);
	s->factor = exp(median);
	s->se_of_log = 1.2533 * spread / sqrt(sum * sum / squares);
	/* few that agree by chance are no better known than by what they weigh */
	if (n < STAT_SIZE_FACTOR_MANY)
		s->se_of_log = fmax(s->se_of_log, 1.2533 / sqrt(sum));
}

static double log_time(const struct size_side *a, const struct size_side *b)
{
	return log((b->seconds / b->total) / (a->seconds / a->total));
}

static bool time_tells(const struct size_side *a, const struct size_side *b)
{
	return a->seconds > 0 && b->seconds > 0 && fabs(log_time(a, b)) > TIME_TELLS_MIN;
}

void stat_size_factor(struct size_factor *s, const struct size_side *a,
		      const struct size_side *b, size_t n, size_t replicates)
{
	struct weighted *w = xcalloc(n + 1, sizeof(*w));
	double own = RATIO_VARIANCE / (double)replicates, x, y;
	size_t used = 0, i;

	for (i = 0; i < n; i++) {
		x = a->counts[i];
		y = b->counts[i];
		if (x < COUNT_MIN || y < COUNT_MIN)
			continue;
		w[used++] = (struct weighted){log((y / b->total) / (x / a->total)),
					      1 / (1 / x + 1 / y + own)};
	}
	if (used < STAT_SIZE_FACTOR_MANY && time_tells(a, b))
		w[used++] = (struct weighted){log_time(a, b), 1 / own};
	*s = (struct size_factor){.factor = 1, .used = used};
	if (used >= STAT_SIZE_FACTOR_MIN)
		find_factor(s, w, used, used < STAT_SIZE_FACTOR_MANY ? AGREE_FEW : 0.5);
	free(w);
}
