/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls between frames. To tell what is inlined only those to frames that are inlined somewhere
 * matter, and most frames are not: the walk passes them by without a look-up.
 */
#include "tools/render/edges.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

struct edge {
	uint32_t from, to;
	uint32_t last; /* number of the last stack it was in */
	bool inlined;
	int64_t value, base;
};

struct edges {
	const struct frames *f;
	bool all; /* not only calls to what is inlined somewhere */
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
			if ((g->all || f->v[id].inlined) && parent != ID_NONE &&
			    parent != id) {
				edge = edge_between(g, parent, id);
				if (edge->last != number) {
					/* of one stack the first call counts, as in pprof */
					edge->last = number;
					edge->value += w->plus + w->minus;
					edge->base -= w->minus;
					edge->inlined &= j > 0;
				}
			}
			parent = id;
		}
	}
}

/* False for calls that rows show nothing of, and for those that are too small. */
static bool is_worth_keeping(const struct edges *g, const struct edge *edge,
			     const struct rows *r)
{
	return g->row[edge->from] && g->row[edge->to] &&
	       (edge->value < 0 ? -edge->value : edge->value) >= r->edge_least;
}

static void judge(struct rows *r, struct edges *g)
{
	bool *inlined = xcalloc(r->n + 1, sizeof(bool)),
	     *called = xcalloc(r->n + 1, sizeof(bool));
	const struct edge *edge;
	size_t i;

	for (i = 0; i < g->n; i++) {
		edge = &g->v[i];
		if (!g->row[edge->to] ||
		    (edge->value < 0 ? -edge->value : edge->value) < r->edge_least)
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

static void edges_init(struct edges *g, const struct frames *f, const struct rows *r,
		       bool all)
{
	size_t i;

	*g = (struct edges){
		.f = f, .all = all, .row = xcalloc(f->n + 1, sizeof(*g->row))};
	id_table_init(&g->ids);
	for (i = 0; i < r->n; i++)
		g->row[r->v[i].frame] = (uint32_t)i + 1;
}

static void add_stacks(struct edges *g, const struct rows *r, const struct weights *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		add_stack(g, r->cut, &w->v[i], (uint32_t)i + 1);
}

static void edges_release(struct edges *g)
{
	id_table_release(&g->ids);
	free(g->v);
	free(g->row);
}

void edges_judge(struct rows *r, const struct frames *f, const struct weights *w)
{
	struct edges g;
	bool any = false;
	size_t i;

	for (i = 0; i < r->n; i++)
		any |= f->v[r->v[i].frame].inlined;
	if (!any)
		return;
	edges_init(&g, f, r, false);
	add_stacks(&g, r, w);
	judge(r, &g);
	edges_release(&g);
}

/* Among the calls of one row: heaviest first, then by the other side's name. */
static int cmp_call(const struct call *x, const struct call *y, const struct rows *r)
{
	int64_t a = x->value < 0 ? -x->value : x->value;
	int64_t b = y->value < 0 ? -y->value : y->value;
	int c;

	if (a != b)
		return a > b ? -1 : 1;
	c = str_cmp(r->v[x->from].name, r->v[y->from].name);
	if (!c)
		c = str_cmp(r->v[x->to].name, r->v[y->to].name);
	if (!c)
		c = (x->from > y->from) - (x->from < y->from);
	return c ? c : (x->to > y->to) - (x->to < y->to);
}

static int cmp_into(const void *a, const void *b, void *rows)
{
	const struct call *x = a, *y = b;

	return x->to != y->to ? (x->to > y->to) - (x->to < y->to) : cmp_call(x, y, rows);
}

static int cmp_out(const void *a, const void *b, void *rows)
{
	const struct call *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
				  : cmp_call(x, y, rows);
}

void calls_init(struct calls *c, const struct rows *r, const struct frames *f,
		const struct weights *w)
{
	struct edges g;
	size_t n = 0, i;

	edges_init(&g, f, r, true);
	add_stacks(&g, r, w);
	c->v = xcalloc(2 * g.n + 1, sizeof(*c->v));
	c->into = xcalloc(r->n + 1, sizeof(*c->into));
	c->out = xcalloc(r->n + 1, sizeof(*c->out));
	for (i = 0; i < g.n; i++) {
		if (is_worth_keeping(&g, &g.v[i], r))
			c->v[n++] = (struct call){g.row[g.v[i].from] - 1,
						  g.row[g.v[i].to] - 1, g.v[i].inlined,
						  g.v[i].value, g.v[i].base};
	}
	memcpy(c->v + n, c->v, n * sizeof(*c->v));
	qsort_r(c->v, n, sizeof(*c->v), cmp_into, (void *)r);
	qsort_r(c->v + n, n, sizeof(*c->v), cmp_out, (void *)r);
	for (i = n; i--;) {
		c->into[c->v[i].to].off = (uint32_t)i;
		c->into[c->v[i].to].n++;
		c->out[c->v[n + i].from].off = (uint32_t)(n + i);
		c->out[c->v[n + i].from].n++;
	}
	edges_release(&g);
}

void calls_release(struct calls *c)
{
	free(c->v);
	free(c->into);
	free(c->out);
	*c = (struct calls){0};
}
