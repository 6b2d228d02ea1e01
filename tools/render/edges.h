/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether rows are inlined: by the calls that lead to them, as google/pprof's graph has them.
 * A call is inlined if all that contributes to it is; frames that are not among the rows are
 * skipped over, joining their caller to their callee.
 */
#pragma once

#include "tools/render/rows.h"

struct call {
	uint32_t from, to; /* rows */
	bool inlined;
	int64_t value;
	int64_t base; /* of a difference: what the base has (>= 0) */
};

/*
 * All calls between rows that are worth keeping: of call i into or out of a row,
 * v[into[row].off + i] or v[out[row].off + i], heaviest first, then by name.
 */
struct calls {
	struct call *v;
	struct seq *into, *out; /* by row */
};

void calls_init(struct calls *c, const struct rows *r, const struct frames *f,
		const struct weights *w);
void calls_release(struct calls *c);

/* Fill in `inlining` of every row. */
void edges_judge(struct rows *r, const struct frames *f, const struct weights *w);
