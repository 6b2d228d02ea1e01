/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of a side that has been read, rewritten in its profile and in its replicates. */
#pragma once

#include "tools/diff/replicas.h"
#include "tools/diff/sides.h"

/* Of a stack (its id) the one to have instead. */
typedef uint32_t stack_rewrite(void *ctx, struct store *st, uint32_t stack);

void rewrite_side(struct pair *pair, enum side side, struct replicas *all,
		  stack_rewrite *rewrite, void *ctx);
