/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

void intern_init(struct intern *t)
{
	*t = (struct intern){0};
	t->nslots = 256;
	t->slots = xcalloc(t->nslots, sizeof(*t->slots));
	intern_put(t, "", 0);
}

void intern_release(struct intern *t)
{
	arena_release(&t->arena);
	free(t->strs);
	free(t->hashes);
	free(t->slots);
	*t = (struct intern){0};
}

static void intern_rehash(struct intern *t)
{
	size_t mask, i, s;

	free(t->slots);
	t->nslots *= 2;
	mask = t->nslots - 1;
	t->slots = xcalloc(t->nslots, sizeof(*t->slots));
	for (i = 0; i < t->n; i++) {
		for (s = t->hashes[i] & mask; t->slots[s]; s = (s + 1) & mask)
			;
		t->slots[s] = i + 1;
	}
}

/* Slot that holds the string, or the free one where it belongs. */
static size_t intern_slot(const struct intern *t, const void *p, size_t n, uint32_t h)
{
	size_t mask = t->nslots - 1, s = h & mask;
	uint32_t id;

	for (; t->slots[s]; s = (s + 1) & mask) {
		id = t->slots[s] - 1;
		if (t->hashes[id] == h && t->strs[id].n == n &&
		    !memcmp(t->strs[id].p, p, n))
			break;
	}
	return s;
}

uint32_t intern_hash(const void *p, size_t n)
{
	return hash_bytes(p, n) >> 32;
}

uint32_t intern_put_hashed(struct intern *t, uint32_t h, const void *p, size_t n)
{
	size_t s = intern_slot(t, p, n, h);

	if (t->slots[s])
		return t->slots[s] - 1;
	XGROW(t->strs, t->n, t->cap);
	XGROW(t->hashes, t->n, t->hash_cap);
	t->strs[t->n] = (struct str){arena_bytes(&t->arena, p, n), n};
	t->hashes[t->n] = h;
	t->slots[s] = ++t->n;
	if (t->n * 2 > t->nslots)
		intern_rehash(t);
	return t->n - 1;
}

size_t intern_bytes(const struct intern *t)
{
	return t->arena.used_bytes + t->cap * sizeof(*t->strs) +
	       t->hash_cap * sizeof(*t->hashes) + t->nslots * sizeof(*t->slots);
}

uint32_t intern_put(struct intern *t, const void *p, size_t n)
{
	return intern_put_hashed(t, intern_hash(p, n), p, n);
}

uint32_t intern_puts(struct intern *t, const char *s)
{
	return intern_put(t, s, strlen(s));
}

uint32_t intern_find(const struct intern *t, const void *p, size_t n)
{
	size_t s = intern_slot(t, p, n, intern_hash(p, n));

	return t->slots[s] ? t->slots[s] - 1 : UINT32_MAX;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n)
		  : 0; /* an empty string may be no pointer at all */

	return c ? c : (a.n > b.n) - (a.n < b.n);
}
