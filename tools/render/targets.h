/* SPDX-License-Identifier: Apache-2.0 */
/* Telling apart the machines and instances that a stream's profiles are of. */
#pragma once

#include <stdint.h>

#include "lib/pprof/model.h"
#include "tools/render/timeline.h"

/* The label set of what two have in common. */
uint32_t labels_in_both(struct store *st, uint32_t a, uint32_t b);

/* Put what was read of one target into the share of another of the same. */
void share_add(struct share *to, const struct share *from);

int64_t sum_or_max(int64_t a, int64_t b);

/* Find the targets of all that was read of a type; each share gets its own. */
void targets_find(struct timeline_type *type, struct store *st);
void targets_release(struct targets *t);
