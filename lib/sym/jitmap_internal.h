/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of the two formats share. */
#pragma once

#include "lib/sym/jitmap.h"

/* A copy of n bytes as a string that lives as long as m; NULL, with m->full, if there is no room. */
const char *jitmap_string(struct jitmap *m, const char *p, size_t n);

/* Code [start, start + size); NULL if it is empty, runs over the end, or there is no room. */
struct jit_code *jitmap_add(struct jitmap *m, uint64_t start, uint64_t size,
			    const char *name, size_t n);
