/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where answers may change: every source adds the addresses at which what it says of the code
 * begins or ends. Between two of them, all addresses have one answer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/xalloc.h"

struct bounds {
	uint64_t *v;
	size_t n, cap;
};

static inline void bounds_add(struct bounds *b, uint64_t addr)
{
	XGROW(b->v, b->n, b->cap);
	b->v[b->n++] = addr;
}
