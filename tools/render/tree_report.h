/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with their callers and callees. */
#pragma once

#include "lib/query/regex.h"
#include "tools/render/edges.h"
#include "tools/render/listing.h"

#define TREE_ROWS_DEFAULT 80 /* as pprof */

/* The whole report, of all rows or of those that match `only`; false when none does. */
bool tree_put(const struct listing *t, struct regex *only);
