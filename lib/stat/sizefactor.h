/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a side must be scaled so that most items did not change: the weighted median of the
 * items' ratios (as the size factors of DESeq, Anders and Huber 2010), which a large change of a
 * few items does not move.
 *
 * Of few items a median may be one that changed. Then the time that a side lasted is one more (as
 * if its cost were measured without error), unless its ratio is that of the totals, and the
 * factor is as uncertain as the ratio that three fifths of them, not half, are closer to it than.
 */
#pragma once

#include <stddef.h>

/* Fewer well-sampled items than this are few. */
#define STAT_SIZE_FACTOR_MANY 20
/* Fewer, with the time, say nothing of most of them. */
#define STAT_SIZE_FACTOR_MIN 3

struct size_factor {
	double factor;	  /* what the new side's exposure is multiplied by */
	double se_of_log; /* standard error of its logarithm */
	size_t used; /* items that were used; factor is 1 and se 0 below the minimum */
};

/* What the items of one side add up to. */
struct size_side {
	const double *counts; /* by item */
	double total;	      /* exposure */
	double seconds;	      /* in any unit; 0: not known */
};

/*
 * a, b: base and new. Of items with at least 50 counts on both sides: log((b/total_b)/(a/total_a)),
 * weighted by 1/(1/a + 1/b + 0.01/replicates).
 */
void stat_size_factor(struct size_factor *s, const struct size_side *a,
		      const struct size_side *b, size_t n, size_t replicates);
