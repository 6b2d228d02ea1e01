/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the DWARF reader share. Not for use outside dwarf*.c.
 *
 * Section bytes are hostile. All reading goes through cursors; counts that come from the file
 * are only used as loop limits of loops that also consume bytes or `work`.
 */
#pragma once

#include "lib/sym/cursor.h"
#include "lib/sym/dwarf.h"
#include "lib/sym/u64map.h"

struct dw_section {
	const uint8_t *p;
	size_t n;
};

/* How to get over an entry's attributes, and on the way read those that its role wants. */
enum dw_step_kind {
	DW_STEP_FIXED, /* skip n bytes */
	DW_STEP_LEB,
	DW_STEP_STRING,
	DW_STEP_BLOCK, /* length in n bytes, 0 = LEB128 */
	DW_STEP_INDIRECT,
	DW_STEP_UNKNOWN, /* a form we do not know: the unit ends here */
	DW_STEP_READ,	 /* attribute n of the abbreviation's */
};

struct dw_step {
	uint8_t kind;
	uint32_t n;
};

enum dw_slot { /* attributes that functions and inlined calls are made of */
	       DW_LOW,
	       DW_HIGH,
	       DW_RANGES,
	       DW_ORIGIN,
	       DW_CALL_FILE,
	       DW_CALL_LINE,
	       DW_CALL_COLUMN,
	       DW_SIBLING, /* of leaves too */
	       DW_NSLOTS,
};

struct dw_attr {
	uint16_t name, form;
	uint8_t slot;	  /* DW_NSLOTS: nobody wants it */
	int64_t implicit; /* DW_FORM_implicit_const */
};

enum dw_role {
	DW_ROLE_NONE, /* nothing to learn from the entry itself; its children are looked at */
	DW_ROLE_LEAF, /* nor from its children: skipped whole where DW_AT_sibling helps */
	DW_ROLE_FUNCTION, /* DW_TAG_subprogram */
	DW_ROLE_INLINE,	  /* DW_TAG_inlined_subroutine */
};

struct dw_abbrev {
	uint64_t code;
	uint16_t tag;
	uint8_t role;
	bool children;
	bool plain; /* nothing to read, and always of `fixed` bytes */
	uint32_t fixed;
	uint32_t attrs, nattrs; /* in dw_abbrevs.attrs */
	uint32_t steps, nsteps; /* in dw_abbrevs.steps */
};

/* One table of abbreviations, as units with these properties read it. */
struct dw_abbrevs {
	uint64_t off;
	uint8_t addr_size, off_size, ref_addr_size;
	bool dense; /* list[i].code == i + 1; else sorted by code */
	struct dw_abbrev *list;
	struct dw_attr *attrs;
	struct dw_step *steps;
	size_t n, nattrs, nsteps, cap, attrs_cap, steps_cap;
};

struct dw_value {
	uint16_t form;	  /* never indirect; 0 = absent */
	uint64_t u;	  /* number, offset or index; signed ones extended */
	const uint8_t *p; /* DW_FORM_string */
	size_t n;
};

struct dw_row {
	uint64_t addr;
	uint32_t file, line; /* file: index into the unit's files */
	uint16_t column;
	uint32_t order; /* as emitted, to sort by */
};

struct dw_seq { /* rows with rising addresses */
	uint64_t low, high;
	uint32_t first, n;
};

struct dw_text {
	const char *p;
	uint32_t n;
};

struct dw_file {
	struct dw_text name;
	uint32_t dir;
	uint32_t id; /* string id of the whole path, 0 = not made yet */
};

struct dw_lines {
	struct dw_text *dirs;
	struct dw_file *files;
	struct dw_row *rows;
	struct dw_seq *seqs; /* sorted by low */
	size_t ndirs, nfiles, nrows, nseqs, dirs_cap, files_cap, rows_cap, seqs_cap;
	uint8_t version;  /* 0 = no line table */
	bool over_memory; /* not read to its end: more rows than a table may have */
};

struct dw_node {      /* a function with code, or an inlined call */
	uint64_t die; /* offset of its entry */
	uint64_t
		origin; /* of what it was inlined from: offset << 1 | in the alternate file */
	uint32_t parent;   /* node, DWARF_NONE for functions */
	uint32_t function; /* DWARF_NONE until resolved */
	uint32_t sub;	   /* the node of the function it is in (itself) */
	uint32_t depth;	   /* 0 for functions */
	uint32_t call_file, call_line, call_column;
};

