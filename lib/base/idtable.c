/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/idtable.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

void id_table_init(struct id_table *t)
{
	t->mask = 63;
	t->used = 0;
	t->slots = xcalloc(t->mask + 1, sizeof(*t->slots));
}

void id_table_release(struct id_table *t)
{
	free(t->slots);
	*t = (struct id_table){0};
}

void id_table_clear(struct id_table *t)
{
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	t->used = 0;
}

static void id_table_insert(struct id_table *t, uint64_t v)
{
	size_t s = (v >> 32) & t->mask;

	while (t->slots[s])
		s = (s + 1) & t->mask;
	t->slots[s] = v;
}

void id_table_put(struct id_table *t, uint64_t h, uint32_t id)
{
	uint64_t *old = t->slots;
	size_t i, n = t->mask + 1;

	if (++t->used * 4 > n * 3) {
		t->mask = n * 2 - 1;
		t->slots = xcalloc(n * 2, sizeof(*t->slots));
		for (i = 0; i < n; i++) {
			if (old[i])
				id_table_insert(t, old[i]);
		}
		free(old);
	}
	id_table_insert(t, (h >> 32) << 32 | (uint64_t)(id + 1));
}
