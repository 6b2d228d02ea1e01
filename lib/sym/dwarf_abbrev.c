/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abbreviation tables, decoded once into attribute lists and into programs for getting over an
 * entry without looking at it (runs of fixed-size forms become one step).
 */
#include <dwarf.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define TABLE_ENTRIES_MAX (1u << 22)

static uint8_t role_of(unsigned tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
		return DW_ROLE_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return DW_ROLE_INLINE;
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
	case DW_TAG_GNU_template_parameter_pack:
	case DW_TAG_GNU_formal_parameter_pack:
	case DW_TAG_variant_part:
		return DW_ROLE_LEAF;
	}
	return DW_ROLE_NONE;
}

static struct dw_step step_of(const struct dw_abbrevs *t, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return (struct dw_step){DW_STEP_FIXED, 0};
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return (struct dw_step){DW_STEP_FIXED, 1};
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return (struct dw_step){DW_STEP_FIXED, 2};
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return (struct dw_step){DW_STEP_FIXED, 3};
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return (struct dw_step){DW_STEP_FIXED, 4};
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return (struct dw_step){DW_STEP_FIXED, 8};
	case DW_FORM_data16:
		return (struct dw_step){DW_STEP_FIXED, 16};
	case DW_FORM_addr:
		return (struct dw_step){DW_STEP_FIXED, t->addr_size};
	case DW_FORM_ref_addr:
		return (struct dw_step){DW_STEP_FIXED, t->ref_addr_size};
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return (struct dw_step){DW_STEP_FIXED, t->off_size};
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index:
		return (struct dw_step){DW_STEP_LEB, 0};
	case DW_FORM_string:
		return (struct dw_step){DW_STEP_STRING, 0};
	case DW_FORM_block1:
		return (struct dw_step){DW_STEP_BLOCK, 1};
	case DW_FORM_block2:
		return (struct dw_step){DW_STEP_BLOCK, 2};
	case DW_FORM_block4:
		return (struct dw_step){DW_STEP_BLOCK, 4};
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return (struct dw_step){DW_STEP_BLOCK, 0};
	case DW_FORM_indirect:
		return (struct dw_step){DW_STEP_INDIRECT, 0};
	}
	return (struct dw_step){DW_STEP_UNKNOWN, 0};
}

static uint8_t slot_of(enum dw_role role, unsigned name)
{
	if (name == DW_AT_sibling && role != DW_ROLE_NONE)
		return DW_SIBLING;
	if (role != DW_ROLE_FUNCTION && role != DW_ROLE_INLINE)
		return DW_NSLOTS;
	switch (name) {
	case DW_AT_low_pc:
		return DW_LOW;
	case DW_AT_high_pc:
		return DW_HIGH;
	case DW_AT_ranges:
		return DW_RANGES;
	case DW_AT_abstract_origin:
		return DW_ORIGIN;
	case DW_AT_call_file:
		return DW_CALL_FILE;
	case DW_AT_call_line:
		return DW_CALL_LINE;
	case DW_AT_call_column:
		return DW_CALL_COLUMN;
	}
	return DW_NSLOTS;
}

static void add_step(struct dw_abbrevs *t, struct dw_abbrev *a, struct dw_step s)
{
	struct dw_step *last = a->nsteps ? &t->steps[t->nsteps - 1] : NULL;

	a->plain &= s.kind == DW_STEP_FIXED;
	if (s.kind == DW_STEP_FIXED) {
		a->fixed += s.n; /* cannot overflow: at most 16 per attribute */
		if (!s.n)
			return;
		if (last && last->kind == DW_STEP_FIXED) {
			last->n += s.n;
			return;
		}
	}
	XGROW(t->steps, t->nsteps, t->steps_cap);
	t->steps[t->nsteps++] = s;
	a->nsteps++;
}

/* One declaration; false at the end of the table or on damage. */
static bool read_one(struct dwarf *dw, struct cursor *c, struct dw_abbrevs *t)
{
	struct dw_abbrev a = {.attrs = t->nattrs, .steps = t->nsteps};
	uint64_t tag, name, form;
	struct dw_attr attr;

	a.code = cursor_uleb(c);
	if (!a.code || c->bad)
		return false;
	tag = cursor_uleb(c);
	a.tag = tag <= UINT16_MAX ? tag : 0;
	a.role = role_of(a.tag);
	a.plain = a.role != DW_ROLE_FUNCTION && a.role != DW_ROLE_INLINE;
	a.children = cursor_u8(c);
	for (;;) {
		name = cursor_uleb(c);
		form = cursor_uleb(c);
		if (c->bad || !dw_work(dw, 1) || t->nattrs >= TABLE_ENTRIES_MAX)
			return false;
		if (!name && !form)
			break;
		attr = (struct dw_attr){
			.name = name <= UINT16_MAX ? name : 0,
			.form = form <= UINT16_MAX ? form : 0,
		};
		attr.slot = slot_of(a.role, attr.name);
		if (form == DW_FORM_implicit_const)
			attr.implicit = cursor_sleb(c);
		XGROW(t->attrs, t->nattrs, t->attrs_cap);
		t->attrs[t->nattrs++] = attr;
		add_step(t, &a,
			 attr.slot == DW_NSLOTS
				 ? step_of(t, attr.form)
				 : (struct dw_step){DW_STEP_READ, a.nattrs});
		a.nattrs++;
	}
	XGROW(t->list, t->n, t->cap);
	t->list[t->n++] = a;
	return true;
}

