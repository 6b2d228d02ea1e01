/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first pass: unit headers and root entries, and which addresses each unit claims.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define UNITS_MAX (1u << 24)

struct root {
	struct dw_value low, high, ranges, stmt, comp_dir, str_base, addr_base,
		ranges_base, dwo_name, dwo_id, old_ranges_base;
	uint16_t tag;
	bool children;
};

/* Header of the unit at off; false when what follows cannot be found any more. */
static bool read_header(struct dwarf *dw, uint64_t off, struct dw_unit *u)
{
	struct cursor c = dw_cursor(dw, dw->info, off);
	uint64_t n = cursor_u32(&c);

	*u = (struct dw_unit){.off = off, .off_size = 4, .type = DW_UT_compile};
	if (n == 0xffffffff) {
		u->off_size = 8;
		n = cursor_u64(&c);
	} else if (n >= 0xfffffff0) {
		return false;
	}
	if (c.bad || n > cursor_left(&c))
		return false;
	u->end = c.p - dw->info.p + n;
	c.end = dw->info.p + u->end;
	u->version = cursor_u16(&c);
	if (u->version >= 5) {
		u->type = cursor_u8(&c);
		u->addr_size = cursor_u8(&c);
		u->abbrev_off = cursor_uint(&c, u->off_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->dwo_id = cursor_u64(&c);
		else if (u->type == DW_UT_type || u->type == DW_UT_split_type)
			cursor_skip(&c, 8 + u->off_size);
	} else {
		u->abbrev_off = cursor_uint(&c, u->off_size);
		u->addr_size = cursor_u8(&c);
	}
	u->root = c.p - dw->info.p;
	u->damaged = c.bad || u->version < 2 || u->version > 5 ||
		     (u->addr_size != 2 && u->addr_size != 4 && u->addr_size != 8);
	return true;
}

static void take_root(struct root *r, unsigned name, const struct dw_value *v)
{
	switch (name) {
	case DW_AT_low_pc:
		r->low = *v;
		break;
	case DW_AT_high_pc:
		r->high = *v;
		break;
	case DW_AT_ranges:
		r->ranges = *v;
		break;
	case DW_AT_stmt_list:
		r->stmt = *v;
		break;
	case DW_AT_comp_dir:
		r->comp_dir = *v;
		break;
	case DW_AT_str_offsets_base:
		r->str_base = *v;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		r->addr_base = *v;
		break;
	case DW_AT_rnglists_base:
		r->ranges_base = *v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		r->dwo_name = *v;
		break;
	case DW_AT_GNU_dwo_id:
		r->dwo_id = *v;
		break;
	case DW_AT_GNU_ranges_base:
		r->old_ranges_base = *v;
		break;
	}
}

static bool read_root(struct dwarf *dw, const struct dw_unit *u, struct dw_abbrevs *one,
		      struct root *r)
{
	struct cursor c = dw_unit_cursor(dw, u, u->root);
	uint64_t code = cursor_uleb(&c);
	struct dw_value v;
	size_t i;

	*r = (struct root){0};
	if (!code || !dw_root_abbrev(dw, u, code, one))
		return false;
	r->tag = one->list[0].tag;
	r->children = one->list[0].children;
	for (i = 0; i < one->nattrs; i++) {
		if (!dw_read(&c, u, &one->attrs[i], &v))
			return false;
		take_root(r, one->attrs[i].name, &v);
	}
	return true;
}

/* Bases first: the other attributes may be indexes. */
static void apply_root(struct dwarf *dw, struct dw_unit *u, const struct root *r)
{
	uint64_t header = u->version < 5 ? 0 : u->off_size == 8 ? 16 : 8;
	bool alt_missing;

	u->str_offsets_base = r->str_base.form ? r->str_base.u : header;
	u->addr_base = r->addr_base.form ? r->addr_base.u : header;
	u->ranges_base = r->ranges_base.u;
	u->dwo = r->dwo_name.form != 0;
	if (r->dwo_id.form)
		u->dwo_id = r->dwo_id.u;
	u->old_ranges_base = r->old_ranges_base.u;
	if (r->dwo_name.form)
		dw_string(dw, u, &r->dwo_name, &u->dwo_name, &alt_missing);
	u->has_stmt = r->stmt.form != 0;
	u->stmt_list = r->stmt.u;
	u->has_low = r->low.form && dw_address(dw, u, &r->low, &u->low_pc);
	if (r->comp_dir.form)
		dw_string(dw, u, &r->comp_dir, &u->comp_dir, &alt_missing);
	u->code = r->tag == DW_TAG_compile_unit || r->tag == DW_TAG_skeleton_unit;
}

static void claim(struct dwarf *dw, uint64_t low, uint64_t high, uint32_t unit)
{
	XGROW(dw->claims, dw->nclaims, dw->claims_cap);
	dw->claims[dw->nclaims++] = (struct dw_claim){low, high, unit};
}

/*
 * A unit whose root entry names no addresses (old GCC, assemblers, partial links): those of its
 * line table, else those of its functions.
 */
static void claim_by_content(void *arg, uint32_t unit)
{
	struct dwarf *dw = arg;
	const struct dw_table *t = dw->units[unit].table;
	size_t i;

	/* then it may have any address, and is of less worth than any other */
	if (dw->units[unit].over_memory)
		claim(dw, 0, UINT64_MAX, unit);
	for (i = 0; i < t->lines.nseqs; i++)
		claim(dw, t->lines.seqs[i].low, t->lines.seqs[i].high, unit);
	if (t->lines.nseqs)
		return;
	for (i = 0; i + 1 < t->nstretches; i++)
		if (t->stretches[i].node != DWARF_NONE)
			claim(dw, t->stretches[i].start, t->stretches[i + 1].start, unit);
}

static void scan_one(struct dwarf *dw, uint32_t unit, struct dw_abbrevs *one,
		     struct dw_ranges *ranges)
{
	struct dw_unit *u = &dw->units[unit];
	struct root r;
	size_t i;

	if (!read_root(dw, u, one, &r)) {
		u->damaged = true;
		return;
	}
	apply_root(dw, u, &r);
	if (!u->code)
		return;
	if (!r.ranges.form && !r.high.form) {
		if (u->has_stmt || r.children)
			dw_decode(dw, &unit, 1, claim_by_content, dw);
		return;
	}
	ranges->n = 0;
	dw_entry_ranges(dw, u, &r.low, &r.high, &r.ranges, ranges);
	for (i = 0; i < ranges->n; i++)
		claim(dw, ranges->v[i].low, ranges->v[i].high, unit);
}

static int claim_cmp(const void *a, const void *b)
{
	const struct dw_claim *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static void scan_headers(struct dwarf *dw)
{
	struct dw_unit u;
	uint64_t off = 0;

	while (off < dw->info.n && dw->nunits < UNITS_MAX && dw_work(dw, 1) &&
	       read_header(dw, off, &u)) {
		XGROW(dw->units, dw->nunits, dw->units_cap);
		dw->units[dw->nunits++] = u;
		off = u.end;
	}
}

static void release_root(struct dw_abbrevs *one)
{
	free(one->list);
	free(one->attrs);
	free(one->steps);
}

void dw_scan_units(struct dwarf *dw)
{
	struct dw_abbrevs one = {0};
	struct dw_ranges ranges = {0};
	size_t i;

	/* all headers first: claims by content may refer to any unit */
	scan_headers(dw);
	for (i = 0; i < dw->nunits; i++)
		if (!dw->units[i].damaged)
			scan_one(dw, i, &one, &ranges);
	for (i = 0; i < dw->nunits; i++)
		dw->ndamaged += dw->units[i].damaged;
	if (dw->nclaims)
		qsort(dw->claims, dw->nclaims, sizeof(*dw->claims), claim_cmp);
	free(ranges.v);
	release_root(&one);
}

/* What the split half takes from the skeleton; version 5 has lists of its own. */
static void inherit(struct dw_unit *u, const struct dw_unit *skeleton)
{
	u->addr_base = skeleton->addr_base;
	u->low_pc = skeleton->low_pc;
	u->old_ranges_base = skeleton->old_ranges_base;
	u->dwo = false;
	if (u->version >= 5 && !u->ranges_base)
		u->ranges_base = u->off_size == 8 ? 20 : 12; /* behind the header */
}

struct dw_unit *dw_scan_split(struct dwarf *split, const struct dw_unit *skeleton)
{
	struct dw_unit *u, *twin = NULL;
	struct dw_abbrevs one = {0};
	struct root r;
	size_t i;

	scan_headers(split);
	for (i = 0; i < split->nunits; i++) {
		u = &split->units[i];
		if (u->damaged || !read_root(split, u, &one, &r)) {
			u->damaged = true;
			continue;
		}
		apply_root(split, u, &r);
		inherit(u, skeleton);
		if (u->code && u->dwo_id == skeleton->dwo_id &&
		    u->addr_size == skeleton->addr_size && !twin)
			twin = u;
	}
	release_root(&one);
	return twin;
}

struct dw_unit *dw_unit_at(struct dwarf *dw, uint64_t off)
{
	size_t lo = 0, hi = dw->nunits, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (dw->units[mid].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || off >= dw->units[lo - 1].end || off < dw->units[lo - 1].root ||
	    dw->units[lo - 1].damaged)
		return NULL;
	return &dw->units[lo - 1];
}
