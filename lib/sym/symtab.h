/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables: which symbol covers an address, and which one of several.
 *
 * Taken: FUNC, GNU_IFUNC and NOTYPE symbols with a name, defined in an executable section
 * (NOTYPE ones that assemblers and ARM use as marks are left out).
 *
 * Covering: the sized symbol with the greatest start whose size reaches the address. Failing
 * that, in .symtab only, a symbol without a size: the nearest one before the address if no
 * sized one starts where it does or covers it, up to the next symbol or the end of its section.
 * In .dynsym such a symbol covers just its own address: what lies between exported symbols is
 * unknown.
 * Between symbols there is no name.
 *
 * Of several at one address: sized before sizeless; FUNC before GNU_IFUNC (which names the
 * resolver) before NOTYPE; no `@version` before one; global before weak before local; fewer
 * leading underscores; constructor C1 before C2 and destructor D1 before D2, D0 last; the
 * shorter name; byte order. So the choice does not depend on the order in the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/sym/bounds.h"
#include "lib/sym/elf.h"

struct symtab;

enum symtab_kind { SYMTAB_FULL, SYMTAB_DYNAMIC };

struct symbol {
	const char *name; /* into the section data of the file */
	uint64_t addr, size;
};

/* f must outlive the table and keep its data. -ENODATA: no such section. */
int symtab_open(struct elf_file *f, enum symtab_kind kind, struct symtab **out,
		struct err *e);
void symtab_free(struct symtab *t);

bool symtab_find(const struct symtab *t, uint64_t addr, struct symbol *out);
void symtab_bounds(const struct symtab *t, struct bounds *b);
size_t symtab_bytes(const struct symtab *t);
size_t symtab_count(const struct symtab *t);

/* Where a symbol of the file's .symtab lies; any one, as are those below. */
bool symtab_address(struct elf_file *f, const char *name, uint64_t *addr);

/* All names of the file's .symtab, which must keep its data. */
struct symnames;

int symnames_open(struct elf_file *f, struct symnames **out, struct err *e);
void symnames_free(struct symnames *t);
bool symnames_cover(const struct symnames *t, const char *name, uint64_t addr);
size_t symnames_bytes(const struct symnames *t);
