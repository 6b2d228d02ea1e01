/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -v: a line per file that mappings named, in order of first use: what was used, how many
 * addresses were named by what, why the rest were not, and what would help.
 */
#pragma once

#include "lib/ui/cli.h"
#include "tools/symbolize/jitnames.h"
#include "tools/symbolize/objects.h"

void report_objects(const struct cli *cli, const struct objects *o);
void report_jit(const struct cli *cli, const struct jitnames *j); /* if there are any */
