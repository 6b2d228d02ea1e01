/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/startlines.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "tools/diff/rewrite.h"

/* Where a function begins in the new build; several: -1. */
struct start {
	uint32_t name, file;
	int64_t line;
};

struct starts {
	struct start *v;
	size_t n, cap;
	struct id_table ids;
	uint32_t *locations,
		*stacks; /* by id of those there were: what became of it; ID_NONE: not yet known */
	uint32_t *frames;
	size_t frames_cap;
};

/* ID_NONE if there is none; else its place, which is made if `add`. */
static uint32_t find(struct starts *x, const struct function *fn, bool add)
{
	uint64_t h = hash_u64(fn->name, fn->file);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&x->ids, h);
	     (id = id_table_at(&x->ids, h, &s)) != ID_NONE; s++) {
		if (x->v[id].name == fn->name && x->v[id].file == fn->file)
			return id;
	}
	if (!add)
		return ID_NONE;
	XGROW(x->v, x->n, x->cap);
	x->v[x->n] = (struct start){fn->name, fn->file, fn->start_line};
	id_table_put(&x->ids, h, (uint32_t)x->n);
	return (uint32_t)x->n++;
}

static void learn_location(struct starts *x, const struct store *st, uint32_t location)
{
	const struct line *lines = store_lines(st, location);
	uint32_t i, id;

	for (i = 0; i < st->locations[location].nlines; i++) {
		const struct function *fn = &st->functions[lines[i].function];

		if (!fn->start_line)
			continue;
		id = find(x, fn, true);
		if (x->v[id].line != fn->start_line)
			x->v[id].line = -1;
	}
}

static void learn(struct starts *x, const struct profile *p)
{
	bool *seen = xcalloc(p->store->nlocations + 1, sizeof(*seen));
	const uint32_t *frames;
	uint32_t n, k;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		frames = store_frames(p->store, p->samples[i].stack, &n);
		for (k = 0; k < n; k++) {
			if (!seen[frames[k]])
				learn_location(x, p->store, frames[k]);
			seen[frames[k]] = true;
		}
	}
	free(seen);
}

/* Of the base; true if it moved. */
static bool move_line(struct starts *x, struct store *st, struct line *l)
{
	struct function fn = st->functions[l->function];
	uint32_t id = fn.start_line ? find(x, &fn, false) : ID_NONE;
	int64_t from = fn.start_line, line;

	if (id == ID_NONE || x->v[id].line < 0 || x->v[id].line == from ||
	    __builtin_sub_overflow(l->line, from, &line) ||
	    __builtin_add_overflow(line, x->v[id].line, &line))
		return false;
	fn.start_line = x->v[id].line;
	l->line = line;
	l->function = store_function(st, &fn);
	return true;
}

static uint32_t move_location(struct starts *x, struct store *st, uint32_t id)
{
	struct location l = st->locations[id];
	struct line *lines;
	bool changed = false;
	uint32_t i;

	if (x->locations[id] != ID_NONE)
		return x->locations[id];
	lines = xcalloc(l.nlines + 1, sizeof(*lines));
	for (i = 0; i < l.nlines; i++) {
		lines[i] = store_lines(st, id)[i];
		changed |= move_line(x, st, &lines[i]);
	}
	if (changed)
		x->locations[id] = store_location(st, l.mapping, l.address, l.folded,
						  lines, l.nlines);
	else
		x->locations[id] = id;
	free(lines);
	return x->locations[id];
}

static uint32_t move_stack(void *ctx, struct store *st, uint32_t stack)
{
	struct starts *x = ctx;
	uint32_t depth = st->stacks[stack].n, i;
	bool changed = false;

	if (x->stacks[stack] != ID_NONE)
		return x->stacks[stack];
	XRESERVE(x->frames, x->frames_cap, depth + 1);
	for (i = 0; i < depth; i++) {
		uint32_t id = store_frames(st, stack, &depth)[i];

		x->frames[i] = move_location(x, st, id);
		changed |= x->frames[i] != id;
	}
	x->stacks[stack] = changed ? store_stack(st, x->frames, depth) : stack;
	return x->stacks[stack];
}

static uint32_t *unknown(uint32_t n)
{
	uint32_t *v = xmalloc((n + 1) * sizeof(*v));

	memset(v, 0xff, (n + 1) * sizeof(*v));
	return v;
}

void startlines_level(struct pair *pair, struct replicas *all)
{
	const struct store *st = pair->side[SIDE_BASE]->store;
	struct starts x = {0};

	id_table_init(&x.ids);
	learn(&x, pair->side[SIDE_NEW]);
	x.locations = unknown(st->nlocations);
	x.stacks = unknown(st->nstacks);
	rewrite_side(pair, SIDE_BASE, all, move_stack, &x);
	free(x.locations);
	free(x.stacks);
	free(x.frames);
	free(x.v);
	id_table_release(&x.ids);
}
