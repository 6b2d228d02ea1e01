/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linkage table: code that linkers make to call what other files define. No symbol covers
 * it; its name is that of the function it jumps to, with "@plt", as objdump(1) has it.
 *
 * An entry is known by its code, not by its place, so that every linker's layout is read (.plt,
 * .plt.sec with branch tracking, .plt.got): a jump through a word that a relocation fills with
 * a function's address, or a push of the number of such a relocation. x86-64 and arm64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/sym/bounds.h"
#include "lib/sym/elf.h"

struct plt;

struct plt_entry {
	uint64_t addr, size;
	const char *
		name; /* of the function, into the section data of the file; "" = by target */
	uint64_t
		target; /* of a function that is chosen at run time: that which chooses */
};

/* f must outlive the table and keep its data. -ENODATA: nothing of the kind. */
int plt_open(struct elf_file *f, struct plt **out, struct err *e);
void plt_free(struct plt *t);

void plt_bounds(const struct plt *t, struct bounds *b);
bool plt_find(const struct plt *t, uint64_t addr, struct plt_entry *out);
