/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split debug information: a skeleton unit in the program has addresses and lines, its twin in a
 * .dwo file, or in a package of them (.dwp), the functions. They belong together by a 64-bit id.
 * DWARF 5, and what GCC and clang made for version 4 before that.
 *
 * The twin is read as a file of its own whose addresses are the skeleton's; in a package, by the
 * stretches of the sections that the index gives to it.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define PACKAGE_COLUMNS_MAX 64

struct dwp_index { /* columns: sections; rows: units */
	uint32_t columns, units, slots;
	uint64_t hashes, rows, ids, offsets, sizes; /* offsets in the section */
};

/* Sections of a .dwo file or package; the numbers by which the index knows them. */
static const struct part {
	const char *name;
	size_t member;
	uint8_t id, old_id; /* of version 5 and of GNU's; 0: taken whole */
} parts[] = {
	{"info.dwo", offsetof(struct dwarf, info), 1, 1},
	{"abbrev.dwo", offsetof(struct dwarf, abbrev), 3, 3},
	{"str_offsets.dwo", offsetof(struct dwarf, str_offsets), 6, 6},
	{"rnglists.dwo", offsetof(struct dwarf, rnglists), 8, 0},
	{"str.dwo", offsetof(struct dwarf, str), 0, 0},
};

#define NPARTS (sizeof(parts) / sizeof(*parts))

static struct dw_section *part_of(struct dwarf *split, size_t i)
{
	return (struct dw_section *)((char *)split + parts[i].member);
}

static uint32_t u32_at(const struct cursor *whole, uint64_t off)
{
	size_t n = cursor_left(whole);
	struct cursor c = cursor_at(whole->p, n, off > n ? n : off, whole->swap);

	return cursor_u32(&c);
}

static bool read_index(struct cursor c, struct dwp_index *x, uint16_t *version)
{
	const uint8_t *start = c.p;
	uint16_t a = cursor_u16(&c), b = cursor_u16(&c);
	uint64_t cells;

	*version = a ? a : b; /* GNU's is a 32-bit 2 */
	x->columns = cursor_u32(&c);
	x->units = cursor_u32(&c);
	x->slots = cursor_u32(&c);
	x->hashes = c.p - start;
	x->rows = x->hashes + 8ull * x->slots;
	x->ids = x->rows + 4ull * x->slots;
	x->offsets = x->ids + 4ull * x->columns;
	cells = 4ull * x->columns * x->units;
	x->sizes = x->offsets + cells;
	return !c.bad && (*version == 2 || *version == 5) &&
	       x->columns <= PACKAGE_COLUMNS_MAX && x->slots &&
	       !(x->slots & (x->slots - 1)) &&
	       x->sizes + cells <= (uint64_t)(c.end - start);
}

/* The row of a unit; 0 = it is not there. Open addressing, as the specification has it. */
static uint32_t find_row(const struct cursor *whole, const struct dwp_index *x,
			 uint64_t id)
{
	uint32_t mask = x->slots - 1, at = id & mask, step = (id >> 32 & mask) | 1, row,
		 i;
	struct cursor c;

	for (i = 0; i < x->slots; i++, at = (at + step) & mask) {
		row = u32_at(whole, x->rows + 4ull * at);
		if (!row)
			return 0;
		c = cursor_at(whole->p, cursor_left(whole), x->hashes + 8ull * at,
			      whole->swap);
		if (cursor_u64(&c) == id)
			return row <= x->units ? row : 0;
	}
	return 0;
}

static bool slice(struct dw_section *s, uint64_t off, uint64_t n)
{
	if (off > s->n || n > s->n - off)
		return false;
	s->p += off;
	s->n = n;
	return true;
}

/* Cut the sections down to what belongs to one unit of the package. */
static bool cut_to_unit(struct dwarf *split, uint64_t id)
{
	struct dwp_index x;
	const uint8_t *p;
	struct err ignored;
	struct cursor c;
	uint32_t row, column, section;
	uint16_t version;
	size_t n, i;

	if (elf_debug_data(split->split_file, "cu_index", &p, &n, &ignored))
		return false;
	c = cursor_at(p, n, 0, split->swap);
	if (!read_index(c, &x, &version) || !(row = find_row(&c, &x, id)))
		return false;
	for (column = 0; column < x.columns; column++) {
		uint64_t cell = 4 * ((uint64_t)(row - 1) * x.columns + column);

		section = u32_at(&c, x.ids + 4ull * column);
		for (i = 0; i < NPARTS; i++)
			if (section &&
			    section == (version == 2 ? parts[i].old_id : parts[i].id) &&
			    !slice(part_of(split, i), u32_at(&c, x.offsets + cell),
				   u32_at(&c, x.sizes + cell)))
				return false;
	}
	return true;
}

/* -EFBIG: no memory for them. */
static int load_parts(struct dwarf *split)
{
	struct dw_section *s;
	struct err e;
	size_t i;
	int r;

	for (i = 0; i < NPARTS; i++) {
		s = part_of(split, i);
		r = elf_debug_data(split->split_file, parts[i].name, &s->p, &s->n, &e);
		if (r)
			return r;
	}
	return split->info.n ? 0 : -ENODATA;
}

/* The skeleton's twin in `file`; NULL if it is not there. */
static struct dwarf *open_in(struct dwarf *dw, struct dw_unit *skeleton,
			     struct elf_file *file, bool package)
{
	struct dwarf *split = xcalloc(1, sizeof(*split));
	int r = file->swap == dw->swap ? 0 : -EBADMSG;

	split->file = dw->file; /* whose code the addresses are */
	split->split_file = file;
	split->main = dw;
	split->strings = dw->strings;
	split->swap = file->swap;
	split->table_max = dw->table_max;
	split->addr = dw->addr;
	split->ranges = dw->ranges;
	if (!r)
		r = load_parts(split);
	skeleton->dwo_too_big |= r == -EFBIG;
	if (!r && (!package || cut_to_unit(split, skeleton->dwo_id))) {
		dw_give_work(split, split->info.n + split->abbrev.n + split->rnglists.n);
		split->twin = dw_scan_split(split, skeleton);
	}
	if (!split->twin) {
		dwarf_free(split);
		return NULL;
	}
	return split;
}

static char *text(struct dw_text t)
{
	return xstrndup(t.n ? t.p : "", t.n);
}

struct dwarf *dw_split(struct dwarf *dw, struct dw_unit *skeleton)
{
	struct dwarf *split = NULL;
	struct elf_file *file;
	char *dir, *name;

	skeleton->dwo_too_big = false;
	if (dw->more.dwp)
		split = open_in(dw, skeleton, dw->more.dwp, true);
	if (split || !dw->more.find_dwo || !skeleton->dwo_name.n)
		return split;
	dir = text(skeleton->comp_dir);
	name = text(skeleton->dwo_name);
	file = dw->more.find_dwo(dw->more.context, dir, name);
	free(dir);
	free(name);
	if (!file)
		return NULL;
	split = open_in(dw, skeleton, file, false);
	if (split) {
		split->own_file = file;
		elf_close(file); /* there may be thousands */
	} else {
		elf_free(file);
	}
	return split;
}
