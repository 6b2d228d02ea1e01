/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attribute values: reading by form, and turning them into strings, addresses, references.
 */
#include <dwarf.h>

#include "lib/sym/dwarf_internal.h"

static bool read_block(struct cursor *c, struct dw_value *v, uint64_t n)
{
	v->p = c->p;
	v->n = n <= cursor_left(c) ? n : 0;
	return cursor_skip(c, n);
}

bool dw_read(struct cursor *c, const struct dw_unit *u, const struct dw_attr *a,
	     struct dw_value *v)
{
	unsigned form = a->form;

	if (form == DW_FORM_indirect) {
		uint64_t f = cursor_uleb(c);

		/* neither has a meaning without its declaration */
		if (f == DW_FORM_indirect || f == DW_FORM_implicit_const ||
		    f > UINT16_MAX)
			return cursor_fail(c);
		form = f;
	}
	*v = (struct dw_value){.form = form};
	switch (form) {
	case DW_FORM_implicit_const:
		v->u = a->implicit;
		break;
	case DW_FORM_flag_present:
		v->u = 1;
		break;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		v->u = cursor_u8(c);
		break;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		v->u = cursor_u16(c);
		break;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		v->u = cursor_uint(c, 3);
		break;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		v->u = cursor_u32(c);
		break;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		v->u = cursor_u64(c);
		break;
	case DW_FORM_data16:
		return read_block(c, v, 16);
	case DW_FORM_addr:
		v->u = cursor_uint(c, u->addr_size);
		break;
	case DW_FORM_ref_addr:
		v->u = cursor_uint(c, u->version == 2 ? u->addr_size : u->off_size);
		break;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		v->u = cursor_uint(c, u->off_size);
		break;
	case DW_FORM_sdata:
		v->u = cursor_sleb(c);
		break;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_str_index:
	case DW_FORM_GNU_addr_index:
		v->u = cursor_uleb(c);
		break;
	case DW_FORM_string:
		v->p = (const uint8_t *)cursor_str(c, &v->n);
		break;
	case DW_FORM_block1:
		return read_block(c, v, cursor_u8(c));
	case DW_FORM_block2:
		return read_block(c, v, cursor_u16(c));
	case DW_FORM_block4:
		return read_block(c, v, cursor_u32(c));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return read_block(c, v, cursor_uleb(c));
	default:
		return cursor_fail(c);
	}
	return !c->bad;
}

bool dw_skip_form(struct cursor *c, const struct dw_unit *u, unsigned form)
{
	struct dw_attr a = {.form = form <= UINT16_MAX ? form : 0};
	struct dw_value v;

	if (form == DW_FORM_indirect || form == DW_FORM_implicit_const)
		return cursor_fail(c);
	return dw_read(c, u, &a, &v);
}

static bool string_at(const struct dwarf *dw, struct dw_section s, uint64_t off,
		      struct dw_text *out)
{
	struct cursor c = dw_cursor(dw, s, off);
	size_t n = 0;
	const char *p = cursor_str(&c, &n);

	if (c.bad || n > UINT32_MAX)
		return false;
	*out = (struct dw_text){p, n};
	return true;
}

/* The entry `index` of a table of `size`-byte numbers at `base`. */
static bool indexed(const struct dwarf *dw, struct dw_section s, uint64_t base,
		    uint64_t index, unsigned size, uint64_t *out)
{
	struct cursor c;
	uint64_t off;

	if (__builtin_mul_overflow(index, size, &off) ||
	    __builtin_add_overflow(off, base, &off))
		return false;
	c = dw_cursor(dw, s, off);
	*out = cursor_uint(&c, size);
	return !c.bad;
}

bool dw_string(struct dwarf *dw, const struct dw_unit *u, const struct dw_value *v,
	       struct dw_text *out, bool *alt_missing)
{
	uint64_t off;

	switch (v->form) {
	case DW_FORM_string:
		if (v->n > UINT32_MAX)
			return false;
		*out = (struct dw_text){(const char *)v->p, v->n};
		return true;
	case DW_FORM_strp:
		return string_at(dw, dw->str, v->u, out);
	case DW_FORM_line_strp:
		return string_at(dw, dw->line_str, v->u, out);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		if (!dw->alt) {
			*alt_missing = true;
			return false;
		}
		return string_at(dw->alt, dw->alt->str, v->u, out);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed(dw, dw->str_offsets, u->str_offsets_base, v->u,
			       u->off_size, &off) &&
		       string_at(dw, dw->str, off, out);
	}
	return false;
}

bool dw_address(struct dwarf *dw, const struct dw_unit *u, const struct dw_value *v,
		uint64_t *addr)
{
	switch (v->form) {
	case DW_FORM_addr:
		*addr = v->u;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return indexed(dw, dw->addr, u->addr_base, v->u, u->addr_size, addr);
	}
	return false;
}

bool dw_is_constant(const struct dw_value *v)
{
	switch (v->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_implicit_const:
		return true;
	}
	return false;
}

bool dw_reference(const struct dw_unit *u, const struct dw_value *v, uint64_t *off,
		  bool *in_alt)
{
	*in_alt = false;
	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return !__builtin_add_overflow(v->u, u->off, off) && *off < u->end;
	case DW_FORM_ref_addr:
		*off = v->u;
		return true;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		*off = v->u;
		*in_alt = true;
		return true;
	}
	return false;
}
