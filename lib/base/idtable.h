/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open-addressing table of 32-bit ids by hash. The owner holds the items and compares them:
 *
 *	for (s = id_table_first(t, h); (id = id_table_at(t, h, &s)) != ID_NONE; s++)
 *		if (items[id] is it)
 *			return id;
 *	id_table_put(t, h, new_id);
 *
 * A slot keeps 32 bits of the hash beside the id, so growing never asks the owner, and almost
 * no compare is in vain.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX /* no such thing; never an id */

struct id_table {
	uint64_t *slots; /* upper half of the hash << 32 | id + 1; 0 = free */
	size_t mask, used;
};

void id_table_init(struct id_table *t); /* must be called before use */
void id_table_release(struct id_table *t);
void id_table_clear(struct id_table *t);
void id_table_reserve(struct id_table *t, size_t more); /* room for as many more */
void id_table_put(struct id_table *t, uint64_t h, uint32_t id);

static inline size_t id_table_first(const struct id_table *t, uint64_t h)
{
	return (h >> 32) & t->mask;
}

static inline void id_table_prefetch(const struct id_table *t, uint64_t h)
{
	__builtin_prefetch(&t->slots[id_table_first(t, h)]);
}

/* The next id from slot *s on whose hash agrees with h; *s is moved to its slot. */
static inline uint32_t id_table_at(const struct id_table *t, uint64_t h, size_t *s)
{
	uint64_t v;

	for (;; (*s)++) {
		v = t->slots[*s & t->mask];
		if (!v)
			return ID_NONE;
		if (v >> 32 == h >> 32)
			return (uint32_t)v - 1;
	}
}

/* The first id whose hash agrees, most often the one that is looked for, or ID_NONE. */
static inline uint32_t id_table_likely(const struct id_table *t, uint64_t h)
{
	size_t s = id_table_first(t, h);

	return id_table_at(t, h, &s);
}
