/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came of it, for each file that mappings named, in order of first use: what was used, how
 * many addresses were named by what, why the rest were not, and what would help. -v writes a
 * line each to standard error; the JSON form also has where files were looked for.
 */
#pragma once

#include "lib/base/buf.h"
#include "lib/ui/cli.h"
#include "tools/symbolize/jitnames.h"
#include "tools/symbolize/objects.h"

struct coverage;

/* Notes: indexes in the cache that are damaged, and the first reason why one was not kept. */
void report_cache(const struct cli *cli, const struct objects *o);
void report_objects(const struct cli *cli, const struct objects *o);
void report_jit(const struct cli *cli, const struct jitnames *j); /* if there are any */

void report_json(const struct objects *o, const struct jitnames *j,
		 const struct coverage *c, struct buf *out);
