/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured once and is there twice: an interval on both sides, or more than once on one.
 * The test takes replicates for independent, which such ones are not.
 *
 * Two profiles are one interval if start, length and what was taken of them are equal; without a
 * start, nothing can be said of them. Profiles of which nothing was taken do not count.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/ui/cli.h"
#include "tools/diff/replicas.h"

struct overlap;

struct overlap *overlap_new(void);
void overlap_free(struct overlap *o);

/* A profile of a side begins, its samples, and its end. type: what is compared of it. */
void overlap_open(struct overlap *o, enum side side, const struct header *h,
		  const char *type);
void overlap_sample(struct overlap *o, uint32_t stack, uint32_t labelset,
		    const int64_t *values);
void overlap_close(struct overlap *o, bool counts);

/*
 * After reading: trouble if some intervals of a type are on both sides, unless `allowed`. All of
 * them on both is a comparison with itself, which is worth a note, as intervals twice on a side
 * are.
 */
int overlap_check(struct overlap *o, const struct cli *cli, bool allowed, struct err *e);
