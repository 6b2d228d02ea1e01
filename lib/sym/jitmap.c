/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that a program made while it ran. */
#include "lib/sym/jitmap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define BACK_MAX 64 /* overlapping pieces of code that are looked at for one address */

void jitmap_init(struct jitmap *m)
{
	*m = (struct jitmap){.debug_line0 = UINT32_MAX};
}

void jitmap_release(struct jitmap *m)
{
	arena_release(&m->text);
	free(m->codes);
	free(m->lines);
	*m = (struct jitmap){0};
}

size_t jitmap_bytes(const struct jitmap *m)
{
	return m->text_bytes + m->cap * sizeof(*m->codes) +
	       m->lines_cap * sizeof(*m->lines);
}

/* --- finding ------------------------------------------------------------------------------- */

static int cmp_codes(const void *pa, const void *pb)
{
	const struct jit_code *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void sort(struct jitmap *m)
{
	uint64_t reach = 0, end;
	size_t i;

	if (m->n)
		qsort(m->codes, m->n, sizeof(*m->codes), cmp_codes);
	for (i = 0; i < m->n; i++) {
		end = m->codes[i].start + m->codes[i].size;
		if (end > reach)
			reach = end;
		m->codes[i].reach = reach;
	}
	m->sorted = true;
}

const struct jit_code *jitmap_find(struct jitmap *m, uint64_t addr, uint64_t time_ns)
{
	const struct jit_code *best = NULL, *c;
	size_t lo = 0, hi, mid;
	int steps = 0;

	if (!m->sorted)
		sort(m);
	/* the first that begins behind addr */
	for (hi = m->n; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (m->codes[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && steps++ < BACK_MAX) {
		c = &m->codes[lo];
		if (c->reach <= addr)
			break;
		if (addr - c->start < c->size && c->time_ns <= time_ns &&
		    (!best || c->seq > best->seq))
			best = c;
	}
	return best;
}

const struct jit_line *jitmap_line(const struct jitmap *m, const struct jit_code *code,
				   uint64_t addr)
{
	const struct jit_line *best = NULL, *l;
	size_t lo = 0, hi = code->nlines, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		l = &m->lines[code->line0 + mid];
		if (l->addr <= addr) {
			best = l;
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return best;
}
