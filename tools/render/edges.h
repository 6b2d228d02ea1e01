/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether rows are inlined: by the calls that lead to them, as google/pprof's graph has them.
 * A call is inlined if all that contributes to it is; frames that are not among the rows are
 * skipped over, joining their caller to their callee.
 */
#pragma once

#include "tools/render/rows.h"

/* Fill in `inlining` of every row. `cut`: the rows are not all frames. Calls whose |value| is
 * below `least` do not count. */
void edges_judge(struct rows *r, const struct frames *f, const struct weights *w,
		 bool cut, int64_t least);
