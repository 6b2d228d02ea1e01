/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: a node's entry, and where that has none, what it was declared by or inlined from,
 * across units and into the alternate file.
 */
#include <dwarf.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define CHAIN_MAX 16 /* links; loops are possible */
#define NAME_MAX_BYTES (1u << 16)

struct names {
	struct dw_text linkage, bare;
	uint64_t line, file; /* of the declaration */
	bool has_line, has_file, alt_missing;
	struct dwarf *file_dw; /* whose unit `file` counts in */
	struct dw_unit *file_unit;
};

/* An entry somewhere: in which file, in which unit. */
struct place {
	struct dwarf *dw;
	struct dw_unit *u;
	uint64_t off;
};

static bool go(struct dwarf *dw, uint64_t off, bool in_alt, struct place *p,
	       bool *alt_missing)
{
	if (in_alt && !dw->alt) {
		*alt_missing = true;
		return false;
	}
	p->dw = in_alt ? dw->alt : dw;
	p->u = dw_unit_at(p->dw, off);
	p->off = off;
	return p->u != NULL;
}

static void take_name(struct place *p, struct names *m, struct dw_text *to,
		      const struct dw_value *v)
{
	struct dw_text t;

	if (!to->n && dw_string(p->dw, p->u, v, &t, &m->alt_missing) &&
	    t.n < NAME_MAX_BYTES)
		*to = t;
}

static void take(struct place *p, struct names *m, unsigned name,
		 const struct dw_value *v, struct dw_value *next)
{
	switch (name) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		take_name(p, m, &m->linkage, v);
		break;
	case DW_AT_name:
		take_name(p, m, &m->bare, v);
		break;
	case DW_AT_decl_line:
		if (!m->has_line && dw_is_constant(v))
			m->line = v->u;
		m->has_line = true;
		break;
	case DW_AT_decl_file:
		if (!m->has_file && dw_is_constant(v)) {
			m->file = v->u;
			m->file_dw = p->dw;
			m->file_unit = p->u;
		}
		m->has_file = true;
		break;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		*next = *v;
		break;
	}
}

/* One entry; *next is the reference to follow from it. */
static bool read_names(struct place *p, struct names *m, struct dw_value *next)
{
	struct cursor c = dw_unit_cursor(p->dw, p->u, p->off);
	const struct dw_abbrevs *t = dw_unit_abbrevs(p->dw, p->u);
	const struct dw_abbrev *a = dw_abbrev(t, cursor_uleb(&c));
	struct dw_value v;
	uint32_t i;

	next->form = 0;
	if (!a || !dw_work(p->dw, 1 + a->nattrs))
		return false;
	for (i = 0; i < a->nattrs; i++) {
		if (!dw_read(&c, p->u, &t->attrs[a->attrs + i], &v))
			return false;
		take(p, m, t->attrs[a->attrs + i].name, &v, next);
	}
	return true;
}

static void collect(struct place p, struct names *m)
{
	struct dw_value next;
	uint64_t off;
	bool in_alt;
	unsigned i;

	for (i = 0; i < CHAIN_MAX; i++) {
		if (!read_names(&p, m, &next) || !next.form ||
		    !dw_reference(p.u, &next, &off, &in_alt) ||
		    !go(p.dw, off, in_alt, &p, &m->alt_missing))
			return;
	}
}

/* The files of a split unit are numbered by the line table of its skeleton. */
static uint32_t add_function(struct dwarf *dw, struct dw_unit *u, struct dw_table *t,
			     const struct names *m)
{
	struct dw_unit *own = u->split ? u->split->twin : u;

	struct dwarf_function f = {
		.linkage = m->linkage.n
				   ? intern_put(dw->strings, m->linkage.p, m->linkage.n)
				   : 0,
		.bare = m->bare.n ? intern_put(dw->strings, m->bare.p, m->bare.n) : 0,
		.start_line = m->line <= UINT32_MAX ? m->line : 0,
		.alt_missing = m->alt_missing,
	};

	/* the file of a declaration in another unit would cost that unit's line table */
	if (m->file_unit == own)
		f.start_file = dw_file_id(dw, u, &t->lines, m->file);
	XGROW(dw->functions, dw->nfunctions, dw->functions_cap);
	dw->functions[dw->nfunctions] = f;
	return dw->nfunctions++;
}

uint32_t dw_node_function(struct dwarf *dw, struct dw_unit *u, struct dw_table *t,
			  uint32_t node)
{
	struct dw_node *nd = &t->nodes[node];
	struct dwarf *entries = u->split ? u->split : dw; /* where the node's entry is */
	struct place p = {entries, u->split ? u->split->twin : u, nd->die};
	struct names m = {0};
	uint32_t f;

	if (nd->function != DWARF_NONE)
		return nd->function;
	f = nd->origin != UINT64_MAX ? u64map_get(&entries->by_origin, nd->origin)
				     : U64MAP_NONE;
	if (f == U64MAP_NONE) {
		collect(p, &m);
		f = add_function(dw, u, t, &m);
		if (nd->origin != UINT64_MAX)
			u64map_put(&entries->by_origin, nd->origin, f);
	}
	return nd->function = f;
}
