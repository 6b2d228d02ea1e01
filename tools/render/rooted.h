/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks below the values of labels: a level of processes, say, above the functions. */
#pragma once

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

/*
 * Put the values of these labels above the root of each stack of p, the first key outermost:
 * functions named by the value, whose file is the key. A sample without a label has no frame
 * for it. p keeps its header; its samples are new.
 */
int profile_root_by(struct profile *p, char *const *keys, size_t n, struct err *e);
