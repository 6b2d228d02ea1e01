/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of processes: from the number in a sample to a path. The number is the inode of
 * a directory in the v2 tree; where that tells nothing (groups are still in v1 hierarchies, or the
 * tree that is mounted here is a container's own part) the process's own list is read, while it
 * is there.
 */
#pragma once

#include <stdint.h>

#include "tools/capture/procs.h"

struct cgroups;

struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *cg);

/* "/system.slice/x.service"; "" if it is not known. Good until the next call. */
const char *cgroups_path(struct cgroups *cg, struct proc *p, uint64_t id);

/* Its number in the v2 hierarchy as /proc tells it; 0: not known. */
uint64_t cgroups_id(struct cgroups *cg, uint32_t tgid);
