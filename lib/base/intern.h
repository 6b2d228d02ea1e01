/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings: equal bytes get equal ids, ids are dense from 0, id 0 is the empty string.
 * Strings may hold any byte, NUL too. They live in the table's arena and never move.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"

struct str {
	const char *p; /* followed by a NUL that is not counted */
	uint32_t n;
};

struct intern {
	struct arena arena;
	struct str *strs; /* by id */
	uint32_t *hashes; /* by id: upper half of the hash */
	size_t n, cap, hash_cap;
	uint32_t *slots; /* id + 1, 0 = free; power of two */
	size_t nslots;
};

void intern_init(struct intern *t);
void intern_release(struct intern *t);
uint32_t intern_put(struct intern *t, const void *p, size_t n); /* n < 2^32 */
uint32_t intern_puts(struct intern *t, const char *s);

/*
 * In two steps, so that the cache misses of several strings overlap: the hash of each and
 * prefetch 0, prefetches 1 and 2 for all, then each.
 */
uint32_t intern_hash(const void *p, size_t n);
uint32_t intern_put_hashed(struct intern *t, uint32_t h, const void *p, size_t n);

static inline void intern_prefetch(const struct intern *t, uint32_t h, int stage)
{
	const uint32_t *slot = &t->slots[h & (t->nslots - 1)];

	if (stage == 0) {
		__builtin_prefetch(slot);
	} else if (!*slot) {
		return;
	} else if (stage == 1) {
		__builtin_prefetch(&t->hashes[*slot - 1]);
		__builtin_prefetch(&t->strs[*slot - 1]);
	} else {
		__builtin_prefetch(t->strs[*slot - 1].p);
	}
}

size_t intern_bytes(const struct intern *t); /* memory in it */

/* The id of a string that is there already, or UINT32_MAX. */
uint32_t intern_find(const struct intern *t, const void *p, size_t n);

static inline struct str intern_str(const struct intern *t, uint32_t id)
{
	return t->strs[id];
}

/* Order of bytes, shorter first where one is the other's start. */
int str_cmp(struct str a, struct str b);
