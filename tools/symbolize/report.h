/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came of it, for each file that mappings named, in order of first use: what was used, how
 * many addresses were named by what, why the rest were not, what would help, and where that was
 * looked for. -v writes a table to standard error; the JSON form is for programs.
 */
#pragma once

#include "lib/base/buf.h"
#include "lib/ui/cli.h"
#include "tools/symbolize/jitnames.h"
#include "tools/symbolize/objects.h"

struct coverage;

/* Notes: indexes in the cache that are damaged, and the first reason why one was not kept. */
void report_cache(const struct cli *cli, const struct objects *o);

/* With -v. */
void report_table(const struct cli *cli, const struct objects *o,
		  const struct jitnames *j, const struct coverage *c);

void report_json(const struct objects *o, const struct jitnames *j,
		 const struct coverage *c, struct buf *out);

/* The file that would name what is not named; that would give lines. Nothing if there is none. */
void report_wanted(struct buf *b, const struct entry *en);
void report_lines_file(struct buf *b, const struct entry *en);
