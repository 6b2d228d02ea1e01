/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/u64map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

void u64map_release(struct u64map *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct u64map){0};
}

/* Slot that holds the key, or the free one where it belongs. */
static size_t find(const struct u64map *m, uint64_t key)
{
	size_t mask = m->nslots - 1, s = hash_u64(0, key) & mask;

	while (m->values[s] != U64MAP_NONE && m->keys[s] != key)
		s = (s + 1) & mask;
	return s;
}

uint32_t u64map_get(const struct u64map *m, uint64_t key)
{
	return m->nslots ? m->values[find(m, key)] : U64MAP_NONE;
}

void u64map_reserve(struct u64map *m, size_t more)
{
	struct u64map old = *m;
	size_t i, s, n = old.nslots ? old.nslots : 64;

	while ((m->n + more) * 2 > n)
		n *= 2;
	if (n == old.nslots)
		return;
	m->nslots = n;
	m->keys = xmalloc(n * sizeof(*m->keys));
	m->values = xmalloc(n * sizeof(*m->values));
	memset(m->values, 0xff, n * sizeof(*m->values));
	for (i = 0; i < old.nslots; i++) {
		if (old.values[i] == U64MAP_NONE)
			continue;
		s = find(m, old.keys[i]);
		m->keys[s] = old.keys[i];
		m->values[s] = old.values[i];
	}
	u64map_release(&old);
}

void u64map_put(struct u64map *m, uint64_t key, uint32_t value)
{
	size_t s;

	u64map_reserve(m, 1);
	s = find(m, key);
	if (m->values[s] == U64MAP_NONE)
		m->n++;
	m->keys[s] = key;
	m->values[s] = value;
}
