/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/startlines.h"

#include <stdlib.h>

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
static bool move_line(void *ctx, struct store *st, struct line *l)
{
	struct starts *x = ctx;
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

void startlines_level(struct pair *pair, struct replicas *all)
{
	struct starts x = {0};
	struct rewriter r = {.line = move_line, .ctx = &x};

	id_table_init(&x.ids);
	learn(&x, pair->side[SIDE_NEW]);
	rewrite_side(pair, SIDE_BASE, all, rewriter_stack, &r);
	rewriter_release(&r);
	free(x.v);
	id_table_release(&x.ids);
}
