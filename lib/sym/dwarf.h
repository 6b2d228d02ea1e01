/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to functions, lines and inlined frames by DWARF 2 to 5, in bulk.
 *
 * dwarf_open() scans unit headers and root entries only. A look-up takes many sorted addresses:
 * each unit that holds one is decoded once, as a whole, into tables of its own (line rows;
 * functions and inlined calls flattened into sorted, non-overlapping stretches), which are kept
 * for the next look-up. Damage ends the unit it is in, never the file; work is bounded by the
 * size of the sections.
 *
 * Units are decoded on several threads if more.threads says so; results are the same for any number.
 * Everything else is for one thread at a time.
 *
 * Units that were split (.dwo, .dwp) are joined with their other half when they are decoded.
 *
 * Addresses are the ones of the file that DWARF was read from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/intern.h"
#include "lib/sym/bounds.h"
#include "lib/sym/elf.h"

#define DWARF_FRAMES_MAX 256 /* per address; what is over is the callers' side, dropped */

struct dwarf;

/* A function as its entries name it; string ids of the table given to dwarf_open(). */
struct dwarf_function {
	uint32_t linkage;    /* linkage name or 0 */
	uint32_t bare;	     /* DW_AT_name or 0 */
	uint32_t start_line; /* where it is declared, 0 = unknown */
	uint32_t start_file; /* string id, 0 = unknown */
	bool alt_missing;    /* the name is in a supplementary file that is not here */
};

struct dwarf_frame {
	uint32_t function; /* index for dwarf_function(), or DWARF_NONE: a line alone */
	uint32_t file;	   /* string id, 0 = unknown */
	uint32_t line, column;
};

#define DWARF_NONE UINT32_MAX

struct dwarf_answer {
	uint32_t first, n; /* frames, innermost first; n = 0: nothing known */
	bool unit;	   /* a unit claims the address */
	bool dwo_missing;  /* and its functions are in a .dwo file that was not found */
	bool dwo_too_big;  /* or in one that there was no memory for */
	bool damaged;	   /* and it could not be decoded to its end */
	bool over_memory;  /* that is, its table would have been too large */
	bool earlier_line; /* the row has line 0; the line is of an earlier row, as documented */
};

struct dwarf_result {
	struct dwarf_answer *answers; /* one per address */
	struct dwarf_frame *frames;
	size_t nframes, frames_cap;
};

/* Other files that hold parts of the debug information. */
struct dwarf_more {
	struct elf_file *alt; /* the supplementary file of dwz, or NULL */
	struct elf_file *dwp; /* the package of split units, or NULL */
	/*
	 * Find and open a split unit's file by its name and the directory it was compiled in; NULL
	 * if it is not there. The dwarf owns it. NULL: there are none.
	 */
	struct elf_file *(*find_dwo)(void *context, const char *dir, const char *name);
	void *context;
	unsigned threads;   /* to decode units on; 0 = 1 */
	uint64_t table_max; /* as by dwarf_limit_tables(); 0 = a default */
};

/*
 * f and the files of `more` (which may be NULL) must outlive the dwarf and keep their data.
 * -ENODATA without debug information.
 */
int dwarf_open(struct elf_file *f, const struct dwarf_more *more, struct intern *strings,
	       struct dwarf **out, struct err *e);
void dwarf_free(struct dwarf *dw);

/* addrs: n, sorted, distinct. The result must be released, and is good until then. */
void dwarf_lookup(struct dwarf *dw, const uint64_t *addrs, size_t n,
		  struct dwarf_result *res);
void dwarf_result_release(struct dwarf_result *res);

const struct dwarf_function *dwarf_function(const struct dwarf *dw, uint32_t function);
size_t dwarf_nfunctions(const struct dwarf *dw);

/* Decodes every unit. */
void dwarf_bounds(struct dwarf *dw, struct bounds *b);

/*
 * Bytes that one decoded unit may take from now on, else it is over_memory; and all those that are
 * kept for the next look-up.
 */
void dwarf_limit_tables(struct dwarf *dw, uint64_t max);

/* Keep no decoded units from the next look-up on: nothing, or little, is going to be asked. */
void dwarf_keep_no_tables(struct dwarf *dw);

size_t dwarf_table_bytes(const struct dwarf *dw); /* memory in decoded units */
size_t dwarf_ndamaged(const struct dwarf *dw); /* units not decoded to their end so far */