static int code_cmp(const void *a, const void *b)
{
	const struct dw_abbrev *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	return (x->attrs > y->attrs) -
	       (x->attrs < y->attrs); /* the first one declared wins */
}

static void set_shape(struct dw_abbrevs *t, const struct dw_unit *u)
{
	t->off = u->abbrev_off;
	t->addr_size = u->addr_size;
	t->off_size = u->off_size;
	t->ref_addr_size = u->version == 2 ? u->addr_size : u->off_size;
}

static bool same_shape(const struct dw_abbrevs *a, const struct dw_abbrevs *b)
{
	return a->off == b->off && a->addr_size == b->addr_size &&
	       a->off_size == b->off_size && a->ref_addr_size == b->ref_addr_size;
}

/* dw->abbrevs is sorted by offset; the index where offset `off` is or would be. */
static size_t table_place(const struct dwarf *dw, uint64_t off)
{
	size_t lo = 0, hi = dw->nabbrevs, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (dw->abbrevs[mid]->off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct dw_abbrevs *dw_unit_abbrevs(struct dwarf *dw, struct dw_unit *u)
{
	struct dw_abbrevs key = {0}, *t;
	struct cursor c;
	size_t i, place;

	if (u->abbrevs)
		return u->abbrevs;
	set_shape(&key, u);
	place = table_place(dw, key.off);
	for (i = place; i < dw->nabbrevs && dw->abbrevs[i]->off == key.off; i++)
		if (same_shape(dw->abbrevs[i], &key))
			return u->abbrevs = dw->abbrevs[i];
	t = xcalloc(1, sizeof(*t));
	set_shape(t, u);
	c = dw_cursor(dw, dw->abbrev, t->off);
	while (read_one(dw, &c, t))
		;
	t->dense = true;
	for (i = 0; i < t->n && t->dense; i++)
		t->dense = t->list[i].code == i + 1;
	if (!t->dense)
		qsort(t->list, t->n, sizeof(*t->list), code_cmp);
	XGROW(dw->abbrevs, dw->nabbrevs, dw->abbrevs_cap);
	for (i = dw->nabbrevs++; i > place; i--)
		dw->abbrevs[i] = dw->abbrevs[i - 1];
	dw->abbrevs[place] = t;
	return u->abbrevs = t;
}

bool dw_root_abbrev(struct dwarf *dw, const struct dw_unit *u, uint64_t code,
		    struct dw_abbrevs *one)
{
	struct cursor c = dw_cursor(dw, dw->abbrev, u->abbrev_off);

	set_shape(one, u);
	do {
		one->n = one->nattrs = one->nsteps = 0;
		if (!read_one(dw, &c, one))
			return false;
	} while (one->list[0].code != code);
	return true;
}

const struct dw_abbrev *dw_abbrev(const struct dw_abbrevs *t, uint64_t code)
{
	size_t lo = 0, hi = t->n, mid;

	if (t->dense)
		return code - 1 < t->n ? &t->list[code - 1] : NULL;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->list[mid].code < code)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && t->list[lo].code == code ? &t->list[lo] : NULL;
}

void dw_abbrevs_free(struct dw_abbrevs *t)
{
	if (!t)
		return;
	free(t->list);
	free(t->attrs);
	free(t->steps);
	free(t);
}

bool dw_read_entry(struct cursor *c, const struct dw_abbrevs *t,
		   const struct dw_abbrev *a, const struct dw_unit *u, struct dw_value *v)
{
	const struct dw_step *s, *end;
	const struct dw_attr *at;
	size_t n, i;

	for (i = 0; i < DW_NSLOTS; i++)
		v[i].form = 0;
	if (!a->nsteps)
		return true;
	s = t->steps + a->steps;
	for (end = s + a->nsteps; s < end; s++) {
		switch (s->kind) {
		case DW_STEP_READ:
			at = &t->attrs[a->attrs + s->n];
			if (!dw_read(c, u, at, &v[at->slot]))
				return false;
			break;
		case DW_STEP_FIXED:
			cursor_skip(c, s->n);
			break;
		case DW_STEP_LEB:
			cursor_skip_leb(c);
			break;
		case DW_STEP_STRING:
			cursor_str(c, &n);
			break;
		case DW_STEP_BLOCK:
			cursor_skip(c, s->n ? cursor_uint(c, s->n) : cursor_uleb(c));
			break;
		case DW_STEP_INDIRECT:
			if (!dw_skip_form(c, u, cursor_uleb(c)))
				return false;
			break;
		default:
			return cursor_fail(c);
		}
	}
	return !c->bad;
}
