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

static struct dw_skip skip_of(const struct dw_abbrevs *t, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return (struct dw_skip){DW_SKIP_FIXED, 0};
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return (struct dw_skip){DW_SKIP_FIXED, 1};
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return (struct dw_skip){DW_SKIP_FIXED, 2};
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return (struct dw_skip){DW_SKIP_FIXED, 3};
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return (struct dw_skip){DW_SKIP_FIXED, 4};
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return (struct dw_skip){DW_SKIP_FIXED, 8};
	case DW_FORM_data16:
		return (struct dw_skip){DW_SKIP_FIXED, 16};
	case DW_FORM_addr:
		return (struct dw_skip){DW_SKIP_FIXED, t->addr_size};
	case DW_FORM_ref_addr:
		return (struct dw_skip){DW_SKIP_FIXED, t->ref_addr_size};
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return (struct dw_skip){DW_SKIP_FIXED, t->off_size};
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index:
		return (struct dw_skip){DW_SKIP_LEB, 0};
	case DW_FORM_string:
		return (struct dw_skip){DW_SKIP_STRING, 0};
	case DW_FORM_block1:
		return (struct dw_skip){DW_SKIP_BLOCK, 1};
	case DW_FORM_block2:
		return (struct dw_skip){DW_SKIP_BLOCK, 2};
	case DW_FORM_block4:
		return (struct dw_skip){DW_SKIP_BLOCK, 4};
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return (struct dw_skip){DW_SKIP_BLOCK, 0};
	case DW_FORM_indirect:
		return (struct dw_skip){DW_SKIP_INDIRECT, 0};
	}
	return (struct dw_skip){DW_SKIP_UNKNOWN, 0};
}

static void add_skip(struct dw_abbrevs *t, struct dw_abbrev *a, struct dw_skip s)
{
	struct dw_skip *last = a->nskips ? &t->skips[t->nskips - 1] : NULL;

	if (s.kind == DW_SKIP_FIXED) {
		if (!s.n)
			return;
		if (last && last->kind == DW_SKIP_FIXED) {
			last->n += s.n; /* cannot overflow: at most 16 per attribute */
			return;
		}
	}
	XGROW(t->skips, t->nskips, t->skips_cap);
	t->skips[t->nskips++] = s;
	a->nskips++;
}

/* One declaration; false at the end of the table or on damage. */
static bool read_one(struct dwarf *dw, struct cursor *c, struct dw_abbrevs *t)
{
	struct dw_abbrev a = {.attrs = t->nattrs, .skips = t->nskips};
	uint64_t tag, name, form;
	struct dw_attr attr;

	a.code = cursor_uleb(c);
	if (!a.code || c->bad)
		return false;
	tag = cursor_uleb(c);
	a.tag = tag <= UINT16_MAX ? tag : 0;
	a.role = role_of(a.tag);
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
		if (form == DW_FORM_implicit_const)
			attr.implicit = cursor_sleb(c);
		a.sibling |= name == DW_AT_sibling;
		XGROW(t->attrs, t->nattrs, t->attrs_cap);
		t->attrs[t->nattrs++] = attr;
		a.nattrs++;
		add_skip(t, &a, skip_of(t, attr.form));
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
		one->n = one->nattrs = one->nskips = 0;
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
	free(t->skips);
	free(t);
}

bool dw_skip_entry(struct cursor *c, const struct dw_abbrevs *t,
		   const struct dw_abbrev *a, const struct dw_unit *u)
{
	const struct dw_skip *s, *end;
	size_t n;

	if (!a->nskips)
		return true;
	s = t->skips + a->skips;
	for (end = s + a->nskips; s < end; s++) {
		switch (s->kind) {
		case DW_SKIP_FIXED:
			cursor_skip(c, s->n);
			break;
		case DW_SKIP_LEB:
			cursor_skip_leb(c);
			break;
		case DW_SKIP_STRING:
			cursor_str(c, &n);
			break;
		case DW_SKIP_BLOCK:
			cursor_skip(c, s->n ? cursor_uint(c, s->n) : cursor_uleb(c));
			break;
		case DW_SKIP_INDIRECT:
			if (!dw_skip_form(c, u, cursor_uleb(c)))
				return false;
			break;
		default:
			return cursor_fail(c);
		}
	}
	return !c->bad;
}
