/* SPDX-License-Identifier: Apache-2.0 */
/* Sides of which only one was named with inlined frames. */
#pragma once

#include "tools/diff/replicas.h"
#include "tools/diff/sides.h"

/* The only side that has inlined frames, where they were not looked for on the other; else -1. */
int inlines_only_in(const struct pair *pair);

/* Count inlined frames as what they are inlined into, in the profiles and in their replicates. */
void inlines_fold(struct pair *pair, struct replicas *all);
