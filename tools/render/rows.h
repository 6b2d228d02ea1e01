/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a report: each frame with its flat value (samples that end in it) and its
 * cumulative value (samples that pass through it, each once however deep the recursion), cut
 * down and sorted as google/pprof's `top` does. One row model for every format with rows.
 */
#pragma once

#include "lib/base/arena.h"
#include "lib/base/intern.h"
#include "lib/query/frames.h"
#include "lib/query/weights.h"

/* How a row's frame was called, judged by the calls that were worth keeping. */
enum inlining { INLINED_NEVER, INLINED_PARTLY, INLINED_ALWAYS };

struct row {
	uint32_t frame;
	struct str name; /* as frames_name() */
	int64_t flat, cum;
	int64_t flat_base, cum_base; /* of a difference: what the base has (>= 0) */
	enum inlining inlining;
};

struct rows_opts {
	bool by_cum;	      /* sort by cumulative value */
	size_t top;	      /* at most so many; 0 = all */
	double node_fraction; /* frames whose |cum| is below this part of the sum of flats go */
	double edge_fraction; /* and calls, for what `inlining` says */
};

struct rows {
	struct row *v;
	size_t n;
	size_t dropped;	    /* frames that were too small */
	size_t candidates;  /* frames that were not, before `top` */
	int64_t flat;	    /* sum over the rows */
	bool cut;	    /* the rows are not all frames */
	int64_t edge_least; /* calls with a smaller |value| do not count */
	uint32_t
		main_mapping; /* user mapping with the largest cumulative value, or ID_NONE */
	struct arena names;
};

int rows_init(struct rows *r, struct frames *f, const struct weights *w,
	      const struct rows_opts *o, struct err *e);
void rows_release(struct rows *r);
