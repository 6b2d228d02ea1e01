/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepted regressions, one a line:
 *
 *	NAME | flat, cum, total or label | CEILING | expires YYYY-MM-DD | ISSUE | REASON
 *
 * NAME is a function's name as reports have it, "total", or KEY=VALUE; the CEILING is +P% of the
 * base's total or xR, as a gate's limit. A waiver speaks for its item up to the ceiling and to the
 * end of its last day, of the time in which the new side was measured.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/intern.h"

enum waiver_kind { WAIVE_FLAT, WAIVE_CUM, WAIVE_TOTAL, WAIVE_LABEL };

struct waiver {
	char *name, *issue, *reason;
	enum waiver_kind kind;
	double percent_of_base; /* fraction; with relative 0 */
	double relative;	/* xR, or 0 */
	int64_t expires_ns;	/* the first moment that it does not hold */
	bool used, expired;	/* what became of it */
	bool too_low;		/* the item is over its ceiling */
};

struct waivers {
	struct waiver *v;
	size_t n, cap;
};

int waivers_read(struct waivers *w, const char *file, struct err *e);
void waivers_release(struct waivers *w);

/*
 * Whether a change from base to new (values; total is the base's) is accepted at this time.
 * Remembers which waivers were used, had expired, or were too low.
 */
bool waivers_accept(struct waivers *w, enum waiver_kind kind, struct str name,
		    double base, double new, double total, int64_t now_ns);
