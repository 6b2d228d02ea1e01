/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding profiles up: one result per profile type and time window.
 *
 * The rules are DESIGN's: types are equal when period type, the ordered list of (type, unit)
 * and drop/keep frames are equal; time is the least non-zero one, durations add, an unequal
 * period gives 0, counters in "profpipe: KEY=N" comments add (COUNTERS in merge.c), other
 * comments unite sorted; all-zero samples are dropped. Associative, commutative, deterministic.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/pprof/reader.h"

struct merge_opts {
	/* drop_zero is set by the merger; with `times` all counts as if it came so often */
	struct sample_hooks hooks;
	/*
	 * Called with each profile's header before its samples are read: 1 = take, 0 = leave
	 * out. May change default_type and time of `h` (a copy). NULL takes all.
	 */
	int (*take)(void *ctx, struct store *st, struct header *h);
	/*
	 * Called after its samples were read: false when the hooks have kept none, and the
	 * profile is to count for nothing (time, duration, comments). NULL: all count.
	 */
	bool (*counts)(void *ctx);
	void *ctx;
	bool headers_only; /* take() looks at all and takes none: samples are not decoded */
	uint64_t max_size; /* of one message, as for reader_new() */
	int64_t window_ns; /* > 0: one result per window since the epoch; 0: one over all time */
};

struct merger;
struct message;

struct merger *merger_new(const struct merge_opts *o);
void merger_free(struct merger *m); /* with the store and all results */
struct store *merger_store(struct merger *m);

/* Add one message. After -EOVERFLOW the merger is good only for freeing. */
int merger_add(struct merger *m, const uint8_t *msg, size_t n, struct err *e);

/*
 * The same into results of their own for each `split`, chosen by these options (hooks, take, ctx)
 * instead of the merger's. merger_add() is split 0.
 */
int merger_add_split(struct merger *m, uint32_t split, const struct merge_opts *o,
		     const uint8_t *msg, size_t n, struct err *e);

/* The same of a message that is decoded (source_message()). */
int merger_add_decoded(struct merger *m, uint32_t split, const struct merge_opts *o,
		       struct message *msg, struct err *e);

/* The results ordered by time (window start, else least time), type, split. Owned by m. */
struct profile **merger_results(struct merger *m, size_t *n);
uint32_t merger_split(const struct merger *m, size_t result);

/* True when two profiles of one store have the same profile type. */
bool header_same_type(const struct header *a, const struct header *b);
