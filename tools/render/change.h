/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a difference: what the base had, what the new side has, and the words for both. */
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"

struct change {
	int64_t base, new; /* both >= 0 */
};

/* From new - base and new + base; the sum fits 64 bits, as weights_init() has seen. */
static inline struct change change_of(int64_t delta, int64_t sum)
{
	int64_t base = (int64_t)(((uint64_t)sum - (uint64_t)delta) / 2);

	return (struct change){base, base + delta};
}

/* "+1.20s", "-3", "0": a change says its direction. */
void change_put_delta(struct buf *out, const struct change *c, const char *unit,
		      const char *unit_out);

/* "+12.50%", "-0.30%", "0%" of a total. */
void change_put_percent(struct buf *out, const struct change *c, int64_t total);

/* "new", "gone", or "". */
const char *change_status(const struct change *c);
