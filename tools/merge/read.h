/* SPDX-License-Identifier: Apache-2.0 */
/* All input into a merger. */
#pragma once

#include "lib/base/err.h"
#include "lib/pprof/merge.h"
#include "tools/merge/options.h"

/* merger_split() of what --minus reads; all else is 0. */
#define READ_MINUS 1

/* `mo` is what the merger was made with. Good input only, unless --skip-bad. */
int read_inputs(const struct options *o, const struct merge_opts *mo, struct merger *m,
		struct err *e);
