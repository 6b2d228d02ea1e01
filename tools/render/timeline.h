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
#define TARGET_NONE UINT32_MAX

/*
 * Of a moment, the profiles of one target: a machine, a service's instance. While a stream is
 * read, `set` is the label set that all samples of a profile have in common.
 */
struct share {
	uint32_t set; /* label set of the store; TARGET_NONE: profiles without samples */
	uint32_t target;	  /* in `targets`, or TARGET_NONE; after timeline_end() */
	int64_t first_ns, end_ns; /* least start; greatest start + duration */
	int64_t duration_ns;	  /* sum; INT64_MAX when it does not fit */
	int64_t profiles;
	int64_t merged; /* number of profiles, those that were merged before too */
};

/* Profiles that start together, or within one step. */
struct moment {
	int64_t step;		  /* number of the step since the epoch */
	int64_t first_ns, end_ns; /* of all shares */
	struct share *shares;
	size_t nshares, shares_cap;
	struct profile *p; /* samples alone; its header has the types */
};

/*
 * Keys that every profile of a type has, each with one value in all its samples, and their
 * values: what tells the machines and instances apart that a stream is of.
 */
struct targets {
	uint32_t *keys; /* string ids */
	size_t nkeys;
	uint32_t *sets; /* label sets of these keys, by number */
	size_t n;
};

struct timeline_type {
	struct header h;  /* period type and types count, the rest does not */
	struct moment *v; /* by step */
	size_t n, cap;
	struct moment
		timeless; /* profiles that do not say when they start; p NULL: none */
	int shift;	  /* a step is 2^shift ns */
	struct targets targets; /* after timeline_end() */
};

struct timeline {
	struct timeline_type *types;
	size_t n, cap;
	struct moment *now; /* where samples go; NULL: no profile has begun */
	struct store *st;
	struct share share; /* of this profile */
	uint32_t seen;	    /* label set of the sample before */
	struct err err;	    /* the first thing that went wrong */
	int status;
};

void timeline_init(struct timeline *t);
void timeline_release(struct timeline *t);

/* The profile of which the next samples are. h is as it goes to the merger. */
void timeline_begin(struct timeline *t, struct store *st, const struct header *h);
void timeline_sample(struct timeline *t, uint32_t stack, uint32_t labelset,
		     const int64_t *values);

/* After the last sample: ends its profile and finds the targets of all. */
void timeline_end(struct timeline *t);

/* Negative if a sum did not fit. */
int timeline_status(const struct timeline *t, struct err *e);

/* What was read of this type; NULL if nothing was. */
const struct timeline_type *timeline_find(const struct timeline *t,
					  const struct header *h);

/* profile_root_by() for all that was read. */
int timeline_root_by(struct timeline *t, char *const *keys, size_t n, struct err *e);
