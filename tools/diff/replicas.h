/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each side was measured from, kept apart: intervals, files, hosts or values of a label.
 * How much they differ among themselves is what a change has to be larger than.
 *
 * Memory: 8 bytes for each distinct stack of each replicate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "tools/diff/labels.h"
#include "tools/diff/work.h"

enum group_kind {
	GROUP_PROFILE, /* every profile by itself: the intervals of a stream */
	GROUP_FILE,
	GROUP_HOST,  /* by label host, node, or the comment that prof-capture leaves */
	GROUP_LABEL, /* by the value of a label */
	GROUP_TIME,  /* by window of time */
};

struct grouping {
	enum group_kind kind;
	const char *label; /* GROUP_LABEL */
	int64_t window_ns; /* GROUP_TIME */
};

/* "profile", "file", "host", "time:DURATION", "label:KEY" or KEY alone. */
int grouping_parse(const char *text, struct grouping *g, struct err *e);

/* Part of a replicate's cost: a stack, and the sum of its values. */
struct cost {
	uint32_t stack;
	float value;
};

#define SOURCE_MANY (ID_NONE - 1)

struct replica {
	enum side side;
	uint32_t type; /* which profile type; index of replicas.types */
	uint32_t name; /* string id */
	uint32_t
		source; /* string id of its run or host; ID_NONE: not known; or SOURCE_MANY */
	size_t profiles; /* how many it was made of */
	int64_t time_ns, duration_ns;
	double total;	 /* sum of values */
	double work;	 /* units of work done, where a file of counts says so; else 0 */
	double *watched; /* by watched label: sum of values */
	double *groups;	 /* the same by label group, as far as they go */
	size_t ngroups;
	struct cost *costs;
	size_t ncosts, costs_cap, tidy_at;
	uint64_t last_message;
};

/* Labels that gates speak of. */
struct watched_label {
	const char *key, *value;
};

struct replicas;

/* work: counts by file; NULL without. All outlive it. */
struct replicas *replicas_new(const struct grouping *by, const struct work *work,
			      const struct watched_label *watched, size_t nwatched,
			      struct label_groups *groups);
void replicas_free(struct replicas *r);

/* A profile begins: of this type and side, its values in this column, from this place. */
void replicas_open(struct replicas *r, enum side side, struct store *st,
		   const struct header *h, size_t column, const char *place);
void replicas_add(struct replicas *r, uint32_t stack, uint32_t labelset,
		  const int64_t *values);
/* counts false: it is to count for nothing. */
void replicas_close(struct replicas *r, bool counts);

/*
 * The replicates of a side that have the type of h; in order of appearance. The array is
 * allocated. *column is where their values came from; with several that do not agree -1.
 */
struct replica **replicas_of(struct replicas *r, enum side side, const struct header *h,
			     size_t *n, int *column);

/*
 * The replicates of a side that have the type of `was` get that of `now`, their values times
 * by[column].
 */
void replicas_convert(struct replicas *r, enum side side, const struct header *was,
		      const struct header *now, const int64_t *by);
