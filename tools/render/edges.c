/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls between frames. Only those to frames that are inlined somewhere matter, and most
 * frames are not: the walk passes them by without a look-up.
 */
#include "tools/render/edges.h"

#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

struct edge {
	uint32_t from, to;
	uint32_t last; /* number of the last stack it was in */
	bool inlined;
	int64_t value;
};

struct edges {
	const struct frames *f;
	struct edge *v;
	size_t n, cap;
	struct id_table ids;
	uint32_t *row; /* by frame id: 1 + its row; 0: not shown */
};

static struct edge *edge_between(struct edges *g, uint32_t from, uint32_t to)
{
	uint64_t h = hash_u64(from, to);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&g->ids, h);
	     (id = id_table_at(&g->ids, h, &s)) != ID_NONE; s++) {
		if (g->v[id].from == from && g->v[id].to == to)
			return &g->v[id];
	}
	XGROW(g->v, g->n, g->cap);
	id = (uint32_t)g->n++;
	g->v[id] = (struct edge){.from = from, .to = to, .inlined = true};
	id_table_put(&g->ids, h, id);
	return &g->v[id];
}

static void add_stack(struct edges *g, bool cut, const struct weight *w, uint32_t number)
{
	const struct frames *f = g->f;
	uint32_t n, k, i, j, parent = ID_NONE, id;
	const uint32_t *locations = store_frames(f->p->store, w->stack, &n), *ids;
	struct edge *edge;

	for (i = n; i; i--) {
		ids = f->pool + f->by_location[locations[i - 1]].off;
		k = f->by_location[locations[i - 1]].n;
		for (j = 0; j < k; j++) {
			id = ids[j];
			if (cut && !g->row[id])
				continue;
			if (f->v[id].inlined && parent != ID_NONE && parent != id) {
				edge = edge_between(g, parent, id);
				if (edge->last != number) {
					/* of one stack the first call counts, as in pprof */
					edge->last = number;
					edge->value += w->plus + w->minus;
					edge->inlined &= j > 0;
				}
			}
			parent = id;
		}
	}
}

static void judge(struct rows *r, struct edges *g, int64_t least)
{
	bool *inlined = xcalloc(r->n + 1, sizeof(bool)),
	     *called = xcalloc(r->n + 1, sizeof(bool));
	const struct edge *edge;
	size_t i;

	for (i = 0; i < g->n; i++) {
		edge = &g->v[i];
		if (!g->row[edge->to] ||
		    (edge->value < 0 ? -edge->value : edge->value) < least)
			continue;
		if (edge->inlined)
			inlined[g->row[edge->to] - 1] = true;
		else
			called[g->row[edge->to] - 1] = true;
	}
	for (i = 0; i < r->n; i++)
		r->v[i].inlining = !inlined[i] ? INLINED_NEVER
				   : called[i] ? INLINED_PARTLY
					       : INLINED_ALWAYS;
	free(inlined);
	free(called);
}

void edges_judge(struct rows *r, const struct frames *f, const struct weights *w,
		 bool cut, int64_t least)
{
	struct edges g = {.f = f, .row = xcalloc(f->n + 1, sizeof(uint32_t))};
	bool any = false;
	size_t i;

	for (i = 0; i < r->n; i++) {
		g.row[r->v[i].frame] = (uint32_t)i + 1;
		any |= f->v[r->v[i].frame].inlined;
	}
	if (any) {
		id_table_init(&g.ids);
		for (i = 0; i < w->n; i++)
			add_stack(&g, cut, &w->v[i], (uint32_t)i + 1);
		judge(r, &g, least);
		id_table_release(&g.ids);
		free(g.v);
	}
	free(g.row);
}
