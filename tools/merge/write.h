/* SPDX-License-Identifier: Apache-2.0 */
/* From what was added up to the output: one stream, or a file for each split. */
#pragma once

#include "lib/base/err.h"
#include "lib/pprof/merge.h"
#include "tools/merge/options.h"

int write_results(const struct options *o, struct merger *m, struct err *e);
