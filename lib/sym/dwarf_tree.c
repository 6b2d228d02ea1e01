/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the entries of a unit: functions with code and the calls inlined into them.
 *
 * Every entry is visited with an explicit stack, because code hides anywhere: lambdas are
 * subprograms within their enclosing function's entry, local classes' methods too. What nests
 * in a function that has no code itself is looked at all the same. An inline chain ends at the
 * subprogram it is in, however deep that nests in others.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define DEPTH_MAX 512
#define NODES_MAX (1u << 24) /* functions and inlined calls of one unit */
#define BYTES_A_NODE 512     /* of a unit, about: less growing of tables */

struct walk {
	struct dwarf *dw;
	struct dw_unit *u;
	struct dw_abbrevs *abbrevs;
	struct dw_table *t;
	struct dw_ranges ranges; /* scratch */
	struct dw_interval *intervals;
	size_t nintervals, intervals_cap;
	uint32_t stack[DEPTH_MAX]; /* innermost node around the entries of each level */
	unsigned depth;
};

static uint32_t small(const struct dw_value *v)
{
	return dw_is_constant(v) && v->u <= UINT32_MAX ? v->u : 0;
}

static uint64_t origin_key(const struct walk *w, const struct dw_value *v)
{
	uint64_t off;
	bool in_alt;

	if (!v->form || !dw_reference(w->u, v, &off, &in_alt) || off >> 62)
		return UINT64_MAX;
	return off << 1 | in_alt;
}

/*
 * A node for an entry that has code, within `parent`; DWARF_NONE when it has none. Inlined
 * calls only count inside a function with code.
 */
static uint32_t add_node(struct walk *w, uint64_t die, const struct dw_value *v,
			 bool inlined, uint32_t parent)
{
	struct dw_table *t = w->t;
	uint32_t id = t->nnodes;
	struct dw_node *node;
	size_t i;

	if ((inlined && parent == DWARF_NONE) || id >= NODES_MAX)
		return DWARF_NONE;
	w->ranges.n = 0;
	dw_entry_ranges(w->dw, w->u, &v[DW_LOW], &v[DW_HIGH], &v[DW_RANGES], &w->ranges);
	if (!w->ranges.n)
		return DWARF_NONE;
	XGROW(t->nodes, t->nnodes, t->nodes_cap);
	node = &t->nodes[t->nnodes++];
	*node = (struct dw_node){
		.die = die,
		.origin = inlined ? origin_key(w, &v[DW_ORIGIN]) : UINT64_MAX,
		.parent = inlined ? parent : DWARF_NONE,
		.function = DWARF_NONE,
		.sub = inlined ? t->nodes[parent].sub : id,
		.depth = inlined ? t->nodes[parent].depth + 1 : 0,
		.call_file = small(&v[DW_CALL_FILE]),
		.call_line = small(&v[DW_CALL_LINE]),
		.call_column = small(&v[DW_CALL_COLUMN]),
	};
	for (i = 0; i < w->ranges.n; i++) {
		XGROW(w->intervals, w->nintervals, w->intervals_cap);
		w->intervals[w->nintervals++] =
			(struct dw_interval){w->ranges.v[i].low, w->ranges.v[i].high, id};
	}
	return id;
}

/* A function or inlined call; *inner becomes the node around its children. */
static void visit(struct walk *w, const struct dw_abbrev *a, uint64_t die,
		  const struct dw_value *v, uint32_t *inner)
{
	bool inlined = a->role == DW_ROLE_INLINE;
	uint32_t id = add_node(w, die, v, inlined, *inner);

	/*
	 * An inlined call without addresses of its own (all optimised away, or dead) passes its
	 * parent on; a function without never lends it to what nests in it.
	 */
	if (id != DWARF_NONE || !inlined)
		*inner = id;
}

/* Jump over the children of a leaf; false if the entry does not say where they end. */
static bool skip_children(struct walk *w, struct cursor *c, const struct dw_value *v)
{
	uint64_t off;
	bool in_alt;

	if (!v->form || !dw_reference(w->u, v, &off, &in_alt) || in_alt ||
	    off > w->u->end || w->dw->info.p + off < c->p)
		return false;
	c->p = w->dw->info.p + off;
	return true;
}

/* One entry; *inner: the node around its children; *skipped: these are behind us. */
static bool read_entry(struct walk *w, struct cursor *c, const struct dw_abbrev *a,
		       uint64_t die, uint32_t *inner, bool *skipped)
{
	struct dw_value v[DW_NSLOTS];

	if (a->plain)
		return cursor_skip(c, a->fixed);
	if (!dw_read_entry(c, w->abbrevs, a, w->u, v))
		return false;
	if (a->role == DW_ROLE_LEAF) {
		*skipped = a->children && skip_children(w, c, &v[DW_SIBLING]);
		return true;
	}
	if (a->role != DW_ROLE_NONE)
		visit(w, a, die, v, inner);
	return dw_work(w->dw, 1); /* its ranges may have taken all there was */
}

static bool walk_entries(struct walk *w)
{
	struct cursor c = dw_unit_cursor(w->dw, w->u, w->u->root);
	const struct dw_abbrev *a;
	uint32_t inner = DWARF_NONE;
	bool skipped;
	uint64_t code, die;

	/* each step of the loop takes a byte at least */
	if (!dw_work(w->dw, cursor_left(&c)))
		return false;
	while (c.p < c.end) {
		if (w->t->nnodes > w->dw->table_max / sizeof(*w->t->nodes)) {
			w->t->over_memory = true;
			return false;
		}
		die = c.p - w->dw->info.p;
		code = cursor_uleb(&c);
		if (!code) {
			if (w->depth <= 1)
				return !c.bad; /* the root's children are over; padding may follow */
			inner = w->stack[--w->depth - 1];
			continue;
		}
		a = dw_abbrev(w->abbrevs, code);
		if (!a)
			return false;
		inner = w->depth ? w->stack[w->depth - 1] : DWARF_NONE;
		skipped = false;
		if (!read_entry(w, &c, a, die, &inner, &skipped))
			return false;
		if (!a->children) {
			if (!w->depth)
				return !c.bad;
			continue;
		}
		if (skipped)
			continue;
		if (w->depth == DEPTH_MAX)
			return false;
		w->stack[w->depth++] = inner;
	}
	return !c.bad;
}

bool dw_read_tree(struct dwarf *dw, struct dw_unit *u, struct dw_abbrevs *abbrevs,
		  struct dw_table *t)
{
	struct walk w = {.dw = dw, .u = u, .abbrevs = abbrevs, .t = t};
	size_t about = (u->end - u->root) / BYTES_A_NODE;
	bool ok;

	XRESERVE(t->nodes, t->nodes_cap, about);
	XRESERVE(w.intervals, w.intervals_cap, about);
	ok = walk_entries(&w);
	dw_flatten(dw, t, &w.intervals, w.nintervals);
	free(w.intervals);
	free(w.ranges.v);
	return ok;
}
