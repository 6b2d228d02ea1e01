/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports with rows share: the rows, one unit for all of them, pprof's heading. */
#pragma once

#include "lib/ui/units.h"
#include "tools/render/report.h"

struct listing {
	const struct report *r;
	const struct rows_opts *o;
	struct frames frames;
	struct weights weights;
	struct rows rows;
	const char *unit, *unit_out; /* of the values, and as shown */
	struct buf *out;
};

/* To be released also after an error. */
int listing_init(struct listing *t, const struct report *r, const struct rows_opts *o,
		 struct buf *out, struct err *e);
void listing_release(struct listing *t);

/* File, type, time and so on, filters, and how much is shown. */
void listing_put_heading(const struct listing *t);

/* Returns `text`. */
const char *listing_value(const struct listing *t, int64_t v, char text[UNITS_TEXT_MAX]);
