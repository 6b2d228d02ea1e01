/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units decoded into their tables, next to one another on several threads.
 *
 * What comes out does not depend on how many there are. Whatever units share (abbreviations, other
 * files) is made ready before, by one thread. Each unit is then decoded on its own, with a copy of
 * the budget that was left when it began; units are accounted for in their order, and one that
 * took more than its predecessors left becomes empty, as it does when it is the only one at work.
 *
 * A program may have thousands of .dwo files. Only as many are in memory as are decoded together
 * or belong to tables that are kept.
 */
#include <pthread.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define FILES_TOGETHER 16 /* of split units; as many as keep threads busy */

struct decoded {
	struct dw_table *table;
	uint64_t work, ranges; /* what it took of the budget */
	bool ok, spent;	       /* spent: and that was not enough */
	bool old;	       /* it was there before */
};

struct decoding {
	struct dwarf *dw;
	const uint32_t *units; /* in order */
	struct decoded *v;     /* v[i].table != NULL: done */
	size_t n, next, committed;
	dw_unit_fn *done;
	void *arg;
	pthread_mutex_t lock;
};

void dw_table_free(struct dw_table *t)
{
	if (!t)
		return;
	dw_lines_release(&t->lines);
	free(t->nodes);
	free(t->stretches);
	free(t);
}

static void *fit(void *p, size_t *cap, size_t n, size_t size)
{
	void *q = *cap > n && n ? realloc(p, n * size) : NULL;

	if (!q)
		return p;
	*cap = n;
	return q;
}

/* Tables are kept for long. */
static void shrink(struct dw_table *t)
{
	t->nodes = fit(t->nodes, &t->nodes_cap, t->nnodes, sizeof(*t->nodes));
	t->stretches = fit(t->stretches, &t->stretches_cap, t->nstretches,
			   sizeof(*t->stretches));
	t->lines.rows = fit(t->lines.rows, &t->lines.rows_cap, t->lines.nrows,
			    sizeof(*t->lines.rows));
}

static size_t bytes_of(const struct dw_table *t)
{
	return sizeof(*t) + t->nodes_cap * sizeof(*t->nodes) +
	       t->stretches_cap * sizeof(*t->stretches) +
	       t->lines.rows_cap * sizeof(*t->lines.rows) +
	       t->lines.files_cap * sizeof(*t->lines.files) +
	       t->lines.dirs_cap * sizeof(*t->lines.dirs);
}

static uint64_t bytes_of_split(const struct dw_unit *u)
{
	return u->split && u->split->own_file ? u->split->own_file->data_bytes : 0;
}

/* Nothing may refer to it. */
static void drop_split(struct dw_unit *u)
{
	dwarf_free(u->split);
	u->split = NULL;
	u->dwo = true;
}

/* What the unit shares with others. */
static void prepare(struct dwarf *dw, struct dw_unit *u)
{
	if (u->dwo && (u->split = dw_split(dw, u)))
		u->dwo = false;
	if (u->split)
		dw_unit_abbrevs(u->split, u->split->twin);
	else
		dw_unit_abbrevs(dw, u);
}

/* On any thread, with a copy of the reader as it was when the unit's turn came. */
static struct decoded decode(struct dwarf *view, uint32_t unit)
{
	struct dw_unit *u = &view->units[unit], *in = u->split ? u->split->twin : u;
	struct decoded d = {.table = xcalloc(1, sizeof(*d.table))};
	uint64_t work = view->work, ranges = view->ranges_left;

	d.ok = dw_read_lines(view, u, &d.table->lines);
	d.ok &= dw_read_tree(u->split ? u->split : view, in, in->abbrevs, d.table);
	d.work = work - view->work;
	d.ranges = ranges - view->ranges_left;
	d.spent = !view->work;
	shrink(d.table);
	return d;
}

