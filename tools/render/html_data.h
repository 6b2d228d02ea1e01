/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data block of the page: columns of varints, to be gzip'd and written as base64. It is
 * read by tools/render/viewer/data.js.
 *
 *	varint version (HTML_DATA_VERSION), then sections: varint tag, varint length, content.
 *	A reader passes over tags it does not know.
 *
 * Numbers are varints (7 bits a byte, least first), "signed" ones zigzag. Text is a number in
 * the table of strings, which holds valid UTF-8 without controls.
 *
 *	STRINGS	  count; each one's length in bytes; all bytes
 *	DOCUMENT  title, version of the program
 *	PROFILE	  begins a profile, to which the sections after it belong:
 *		  flags (enum html_profile_flags); level to show first (enum html_level);
 *		  time and duration as text ("" if unknown);
 *		  duration in seconds (a double, 8 bytes, least first);
 *		  number of filters, each as text; number of facts, each as key, value
 *		  (comments "profpipe: KEY=VALUE"); sides (2 for a diff: base, new);
 *		  number of columns, column to show first; for each column type, unit, shift,
 *		  and for each side the signed total before filters
 *	FRAMES	  count; then column by column name, file, line (signed), module, group, flags
 *		  (enum html_frame_flags). Most frequent first.
 *	POPS	  count of nodes; for each how many levels up its parent is from the node
 *		  before it: 0 is a child of that. Pre-order, without the root; the root is the
 *		  node before the first.
 *	NODES	  for each node its frame
 *	INLINED	  one bit for each node, least first: inlined into its parent
 *	SELF	  side, column; signed self value of the root and of each node
 *	MULTIPLE  side, column, another column, factor: in place of SELF where each value is that
 *		  of the other column times the factor (samples at a steady rate, and their time)
 *
 *	GAUGES	  for each column 1 if its values are a state, which adding up has to divide by
 *		  the number of profiles, else 0
 *	MODULES	  pairs of a module and its build id
 *	BINS	  count; 1 if they are windows of one length, else 0; for each its start in
 *		  seconds since 1970 (signed) and nanoseconds, length in time, length of what
 *		  its values are spread over (both ns), number of profiles. In order of time.
 *	LABELS	  count of keys, each as text; count of keys left out, each as text and its
 *		  number of values; count of values, each as text; count of label sets, each as
 *		  its number of pairs and these, as number of key and of value
 *	CELLS	  count; how many there are of the root, of each node and of what stack filters
 *		  left out; for each cell its
 *		  label set; for each its bin, less that of the cell before if this is of the
 *		  same node and label set. The number past the last bin is no time.
 *	CELL_VALUES	column; signed value of each cell: those of a node add up to its self
 *	CELL_MULTIPLE	column, another column, factor: as MULTIPLE
 *	CELL_SUMS nothing: in place of all SELF where cells add up to it
 *	LINES	  nothing; after it come FRAMES to MULTIPLE and CELLS to CELL_SUMS of the
 *		  same samples line by line
 *	FUNCTIONS for each of the frames of LINES the name of its function
 *	SOURCES	  count of files, each as its name, count of lines, and these as the number,
 *		  less that of the line before, and text
 *
 * Values are exact as long as the sum of all |values| of the column is at most 2^53, which is
 * what a page's numbers can hold; if not, they are divided by 2^shift and cut.
 */
#pragma once

#include "lib/base/buf.h"
#include "tools/render/html_cells.h"
#include "tools/render/html_tree.h"
#include "tools/render/report.h"

#define HTML_DATA_VERSION 1

enum html_section {
	HTML_STRINGS = 1,
	HTML_DOCUMENT,
	HTML_PROFILE,
	HTML_FRAMES,
	HTML_POPS,
	HTML_NODES,
	HTML_INLINED,
	HTML_SELF,
	HTML_MULTIPLE,
	HTML_GAUGES,
	HTML_MODULES,
	HTML_BINS,
	HTML_LABELS,
	HTML_CELLS,
	HTML_CELL_VALUES,
	HTML_CELL_MULTIPLE,
	HTML_LINES,
	HTML_FUNCTIONS,
	HTML_SOURCES,
	HTML_CELL_SUMS,
};

/* What boxes are; with addresses, FRAMES are these, else functions. */
enum html_level {
	HTML_LEVEL_FUNCTIONS,
	HTML_LEVEL_LINES,
	HTML_LEVEL_FILES,
	HTML_LEVEL_BINARIES,
	HTML_LEVEL_ADDRESSES,
};

enum html_profile_flags {
	HTML_HAS_NEGATIVE =
		1 << 0, /* apart from what is negative because it is the base */
};

enum html_frame_flags {
	HTML_FRAME_INLINED = 1 << 0, /* somewhere */
	HTML_FRAME_KERNEL = 1 << 1,
	HTML_FRAME_NOTE = 1 << 2,    /* the profiler's: "[truncated]" */
	HTML_FRAME_UNNAMED = 1 << 3, /* known by its address or binary alone */
};

struct html_data {
	struct intern strings;
	struct buf sections, section; /* all but the strings; the one being written */
};

void html_data_init(struct html_data *d, const char *title, size_t title_n);
void html_data_release(struct html_data *d);
/* c: NULL if there are no cells to choose from. */
void html_data_add(struct html_data *d, const struct report *r, const struct html_tree *t,
		   const struct html_cells *c);

/* Line by line, after the same with functions; t and c are of this granularity. */
void html_data_add_lines(struct html_data *d, const struct report *r,
			 const struct html_tree *t, const struct html_cells *c);

/* Append the whole block, not yet compressed. */
void html_data_finish(struct html_data *d, struct buf *out);

/* What was put so far is a section. */
void html_data_end(struct html_data *d, enum html_section tag);

/* The number of a text that is valid UTF-8 without controls, and of any. */
uint32_t html_safe_text(struct html_data *d, struct str s);
uint32_t html_text(struct html_data *d, struct str s);

/* Signed and unsigned varints, as the block has them. */
void html_put_u64(struct buf *b, uint64_t v);
void html_put_i64(struct buf *b, int64_t v);
