/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define CHUNK_MIN 16384
#define CHUNK_MAX (1 << 20)

struct arena_chunk {
	struct arena_chunk *next;
	char data[];
};

static void *arena_chunk(struct arena *a, size_t n)
{
	/* a quarter of what is there already: small profiles stay small, big ones get few chunks */
	size_t size = a->used_bytes / 4;
	struct arena_chunk *c;

	if (size < CHUNK_MIN)
		size = CHUNK_MIN;
	if (size > CHUNK_MAX)
		size = CHUNK_MAX;
	if (size < n)
		size = n;
	c = xmalloc(sizeof(*c) + size);
	c->next = a->head;
	a->head = c;
	a->at = c->data;
	a->end = c->data + size;
	a->used_bytes += size;
	return c->data;
}

void arena_release(struct arena *a)
{
	struct arena_chunk *c = a->head, *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
	*a = ARENA_INIT;
}

void *arena_alloc(struct arena *a, size_t n)
{
	char *p = (char *)(((uintptr_t)a->at + 7) & ~(uintptr_t)7);

	if (!a->at || p > a->end || (size_t)(a->end - p) < n) {
		arena_chunk(a, n + 8);
		p = (char *)(((uintptr_t)a->at + 7) & ~(uintptr_t)7);
	}
	a->at = p + n;
	return p;
}

char *arena_bytes(struct arena *a, const void *p, size_t n)
{
	char *q;

	if (!a->at || (size_t)(a->end - a->at) <= n)
		arena_chunk(a, n + 1);
	q = a->at;
	if (n)
		memcpy(q, p, n);
	q[n] = 0;
	a->at = q + n + 1;
	return q;
}
