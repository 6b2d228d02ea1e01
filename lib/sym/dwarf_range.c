/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses an entry covers: low and high pc, .debug_ranges (2 to 4), .debug_rnglists (5).
 *
 * Functions that the linker dropped keep their entries, with addresses of 0, 1, -1 or -2 plus
 * an offset, by linker and section. One test covers them all: code is where an executable
 * section is. The range's start decides; its end is cut to the section's.
 */
#include <dwarf.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

bool dw_keep(const struct dwarf *dw, uint64_t low, uint64_t *high)
{
	uint64_t end;

	if (low >= *high || !elf_is_code(dw->file, low, &end))
		return false;
	if (*high > end)
		*high = end;
	return true;
}

static void append(struct dwarf *dw, struct dw_ranges *out, uint64_t low, uint64_t high)
{
	if (!dw_keep(dw, low, &high))
		return;
	if (!dw->ranges_left) {
		dw->work = 0;
		return;
	}
	dw->ranges_left--;
	XGROW(out->v, out->n, out->cap);
	out->v[out->n++] = (struct elf_range){low, high};
}

static void old_ranges(struct dwarf *dw, const struct dw_unit *u, uint64_t off,
		       struct dw_ranges *out)
{
	struct cursor c = dw_cursor(dw, dw->ranges, off);
	uint64_t base = u->low_pc, low, high;
	uint64_t ones = u->addr_size == 8 ? UINT64_MAX : (1ull << 8 * u->addr_size) - 1;

	while (dw_work(dw, 1)) {
		low = cursor_uint(&c, u->addr_size);
		high = cursor_uint(&c, u->addr_size);
		if (c.bad || (!low && !high))
			return;
		if (low == ones)
			base = high;
		else if (base + low >=
			 low) /* a base of -1 or so is a dropped function's */
			append(dw, out, base + low, base + high);
	}
}

static bool index_address(struct dwarf *dw, const struct dw_unit *u, uint64_t index,
			  uint64_t *addr)
{
	struct dw_value v = {.form = DW_FORM_addrx, .u = index};

	return dw_address(dw, u, &v, addr);
}

/* One entry of a range list: 1, 0 at its end or on damage. */
static int list_entry(struct dwarf *dw, const struct dw_unit *u, struct cursor *c,
		      uint64_t *base, struct dw_ranges *out)
{
	uint64_t a = 0, b = 0, x, y;
	bool ok = true;

	switch (cursor_u8(c)) {
	case DW_RLE_base_addressx:
		if (!index_address(dw, u, cursor_uleb(c), base))
			*base = UINT64_MAX;
		return !c->bad;
	case DW_RLE_base_address:
		*base = cursor_uint(c, u->addr_size);
		return !c->bad;
	case DW_RLE_startx_endx:
		x = cursor_uleb(c);
		y = cursor_uleb(c);
		ok = index_address(dw, u, x, &a) && index_address(dw, u, y, &b);
		break;
	case DW_RLE_startx_length:
		x = cursor_uleb(c);
		y = cursor_uleb(c);
		ok = index_address(dw, u, x, &a);
		b = a + y;
		break;
	case DW_RLE_offset_pair:
		a = cursor_uleb(c);
		b = cursor_uleb(c);
		ok = !__builtin_add_overflow(a, *base, &a);
		b += *base;
		break;
	case DW_RLE_start_end:
		a = cursor_uint(c, u->addr_size);
		b = cursor_uint(c, u->addr_size);
		break;
	case DW_RLE_start_length:
		a = cursor_uint(c, u->addr_size);
		b = a + cursor_uleb(c);
		break;
	default: /* DW_RLE_end_of_list, and what we do not know */
		return 0;
	}
	if (ok && !c->bad)
		append(dw, out, a, b);
	return !c->bad;
}

static void new_ranges(struct dwarf *dw, const struct dw_unit *u, uint64_t off,
		       struct dw_ranges *out)
{
	struct cursor c = dw_cursor(dw, dw->rnglists, off);
	uint64_t base = u->low_pc;

	while (dw_work(dw, 1) && list_entry(dw, u, &c, &base, out))
		;
}

/* Offset in .debug_rnglists of list `index` of the unit. */
static bool list_offset(struct dwarf *dw, const struct dw_unit *u, uint64_t index,
			uint64_t *off)
{
	struct cursor c;
	uint64_t at;

	if (__builtin_mul_overflow(index, u->off_size, &at) ||
	    __builtin_add_overflow(at, u->ranges_base, &at))
		return false;
	c = dw_cursor(dw, dw->rnglists, at);
	*off = cursor_uint(&c, u->off_size);
	return !c.bad && !__builtin_add_overflow(*off, u->ranges_base, off);
}

static void listed_ranges(struct dwarf *dw, const struct dw_unit *u,
			  const struct dw_value *v, struct dw_ranges *out)
{
	uint64_t off = v->u;

	if (v->form == DW_FORM_rnglistx) {
		if (list_offset(dw, u, v->u, &off))
			new_ranges(dw, u, off, out);
	} else if (u->version >= 5) {
		new_ranges(dw, u, off, out);
	} else if (!dw->main) {
		old_ranges(dw, u, off, out);
	} else if (!__builtin_add_overflow(off, u->old_ranges_base, &off)) {
		old_ranges(dw, u, off, out);
	}
}

void dw_entry_ranges(struct dwarf *dw, const struct dw_unit *u,
		     const struct dw_value *low, const struct dw_value *high,
		     const struct dw_value *ranges, struct dw_ranges *out)
{
	uint64_t a, b;

	if (ranges->form) {
		listed_ranges(dw, u, ranges, out);
		return;
	}
	if (!low->form || !high->form || !dw_address(dw, u, low, &a))
		return;
	if (dw_is_constant(high))
		b = a + high->u; /* wrapping ends below low, and is dropped */
	else if (!dw_address(dw, u, high, &b))
		return;
	append(dw, out, a, b);
}
