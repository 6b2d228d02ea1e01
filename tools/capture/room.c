/* SPDX-License-Identifier: Apache-2.0 */
/* Who may use which part of an array that BPF programs read while it is changed. */
#include "tools/capture/room.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

void room_init(struct room *x, uint32_t size)
{
	*x = (struct room){.size = size};
}

void room_release(struct room *x)
{
	free(x->free);
	*x = (struct room){0};
}

static void drop(struct room *x, size_t i)
{
	x->nfree--;
	memmove(x->free + i, x->free + i + 1, (x->nfree - i) * sizeof(*x->free));
}

bool room_take(struct room *x, uint32_t n, uint64_t now_ns, uint32_t *first)
{
	struct room_gap *f, *best = NULL;
	size_t i;

	for (i = 0; i < x->nfree; i++) {
		f = &x->free[i];
		if (f->n >= n && now_ns - f->since_ns >= ROOM_REST_NS &&
		    (!best || f->n < best->n))
			best = f;
	}
	if (best) {
		*first = best->first;
		best->first += n;
		best->n -= n;
		if (!best->n)
			drop(x, best - x->free);
		return true;
	}
	if (n > x->size - x->used)
		return false;
	*first = x->used;
	x->used += n;
	return true;
}

void room_give(struct room *x, uint32_t first, uint32_t n, uint64_t now_ns)
{
	struct room_gap *f;
	size_t i = 0;

	if (!n)
		return;
	while (i < x->nfree && x->free[i].first < first)
		i++;
	XGROW(x->free, x->nfree, x->cap);
	memmove(x->free + i + 1, x->free + i, (x->nfree - i) * sizeof(*x->free));
	x->nfree++;
	f = &x->free[i];
	*f = (struct room_gap){first, n, now_ns};
	if (i + 1 < x->nfree && first + n == f[1].first) {
		f->n += f[1].n;
		drop(x, i + 1);
	}
	if (i > 0 && f[-1].first + f[-1].n == first) {
		f[-1].n += f->n;
		f[-1].since_ns = now_ns;
		drop(x, i);
	}
}