struct dw_interval {
	uint64_t low, high;
	uint32_t node;
};

struct dw_stretch { /* from start to the next one's start, one innermost node */
	uint64_t start;
	uint32_t back;	   /* start - low of the node's range, at most UINT32_MAX */
	uint32_t sub_size; /* size of the function's range, at most UINT32_MAX */
	uint32_t node;	   /* DWARF_NONE: no function */
};

/* A unit decoded as a whole. */
struct dw_table {
	struct dw_lines lines;
	struct dw_node *nodes;
	struct dw_stretch *stretches;
	size_t nnodes, nstretches, nodes_cap, stretches_cap;
	bool over_memory; /* as in dw_lines */
};

struct dw_unit {
	uint64_t off, end; /* of the whole unit in .debug_info */
	uint64_t root;	   /* offset of the root entry */
	uint64_t abbrev_off, low_pc, stmt_list;
	uint64_t str_offsets_base, addr_base,
		ranges_base;	    /* the last one: of .debug_rnglists */
	struct dw_abbrevs *abbrevs; /* once needed */
	struct dw_table *table;	    /* once decoded */
	struct dwarf
		*split; /* of a skeleton: where its functions are, once decoded; owned */
	uint64_t dwo_id;
	uint64_t old_ranges_base; /* of .debug_ranges, in split units of version 4 */
	struct dw_text comp_dir, dwo_name;
	uint8_t version, addr_size, off_size, type;
	bool has_low, has_stmt,
		code;	   /* code: a compile unit or skeleton, may own addresses */
	bool over_memory;  /* its table was, and is empty */
	bool dwo, damaged; /* dwo: functions are elsewhere, and not found (yet) */
	bool dwo_too_big;  /* dwo, and there is no memory for where they are */
};

struct dw_claim { /* addresses that a unit says are its own */
	uint64_t low, high;
	uint32_t unit;
};

struct dwarf {
	struct elf_file *file;
	struct dwarf_more more;
	struct dwarf *alt; /* owned */
	/* of a split unit: whose skeleton it is, its unit, the file it is in */
	struct dwarf *main;
	struct dw_unit *twin;
	struct elf_file *split_file, *own_file; /* own_file: owned */
	struct intern *strings;
	struct dw_section info, abbrev, str, line_str, str_offsets, addr, line, ranges,
		rnglists;
	bool swap;
	uint64_t work; /* steps left before the file counts as hostile */
	uint64_t work_full;
	uint64_t ranges_left;	 /* in all, so that no list can be used over and over */
	struct dw_unit *units;	 /* by offset */
	struct dw_claim *claims; /* by low */
	struct dw_abbrevs **abbrevs;
	struct dwarf_function *functions;
	struct u64map by_origin; /* dw_node.origin -> function */
	size_t nunits, nclaims, nabbrevs, nfunctions, units_cap, claims_cap, abbrevs_cap,
		functions_cap;
	size_t table_bytes, ndamaged;
	uint64_t table_max; /* bytes of one decoded unit, and of those kept */
	unsigned threads;
	bool forget; /* decoded units, once they have given their answers */
};

/* Take n steps; false when the file has used up what its size allows. */
static inline bool dw_work(struct dwarf *dw, uint64_t n)
{
	if (dw->work < n) {
		dw->work = 0;
		return false;
	}
	dw->work -= n;
	return true;
}

static inline struct cursor dw_cursor(const struct dwarf *dw, struct dw_section s,
				      uint64_t off)
{
	return cursor_at(s.p, s.n, off > s.n ? s.n + (size_t)1 : off, dw->swap);
}

static inline struct cursor dw_unit_cursor(const struct dwarf *dw,
					   const struct dw_unit *u, uint64_t off)
{
	return cursor_at(dw->info.p, u->end, off, dw->swap);
}

/* Allow the steps that so many bytes of debug information are worth. */
void dw_give_work(struct dwarf *dw, uint64_t bytes);

