/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

uint32_t *known_at(struct known *k, uint32_t id, size_t end)
{
	size_t cap = k->n;

	if (id >= k->n) {
		XRESERVE(k->v, cap, end);
		memset(k->v + k->n, 0xff, (cap - k->n) * sizeof(*k->v));
		k->n = cap;
	}
	return &k->v[id];
}

void rewriter_release(struct rewriter *r)
{
	free(r->locations.v);
	free(r->stacks.v);
	free(r->frames);
}

static uint32_t rewrite_location(struct rewriter *r, struct store *st, uint32_t id)
{
	uint32_t to = *known_at(&r->locations, id, st->nlocations), i;
	struct location l = st->locations[id];
	struct line *lines;
	bool changed = false;

	if (to != ID_NONE)
		return to;
	lines = xcalloc(l.nlines + 1, sizeof(*lines));
	for (i = 0; i < l.nlines; i++) {
		lines[i] = store_lines(st, id)[i];
		changed |= r->line(r->ctx, st, &lines[i]);
	}
	to = changed ? store_location(st, l.mapping, l.address, l.folded, lines, l.nlines)
		     : id;
	free(lines);
	*known_at(&r->locations, id, st->nlocations) = to;
	return to;
}

uint32_t rewriter_stack(void *ctx, struct store *st, uint32_t stack)
{
	struct rewriter *r = ctx;
	uint32_t to = *known_at(&r->stacks, stack, st->nstacks), depth, i, id;
	const uint32_t *frames;
	bool changed = false;

	if (to != ID_NONE)
		return to;
	depth = st->stacks[stack].n;
	XRESERVE(r->frames, r->frames_cap, depth + 1);
	for (i = 0; i < depth; i++) {
		frames = store_frames(st, stack, &depth);
		id = rewrite_location(r, st, frames[i]);
		changed |= id != frames[i];
		r->frames[i] = id;
	}
	to = changed ? store_stack(st, r->frames, depth) : stack;
	*known_at(&r->stacks, stack, st->nstacks) = to;
	return to;
}

void rewrite_side(struct pair *pair, enum side side, struct replicas *all,
		  stack_rewrite *rewrite, void *ctx)
{
	struct profile *p = pair->side[side];
	struct replica **r;
	size_t i, k, n;
	int column;

	for (i = 0; i < p->nsamples; i++)
		p->samples[i].stack = rewrite(ctx, p->store, p->samples[i].stack);
	r = replicas_of(all, side, &p->h, &n, &column);
	for (i = 0; i < n; i++) {
		for (k = 0; k < r[i]->ncosts; k++)
			r[i]->costs[k].stack =
				rewrite(ctx, p->store, r[i]->costs[k].stack);
	}
	free(r);
}
