/* SPDX-License-Identifier: Apache-2.0 */
/* Moments put into bins, in order of time, and what a bin's values are divided by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/render/timeline.h"

/* What a bin has of a target. */
struct bin_part {
	uint32_t target;
	int64_t wall_ns; /* what the values are spread over, > 0 */
	int64_t merged;	 /* number of profiles */
};

struct bin {
	int64_t start_ns, until_ns; /* profiles that start in [start, until) */
	int64_t wall_ns;	    /* the longest of its parts */
	int64_t merged;
	size_t first, n;      /* its moments */
	size_t parts, nparts; /* its parts, by target */
};

struct bins {
	struct bin *v;
	size_t n;
	struct bin_part *parts;
	size_t nparts, cap;
	bool windows; /* of one length, so that several profiles in a row may share one */
};

/*
 * At most `most` bins. Where profiles follow one another each has its own; else bins are the
 * windows since the epoch of the least round length that is enough and holds whole profiles, as
 * far as can be. Profiles without a time are in none.
 */
void bins_init(struct bins *b, const struct timeline_type *t, size_t most);
void bins_release(struct bins *b);