/* dwarf_abbrev.c */
struct dw_abbrevs *dw_unit_abbrevs(struct dwarf *dw, struct dw_unit *u);
/* The one abbreviation that the root entry uses, without decoding the whole table. */
bool dw_root_abbrev(struct dwarf *dw, const struct dw_unit *u, uint64_t code,
		    struct dw_abbrevs *one);
const struct dw_abbrev *dw_abbrev(const struct dw_abbrevs *t, uint64_t code);
void dw_abbrevs_free(struct dw_abbrevs *t);
/* Get over an entry's attributes; those with a slot go to v[DW_NSLOTS]. False: damage. */
bool dw_read_entry(struct cursor *c, const struct dw_abbrevs *t,
		   const struct dw_abbrev *a, const struct dw_unit *u,
		   struct dw_value *v);

/* dwarf_form.c */
bool dw_read(struct cursor *c, const struct dw_unit *u, const struct dw_attr *a,
	     struct dw_value *v);
bool dw_skip_form(struct cursor *c, const struct dw_unit *u, unsigned form);
bool dw_string(struct dwarf *dw, const struct dw_unit *u, const struct dw_value *v,
	       struct dw_text *out, bool *alt_missing);
bool dw_address(struct dwarf *dw, const struct dw_unit *u, const struct dw_value *v,
		uint64_t *addr);
bool dw_is_constant(const struct dw_value *v);
/* Offset of the entry referred to; *in_alt: in the alternate file. */
bool dw_reference(const struct dw_unit *u, const struct dw_value *v, uint64_t *off,
		  bool *in_alt);

/* dwarf_range.c */
struct dw_ranges {
	struct elf_range *v;
	size_t n, cap;
};
/* True if [low, high) can be code of the file; high is cut to the section's end. */
bool dw_keep(const struct dwarf *dw, uint64_t low, uint64_t *high);
/* Append what low_pc, high_pc and ranges of one entry say, code only. */
void dw_entry_ranges(struct dwarf *dw, const struct dw_unit *u,
		     const struct dw_value *low, const struct dw_value *high,
		     const struct dw_value *ranges, struct dw_ranges *out);

/* dwarf_unit.c */
void dw_scan_units(struct dwarf *dw);
/* Units of a split file, with the bases of the skeleton; its twin, or NULL. */
struct dw_unit *dw_scan_split(struct dwarf *split, const struct dw_unit *skeleton);
struct dw_unit *dw_unit_at(struct dwarf *dw,
			   uint64_t off); /* whose bytes hold off, or NULL */

/* dwarf_line.c */
bool dw_read_lines(struct dwarf *dw, struct dw_unit *u,
		   struct dw_lines *l); /* false: damaged */
void dw_lines_release(struct dw_lines *l);
uint32_t dw_file_id(struct dwarf *dw, const struct dw_unit *u, struct dw_lines *l,
		    uint64_t file);
const struct dw_seq *dw_find_seq(const struct dw_lines *l, uint64_t addr);

/* dwarf_tree.c: functions and inlined calls of a unit; false: damaged. */
bool dw_read_tree(struct dwarf *dw, struct dw_unit *u, struct dw_abbrevs *abbrevs,
		  struct dw_table *t);

/*
 * dwarf_decode.c: decode those of n units, in rising order, that are not yet. `done` is
 * called for each in this order, by one thread at a time, while others may be decoding: it may
 * use up dw->work. The table behind it may be gone then.
 */
typedef void dw_unit_fn(void *arg, uint32_t unit);
void dw_decode(struct dwarf *dw, const uint32_t *units, size_t n, dw_unit_fn *done,
	       void *arg);
void dw_table_free(struct dw_table *t);

/* dwarf_split.c: the other half of a skeleton; NULL if it is not found, or dwo_too_big. */
struct dwarf *dw_split(struct dwarf *dw, struct dw_unit *skeleton);

/* dwarf_flat.c: intervals (sorted here, which may move them) to t->stretches. */
void dw_flatten(struct dwarf *dw, struct dw_table *t, struct dw_interval **v, size_t n);

/* dwarf_name.c: function of a node, DWARF_NONE when it cannot be read. */
uint32_t dw_node_function(struct dwarf *dw, struct dw_unit *u, struct dw_table *t,
			  uint32_t node);
