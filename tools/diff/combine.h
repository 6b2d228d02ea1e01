/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides as one profile: new samples as they are, base samples negated and marked with label
 * pprof::base = "true", so that google/pprof and everything else reads it as what its
 * -diff_base makes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/query/weights.h"
#include "tools/diff/sides.h"

enum norm {
	NORM_NONE,    /* values as they are */
	NORM_SECONDS, /* base as if it had lasted as long as new */
	NORM_SHARE,   /* base as if it had had new's total, per sample type */
	NORM_STABLE,  /* base as if most functions had cost what they cost in new */
	NORM_WORK,    /* base as if it had done as much work */
	NORM_AUTO,    /* work where it is known, else stable */
};

struct combined {
	struct profile *p; /* owned */
	double *factor;	   /* by sample type: what base was multiplied by; owned */
};

/* Neither side is a difference itself. */
int pair_is_plain(const struct pair *pair, struct err *e);

/*
 * The base is scaled, so that new numbers stay real ones. Scaling is by cumulative rounding along
 * the stacks in root-first order: every subtree of the calling tree is within 1 of exact, and
 * nothing small vanishes.
 *
 * Whatever `norm` is: gauges become means of their side's profiles, and counts of samples of a
 * base with another period are what the new side's period would have given.
 *
 * factor: what NORM_STABLE and NORM_WORK multiply the base by.
 */
int combine(struct combined *c, const struct pair *pair, enum norm norm, double factor,
	    struct err *e);
void combined_release(struct combined *c);

const char *norm_name(enum norm norm);

/* An amount that may be counted from the start of the process. */
bool type_is_cumulative(const struct profile *p, size_t column);

/* Bare counts of samples, which the sampling period multiplies. */
bool type_is_sample_count(const struct profile *p, size_t column);
