/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: perf maps and jitdumps. The first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sym/jitmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct jit_code *c;
	const struct jit_line *l;
	struct jitmap m;
	struct err e;
	size_t i;

	if (!n)
		return 0;
	jitmap_init(&m);
	if (data[0] & 1)
		jitmap_feed_dump(&m, data + 1, n - 1, &e);
	else
		jitmap_feed_text(&m, (const char *)data + 1, n - 1);
	for (i = 0; i < m.n; i++) {
		c = jitmap_find(&m, m.codes[i].start, m.codes[i].time_ns);
		if (!c || m.codes[i].start - c->start >= c->size)
			abort();
		l = jitmap_line(&m, c, m.codes[i].start);
		if (l && (l->addr > m.codes[i].start || strlen(l->file) > n))
			abort();
	}
	jitmap_release(&m);
	return 0;
}
