/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of prof-diff. */
#pragma once

#include <string.h>

#include "lib/ui/cli.h"
#include "tools/diff/checks.h"
#include "tools/diff/evidence.h"
#include "tools/diff/family.h"
#include "tools/diff/gate.h"
#include "tools/diff/report.h"
#include "tools/diff/sides.h"
#include "tools/diff/verdict.h"
#include "tools/diff/waiver.h"

struct report_spec {
	void (*make)(const struct report *r, size_t columns, struct buf *out);
	const char *file;
};

struct options {
	struct cli cli;
	struct query *query;
	struct sides_opts sides;
	struct operands plain; /* before any --base or --new */
	int side;	       /* of the FILEs that come now; -1 before a flag */
	struct evidence_opts evidence;
	const char *work_file;
	struct work work;
	struct family_specs by;
	struct grouping replicate_by, pair_by;
	struct verdict_opts verdict;
	struct check_opts checks;
	bool by_cum, all_frames, raw_names;
	bool advisory, require_power, force_single, calibrate;
	uint64_t top;
	struct gate **gates;
	struct watched_label *watched; /* what gates with labels speak of */
	struct waivers waivers;
	struct report_spec *reports;
	size_t gates_given; /* with those that were given again */
	size_t ngates, gates_cap, nreports, reports_cap, nwatched, watched_cap;
};

extern const struct argp options_argp;

/* Standard input or output. */
static inline bool is_dash(const char *file)
{
	return !strcmp(file, "-");
}

void options_init(struct options *o);
void options_release(struct options *o);
