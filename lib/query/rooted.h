/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks below the values of labels: a level of processes, say, above the functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/pprof/model.h"

/*
 * Put the values of these labels above the root of each stack of p, the first key outermost:
 * functions named by the value, whose file is the key. A sample without a label has no frame
 * for it. p keeps its header; its samples are new.
 */
int profile_root_by(struct profile *p, char *const *keys, size_t n, struct err *e);

/* Set out to the values of a key, numbers in decimal; several as "a,b". False if empty. */
bool label_values(const struct store *st, uint32_t labelset, const char *key,
		  struct buf *out);
