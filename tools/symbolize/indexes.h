/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes that are asked for: of programs that are named, and of what a run has used. */
#pragma once

#include "lib/base/err.h"
#include "lib/ui/cli.h"
#include "tools/symbolize/objects.h"

/* Into the cache of the objects' paths, if there is one, and into export_dir, unless NULL. */
int indexes_make(const struct objects *objects, const struct cli *cli,
		 const struct operands *files, const char *export_dir, struct err *e);

/* Into dir, unless NULL. Files of which no index can be made are named and no failure. */
int indexes_export(const struct objects *objects, const struct cli *cli, const char *dir,
		   struct err *e);