/* In order of the units. */
static void commit(struct dwarf *dw, uint32_t unit, struct decoded *d)
{
	struct dw_unit *u = &dw->units[unit];
	bool spent = d->spent || d->work >= dw->work || d->ranges > dw->ranges_left;

	u->over_memory = d->table->over_memory || d->table->lines.over_memory ||
			 bytes_of(d->table) > dw->table_max;
	if (spent || u->over_memory) {
		dw_table_free(d->table);
		d->table = xcalloc(1, sizeof(*d->table));
		d->ok = false;
		dwarf_free(u->split);
		u->split = NULL;
	}
	dw->work = spent ? 0 : dw->work - d->work;
	dw->ranges_left -= d->ranges < dw->ranges_left ? d->ranges : dw->ranges_left;
	if (!d->ok && !u->damaged) {
		u->damaged = true;
		dw->ndamaged++;
	}
	u->table = d->table;
	if (!u->over_memory)
		dw->table_bytes += bytes_of(u->table) + bytes_of_split(u);
}

static void forget(struct dwarf *dw, uint32_t unit)
{
	struct dw_unit *u = &dw->units[unit];

	if (!u->over_memory)
		dw->table_bytes -= bytes_of(u->table) + bytes_of_split(u);
	dw_table_free(u->table);
	u->table = NULL;
	if (u->split)
		drop_split(u);
}

/* May its table not stay, so that there is room for others? */
static bool is_one_too_many(const struct dwarf *dw, const struct dw_unit *u)
{
	uint64_t split = bytes_of_split(u);

	return dw->forget || dw->table_bytes > dw->table_max ||
	       (split && elf_room(u->split->own_file) / (2 * FILES_TOGETHER) < split);
}

/* What is decoded and has its turn. */
static void commit_all(struct decoding *g)
{
	size_t i;

	for (; g->committed < g->n && g->v[g->committed].table; g->committed++) {
		i = g->committed;
		if (!g->v[i].old)
			commit(g->dw, g->units[i], &g->v[i]);
		g->done(g->arg, g->units[i]);
		if (is_one_too_many(g->dw, &g->dw->units[g->units[i]]))
			forget(g->dw, g->units[i]);
	}
}

static void *work(void *arg)
{
	struct decoding *g = arg;
	struct dwarf view;
	struct decoded d;
	size_t i;

	pthread_mutex_lock(&g->lock);
	while (g->next < g->n) {
		i = g->next++;
		if (g->v[i].old)
			continue;
		view = *g->dw;
		pthread_mutex_unlock(&g->lock);
		d = decode(&view, g->units[i]);
		pthread_mutex_lock(&g->lock);
		g->v[i] = d;
		commit_all(g);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/* The first units of n that are decoded together are made ready: how many. */
static size_t prepare_some(struct decoding *g, size_t *todo)
{
	size_t n = 0, files = 0;
	struct dw_unit *u;
	bool full = false;

	for (; n < g->n && files < FILES_TOGETHER && !full; n++) {
		u = &g->dw->units[g->units[n]];
		g->v[n] = (struct decoded){.table = u->table, .old = u->table};
		if (u->table)
			continue;
		prepare(g->dw, u);
		if (bytes_of_split(u)) {
			full = elf_room(u->split->own_file) < 2 * bytes_of_split(u);
			files++;
		}
		++*todo;
	}
	return n;
}

static void decode_some(struct decoding *g, size_t todo)
{
	size_t want = g->dw->threads < todo ? g->dw->threads : todo, started = 0;
	pthread_t *threads = xcalloc(want + 1, sizeof(*threads));

	commit_all(g);
	/* this thread is one of them; where there are no more to be had, it is all */
	while (started + 1 < want && !pthread_create(&threads[started], NULL, work, g))
		started++;
	work(g);
	while (started-- > 0)
		pthread_join(threads[started], NULL);
	free(threads);
}

void dw_decode(struct dwarf *dw, const uint32_t *units, size_t n, dw_unit_fn *done,
	       void *arg)
{
	struct decoded *v = xcalloc(n + 1, sizeof(*v));
	size_t i, todo;

	for (i = 0; i < n;) {
		struct decoding g = {.dw = dw,
				     .units = units + i,
				     .v = v,
				     .n = n - i,
				     .done = done,
				     .arg = arg,
				     .lock = PTHREAD_MUTEX_INITIALIZER};

		todo = 0;
		g.n = prepare_some(&g, &todo);
		decode_some(&g, todo);
		i += g.n;
	}
	free(v);
}
