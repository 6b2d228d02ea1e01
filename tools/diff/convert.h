/* SPDX-License-Identifier: Apache-2.0 */
/* Profile types that differ in their units only: times by times, sizes by sizes. */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "tools/diff/replicas.h"
#include "tools/diff/sides.h"

/* Whether the values of one are those of the other, times whole numbers or through them. */
bool convert_fits(const struct profile *a, const struct profile *b);

/*
 * Give both sides, and their replicates, the finer unit of each sample type and of the period, so
 * that nothing is rounded. -EOVERFLOW: a value does not fit.
 */
int convert_units(struct pair *pair, struct replicas *all, struct err *e);
