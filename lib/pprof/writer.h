/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing profiles. The order of everything depends on content alone (model ids never show):
 * equal content gives equal bytes.
 *
 * Mappings: STORE_MERGED: the user mapping with the largest cumulative value of the default
 * type first, then by file, build id; STORE_EXACT: in the order they were read. Functions,
 * locations and samples by content. Ids are dense from 1, strings in order of first use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/io/output.h"
#include "lib/pprof/model.h"

/* Append the pprof message, not compressed. */
int profile_encode(const struct profile *p, struct buf *out, struct err *e);

/* The profile as one gzip member, to the output. */
int profile_write(const struct profile *p, struct output *o, struct err *e);

/* Append the text twin (profpipe-stream(5)), with the "# profpipe text 1" line if `head`. */
int profile_write_text(const struct profile *p, bool head, struct buf *out,
		       struct err *e);
