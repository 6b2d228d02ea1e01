/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When samples were: a stream's samples, kept apart by profile type and time while it is read,
 * next to the merger that adds them all up.
 *
 * A profile stands where it starts. Starts are told apart to the nanosecond at first; when a
 * type has more than TIMELINE_MOMENTS of them, all are rounded down to a step twice as long,
 * and so on. So memory is bound by distinct content, and the order of a stream does not show.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

#define TIMELINE_MOMENTS 2048

/* Profiles that start together, or within one step. */
struct moment {
	int64_t step;		  /* number of the step since the epoch */
	int64_t first_ns, end_ns; /* least start; greatest start + duration */
	int64_t duration_ns;	  /* sum; INT64_MAX when it does not fit */
	int64_t merged;	   /* number of profiles, those that were merged before too */
	struct profile *p; /* samples alone; its header has the types */
};

struct timeline_type {
	struct header h;  /* period type and types count, the rest does not */
	struct moment *v; /* by step */
	size_t n, cap;
	struct moment
		timeless; /* profiles that do not say when they start; p NULL: none */
	int shift;	  /* a step is 2^shift ns */
};

struct timeline {
	struct timeline_type *types;
	size_t n, cap;
	struct moment *now; /* where samples go */
	struct err err;	    /* the first thing that went wrong */
	int status;
};

void timeline_init(struct timeline *t);
void timeline_release(struct timeline *t);

/* The profile of which the next samples are. h is as it goes to the merger. */
void timeline_begin(struct timeline *t, struct store *st, const struct header *h);
void timeline_sample(struct timeline *t, uint32_t stack, uint32_t labelset,
		     const int64_t *values);

/* Negative if a sum did not fit. */
int timeline_status(const struct timeline *t, struct err *e);

/* What was read of this type; NULL if nothing was. */
const struct timeline_type *timeline_find(const struct timeline *t,
					  const struct header *h);

/* profile_root_by() for all that was read. */
int timeline_root_by(struct timeline *t, char *const *keys, size_t n, struct err *e);

/*
 * Moments put into at most `most` bins, in order of time. Where profiles follow one another
 * each has its own bin; else bins are the windows since the epoch of the least round length
 * that is enough and holds whole profiles, as far as can be. Profiles without a time are in
 * none.
 */
struct bin {
	int64_t start_ns, until_ns; /* profiles that start in [start, until) */
	int64_t wall_ns;	    /* what their values are spread over, > 0 */
	int64_t merged;
	size_t first, n; /* its moments */
};

struct bins {
	struct bin *v;
	size_t n;
	bool windows; /* of one length, so that several profiles in a row may share one */
};

void bins_init(struct bins *b, const struct timeline_type *t, size_t most);
void bins_release(struct bins *b);
