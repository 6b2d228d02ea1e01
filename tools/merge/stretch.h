/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of time without a gap: each profile reaches a quarter of its length beyond either end,
 * and those that touch are one stretch, in whatever order they come.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stretch {
	int64_t from_ns, to_ns;		 /* [from, to) */
	int64_t reach_from_ns, reach_ns; /* with half a length more at either end */
	uint64_t profiles;
};

struct stretches {
	struct stretch *v; /* by time, apart */
	size_t n, cap;
};

void stretches_add(struct stretches *s, int64_t time_ns, int64_t duration_ns);
void stretches_release(struct stretches *s);
