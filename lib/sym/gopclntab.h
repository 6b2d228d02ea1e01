/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's own tables of functions, files, lines and inlined calls (.gopclntab), which the runtime
 * needs and `strip` therefore leaves. What the runtime writes into its profiles it reads here.
 *
 * Layouts, by the first four bytes: 1.2 (Go 1.2 to 1.15), 1.16 (1.16, 1.17), 1.18 (1.18, 1.19)
 * and 1.20 (1.20 on; from 1.26 on without the start of the text). See runtime/symtab.go of each.
 * Where the text starts and where the inline trees lie is written in the runtime's moduledata,
 * which is found by its pointer to the table, in the data or, in a position independent program,
 * in the relocations. Inline trees are read from Go 1.13 on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/sym/bounds.h"
#include "lib/sym/elf.h"

#define GO_FRAMES_MAX 256

struct gopclntab;

struct go_frame {
	const char *name, *file; /* into the table; file "" = unknown */
	uint32_t line;		 /* 0 = unknown */
	uint32_t start_line;	 /* of the function, 0 = unknown (before Go 1.20) */
};

/*
 * f must outlive the table. -ENODATA: not a Go program, or no table in it; -EFBIG: it is over the
 * budget of f.
 */
int gopclntab_open(struct elf_file *f, struct gopclntab **out, struct err *e);
void gopclntab_free(struct gopclntab *t);

/*
 * The frames at an address of the file, innermost first; their number, at most GO_FRAMES_MAX.
 * 0: no Go function has code there (padding behind one is none).
 */
size_t gopclntab_find(struct gopclntab *t, uint64_t addr, struct go_frame *v);

/* Were inlined frames left out of the last answer, for want of memory? */
bool gopclntab_lacks_memory(const struct gopclntab *t);

void gopclntab_bounds(const struct gopclntab *t, struct bounds *b);
size_t gopclntab_count(const struct gopclntab *t); /* functions */
uint64_t gopclntab_entry(const struct gopclntab *t,
			 size_t i);		     /* first address; i <= count */
uint64_t gopclntab_bytes(const struct gopclntab *t); /* of memory */

/* As Go prints names: type arguments as "[...]". Where they start, and what comes behind. */
size_t go_name_split(const char *name, const char **rest);
