/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the reader of Go's tables share. Not for use outside gopclntab*.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/sym/cursor.h"
#include "lib/sym/gopclntab.h"

enum go_layout { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

struct gopclntab {
	struct elf_file *file;
	enum go_layout layout;
	uint64_t addr; /* of the table, as bytes p[0..n) */
	uint8_t *p;
	size_t n;
	unsigned ptr, quantum; /* bytes of a pointer, of the smallest instruction */
	uint64_t nfunctions;
	uint64_t text;	 /* entries count from here; 0 where they are addresses */
	uint64_t gofunc; /* inline trees count from here; 0 where they are addresses */
	bool has_trees;
	/* offsets in the table */
	uint64_t functab, functions, names, units, files, pcs;
	/* what else of the file holds inline trees; NULL until asked for */
	uint8_t *trees;
	size_t trees_n;
	uint64_t trees_addr;
	bool trees_tried;
	uint64_t room; /* bytes they may take */
	bool over_memory,
		lacks_tree; /* they are more; they had the last answer's inlined frames */
};

/* A number of the table; false if it lies outside. */
static inline bool go_get(const struct gopclntab *t, uint64_t off, unsigned size,
			  uint64_t *v)
{
	struct cursor c;

	if (off > t->n || size > t->n - off)
		return false;
	c = cursor_at(t->p, t->n, off, t->file->swap);
	*v = cursor_uint(&c, size);
	return true;
}

/*
 * Find the table and, from 1.18 on, what moduledata says of it. *addr of the table; 0 bytes:
 * up to the end of its segment.
 */
int go_find_table(struct elf_file *f, uint64_t *addr, uint64_t *n, struct err *e);
void go_find_moduledata(struct gopclntab *t);
bool go_is_header(const uint8_t *p, size_t n, bool swap, enum go_layout *layout);

/* Put the addends of relative relocations where they belong in p, the n bytes at addr. */
void go_relocate(struct elf_file *f, uint64_t addr, uint8_t *p, size_t n);
