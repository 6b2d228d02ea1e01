/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replicates of one compared profile type and what each is measured against (its exposure),
 * so that their rates can be compared: diff's normalization.
 *
 * Counts are values in units of one sample (value / period and so on), so that their variance
 * is known; exposures are in units of counts of the base: a rate of 1 is the base's total.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "lib/stat/qnb.h"
#include "lib/stat/sizefactor.h"
#include "tools/diff/combine.h"
#include "tools/diff/replicas.h"
#include "tools/diff/sides.h"

struct evidence_opts {
	enum norm norm;
	double work[SIDES];	      /* --work; 0: not given */
	bool work_each;		      /* --work 1: every profile did the same */
	const struct work *work_file; /* --work FILE; NULL: not given */
	bool paired;
	double assume_cv;
};

struct evidence {
	enum norm norm; /* what was used: never NORM_AUTO */
	double factor;	/* what base is multiplied by to be compared */
	struct size_factor size;
	struct replica **r[SIDES]; /* those with an exposure; array owned */
	double *exposure[SIDES];
	uint32_t *slot[SIDES]; /* with pairs */
	size_t unpaired;       /* replicates without their twin, left out */
	size_t empty;	       /* replicates without a sample, left out */
	double unit;	       /* value of one count */
	struct stat_design design;
	bool single; /* one replicate a side: nothing is known of the noise */
	bool total_assessed;
	/* of shares: one's rise may be the other one's fall, and nothing tells which */
	bool scale_unknown;
	/* all replicates of a side are of one run or host: how these differ is not known */
	bool one_source;
	/* work is counted for whole sides: how its cost differs from run to run is not known */
	bool work_of_sides;
};

int evidence_init(struct evidence *ev, struct replicas *all, const struct pair *pair,
		  size_t column, const struct evidence_opts *o, struct err *e);
void evidence_release(struct evidence *ev);
