/* SPDX-License-Identifier: Apache-2.0 */
/* Results multiplied: by a factor, to the mean of the profiles in them, to one second. */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

struct ratio {
	uint64_t num, den; /* both > 0; num 0: no factor */
};

/* "0.25", "3", "1/60": at most nine digits a number. */
int ratio_parse(const char *text, struct ratio *out);

enum scale_to { SCALE_TO_SUM, SCALE_TO_MEAN, SCALE_TO_SECOND };

/*
 * Multiply all values, and the duration with SCALE_TO_MEAN and SCALE_TO_SECOND. Whole numbers
 * come out of it whose sum over all samples is the exact product, rounded; and since samples are
 * rounded in the order of their stacks, root first, so is the sum of every subtree, to 1.
 * Samples that come to nothing go.
 */
int scale(struct profile *p, struct ratio by, enum scale_to to, struct err *e);
