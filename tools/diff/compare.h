/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sample type of a difference, function by function: what every report and gate is made
 * from. A function is known by its name (or file:line and so on, as --granularity says).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/query/frames.h"
#include "lib/query/weights.h"
#include "tools/diff/sides.h"

struct amount {
	int64_t base, new; /* both >= 0 */
};

enum row_status { STATUS_BOTH, STATUS_NEW, STATUS_GONE };

struct diff_row {
	uint32_t frame;
	struct str name;
	struct amount flat, cum;
	bool in_base, in_new; /* also where scaling has left nothing of it */
	bool joined;	      /* into another one: not to be shown */
	struct str was;	      /* its name in the base, where that is another one */
};

/* One of several functions that are one row. */
struct folded {
	uint32_t into; /* frame */
	struct str name;
};

struct comparison_opts {
	enum granularity granularity;
};

struct comparison {
	const struct profile *p;
	size_t column;
	struct frames frames;
	struct weights weights;
	struct amount total;
	struct diff_row *rows; /* largest change first: flat or cumulative, then name */
	size_t nrows, rows_cap;
	uint32_t *alias; /* by frame: the frame that it is counted as */
	struct folded *folded;
	size_t nfolded, folded_cap;
	struct arena names;
	double matched[2]; /* share of each side's flat cost in functions of both sides */
	struct amount unnamed;	 /* flat cost in code without names */
	double unnamed_share[2]; /* of each side's total */
};

/* Rows are by frame until they are put in order. */
int comparison_init(struct comparison *c, const struct pair *pair,
		    const struct profile *diff, size_t column,
		    const struct comparison_opts *o, struct err *e);
/* A function that is there under two names: the base's row goes into the new one's. */
void comparison_join(struct comparison *c, uint32_t base_frame, uint32_t new_frame);
/*
 * Functions that are one, as c->alias has it; names: of the rows that others are folded into, by
 * frame (p NULL: nothing is).
 */
void comparison_fold(struct comparison *c, const struct str *names);
/* The function that a stack ended in; ID_NONE for an empty one. */
uint32_t comparison_leaf(struct comparison *c, uint32_t stack);
/* Add up what reports are about, and put the largest change first. */
void comparison_sort(struct comparison *c, bool by_cum);
void comparison_release(struct comparison *c);

static inline enum row_status row_status(const struct diff_row *r)
{
	return !r->in_base ? STATUS_NEW : !r->in_new ? STATUS_GONE : STATUS_BOTH;
}

const char *status_name(enum row_status s);
