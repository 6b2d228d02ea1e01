/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sample type of a difference, function by function: what every report and gate is made
 * from. A function is known by its name (or file:line and so on, as --granularity says).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/query/frames.h"
#include "lib/query/weights.h"

struct amount {
	int64_t base, new; /* both >= 0 */
};

enum row_status { STATUS_BOTH, STATUS_NEW, STATUS_GONE };

struct diff_row {
	uint32_t frame;
	struct str name;
	struct amount flat, cum;
};

struct comparison {
	const struct profile *p;
	size_t column;
	struct frames frames;
	struct weights weights;
	struct amount total;
	struct diff_row *rows; /* largest change first: flat or cumulative, then name */
	size_t nrows, rows_cap;
	struct arena names;
	double matched; /* share of the smaller side's flat cost in functions of both, 0..1 */
	double unnamed
		[2]; /* share of each side's flat cost in frames without a function */
};

int comparison_init(struct comparison *c, struct query *q, const struct profile *diff,
		    size_t column, bool by_cum, struct err *e);
void comparison_release(struct comparison *c);

static inline enum row_status row_status(const struct diff_row *r)
{
	return !r->cum.base ? STATUS_NEW : !r->cum.new ? STATUS_GONE : STATUS_BOTH;
}

const char *status_name(enum row_status s);
