/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a side must be scaled so that most items did not change: the weighted median of the
 * items' ratios (as the size factors of DESeq, Anders and Huber 2010), which a large change of a
 * few items does not move.
 */
#pragma once

#include <stddef.h>

/* Fewer well-sampled items than this say nothing about most of them. */
#define STAT_SIZE_FACTOR_MIN 20

struct size_factor {
	double factor;	  /* what the new side's exposure is multiplied by */
	double se_of_log; /* standard error of its logarithm */
	size_t used; /* items that were used; factor is 1 and se 0 below the minimum */
};

/*
 * a and b: counts by item, base and new; totals: the sides' exposures. Of items with at least 50
 * counts on both sides: log((b/total_b)/(a/total_a)), weighted by 1/(1/a + 1/b + 0.01/replicates).
 */
void stat_size_factor(struct size_factor *s, const double *a, const double *b, size_t n,
		      double total_a, double total_b, size_t replicates);
