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

void id_table_reserve(struct id_table *t, size_t more)
{
	size_t n = t->mask + 1, i;
	uint64_t *old = t->slots;

	while ((t->used + more) * 4 > (t->mask + 1) * 3)
		t->mask = t->mask * 2 + 1;
	if (t->mask + 1 == n)
		return;
	t->slots = xcalloc(t->mask + 1, sizeof(*t->slots));
	for (i = 0; i < n; i++) {
		if (old[i])
			id_table_insert(t, old[i]);
	}
	free(old);
}

void id_table_put(struct id_table *t, uint64_t h, uint32_t id)
{
	id_table_reserve(t, 1);
	t->used++;
	id_table_insert(t, (h >> 32) << 32 | (uint64_t)(id + 1));
}
