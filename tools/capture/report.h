/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture tells its user on standard error: losses, and the table of --stats. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/capture/build.h"
#include "tools/capture/capture.h"
#include "tools/capture/stops.h"
#include "tools/capture/tables.h"

struct report {
	const struct capture_opts *opts;
	bool unprivileged; /* by perf events */
	uint64_t ring_bytes, event_ring_bytes;
	uint64_t rows;				  /* of the table */
	uint64_t kept, events_kept;		  /* in all */
	int64_t expected, recursion, unexplained; /* ticks, in all */
	uint64_t undecided; /* samples of processes that then were not chosen */
	uint64_t length_ns;
	uint64_t dropped, dropped_shown; /* intervals: in all, and in rows up to now */
};

/* One interval is done: a warning if samples were lost, and a row of the table. */
void report_interval(struct report *r, const struct builder *b,
		     const struct interval_info *info, uint64_t bytes);

/* For --stats: why stacks were cut short, and which files have no table. */
void report_unwinding(const struct report *r, struct stops *s, const struct tables *ts);

/* All are: a note if there was no sample at all. */
void report_end(const struct report *r);
