/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nested and overlapping ranges of functions and inlined calls, flattened.
 *
 * Which function, where several cover an address without being nested (folded or duplicated
 * code, bad ranges): the one with the smallest range there, then the first one in the unit.
 * Within it the deepest inlined call, then the smallest range, then the first.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define ACTIVE_MAX 1024 /* ranges that cover one address; more is damage and left out */
#define DIGIT_BITS 11
#define DIGIT_MAX ((1u << DIGIT_BITS) - 1)
#define RADIX_MIN 1024 /* ranges; to sort fewer takes no time */

struct sweep {
	struct dwarf *dw;
	struct dw_table *t;
	struct dw_interval active[ACTIVE_MAX];
	size_t n;
};

static int interval_cmp(const void *a, const void *b)
{
	const struct dw_interval *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* By start, DIGIT_BITS at a time from the lowest; what starts alike stays in its order. */
static void sort_starts(struct dw_interval **v, size_t n, uint64_t least, uint64_t span)
{
	struct dw_interval *from = *v, *to = xmalloc(n * sizeof(*to)), *swap;
	size_t count[1 << DIGIT_BITS], i, at, c;
	unsigned shift;

	for (shift = 0; shift < 64 && span >> shift; shift += DIGIT_BITS) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[(from[i].low - least) >> shift & DIGIT_MAX]++;
		for (i = at = 0; i <= DIGIT_MAX; i++) {
			c = count[i];
			count[i] = at;
			at += c;
		}
		for (i = 0; i < n; i++)
			to[count[(from[i].low - least) >> shift & DIGIT_MAX]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*v = from;
}

/*
 * As interval_cmp() has it. Most of the time of a sort by comparison would be for the starts, and
 * few ranges share one. *v may become another array.
 */
static void sort_intervals(struct dw_interval **v, size_t n)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct dw_interval *w;
	size_t i, from;

	for (i = 0; i < n; i++) {
		least = (*v)[i].low < least ? (*v)[i].low : least;
		most = (*v)[i].low > most ? (*v)[i].low : most;
	}
	if (n < RADIX_MIN || (most - least) >> (3 * DIGIT_BITS)) {
		if (n)
			qsort(*v, n, sizeof(**v), interval_cmp);
		return;
	}
	sort_starts(v, n, least, most - least);
	w = *v;
	for (from = 0; from < n; from = i) {
		bool sorted = true;

		/* an outer range comes before what is in it, as a rule */
		for (i = from + 1; i < n && w[i].low == w[from].low; i++)
			sorted &= interval_cmp(&w[i - 1], &w[i]) <= 0;
		if (!sorted)
			qsort(w + from, i - from, sizeof(*w), interval_cmp);
	}
}

static uint64_t size_of(const struct dw_interval *v)
{
	return v->high - v->low;
}

static const struct dw_interval *pick_function(const struct sweep *s)
{
	const struct dw_interval *best = NULL, *v;
	size_t i;

	for (i = 0; i < s->n; i++) {
		v = &s->active[i];
		if (s->t->nodes[v->node].depth)
			continue;
		if (!best || size_of(v) < size_of(best) ||
		    (size_of(v) == size_of(best) && v->node < best->node))
			best = v;
	}
	return best;
}

static const struct dw_interval *pick_innermost(const struct sweep *s,
						const struct dw_interval *function)
{
	const struct dw_interval *best = function, *v;
	const struct dw_node *node, *b;
	size_t i;

	for (i = 0; i < s->n; i++) {
		v = &s->active[i];
		node = &s->t->nodes[v->node];
		b = &s->t->nodes[best->node];
		if (node->sub != function->node || node->depth < b->depth || v == best)
			continue;
		if (node->depth > b->depth || size_of(v) < size_of(best) ||
		    (size_of(v) == size_of(best) && v->node < best->node))
			best = v;
	}
	return best;
}

static uint32_t clip(uint64_t v)
{
	return v < UINT32_MAX ? v : UINT32_MAX;
}

static void emit(struct sweep *s, uint64_t at)
{
	const struct dw_interval *f = pick_function(s),
				 *in = f ? pick_innermost(s, f) : NULL;
	struct dw_stretch new = {.start = at, .node = DWARF_NONE}, *last = NULL;
	struct dw_table *t = s->t;

	if (in) {
		new.node = in->node;
		new.back = clip(at - in->low);
		new.sub_size = clip(size_of(f));
	}
	if (t->nstretches)
		last = &t->stretches[t->nstretches - 1];
	if (last ? last->node == new.node && last->start - last->back == at - new.back
		 : new.node == DWARF_NONE)
		return;
	XGROW(t->stretches, t->nstretches, t->stretches_cap);
	t->stretches[t->nstretches++] = new;
}

static void expire(struct sweep *s, uint64_t at)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (s->active[i].high > at)
			s->active[n++] = s->active[i];
	s->n = n;
}

static uint64_t next_end(const struct sweep *s)
{
	uint64_t end = UINT64_MAX;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->active[i].high < end)
			end = s->active[i].high;
	return end;
}

void dw_flatten(struct dwarf *dw, struct dw_table *t, struct dw_interval **from, size_t n)
{
	struct dw_interval *v;
	struct sweep *s = xmalloc(sizeof(*s));
	uint64_t at, next;
	size_t i = 0;

	s->dw = dw;
	s->t = t;
	s->n = 0;
	sort_intervals(from, n);
	v = *from;
	XRESERVE(t->stretches, t->stretches_cap, n + n / 4 + 1);
	while (i < n || s->n) {
		at = s->n ? next_end(s) : UINT64_MAX;
		next = i < n ? v[i].low : UINT64_MAX;
		if (next < at)
			at = next;
		expire(s, at);
		for (; i < n && v[i].low == at; i++)
			if (s->n < ACTIVE_MAX)
				s->active[s->n++] = v[i];
		emit(s, at);
		if (!dw_work(dw, 1 + s->n))
			break;
	}
	/* every table ends with a stretch of nothing, so that each has an end */
	if (t->nstretches && t->stretches[t->nstretches - 1].node != DWARF_NONE) {
		s->n = 0;
		emit(s, UINT64_MAX);
	}
	free(s);
}
