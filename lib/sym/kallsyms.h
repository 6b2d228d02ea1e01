/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's symbols, from the text of /proc/kallsyms:
 *	ADDRESS TYPE NAME[\t[MODULE]]
 * Only code (types t, T, w, W) is kept. Symbols have no size: each reaches to the next one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

#define KALLSYMS_CORE 0 /* module number of the kernel itself */

struct ksym {
	uint64_t addr;
	const char *name;
	uint16_t module; /* index into kallsyms.modules */
	uint16_t rank;	 /* of names for one address: the least is the one to show */
};

struct kmodule {
	const char *name;    /* "" for the kernel */
	uint64_t start, end; /* least, and one past the greatest address of its symbols */
};

struct kallsyms {
	struct arena names;
	struct ksym *syms; /* after kallsyms_finish(): by address, one for each */
	size_t n, cap;
	struct kmodule *modules;
	size_t nmodules, modules_cap;
	uint64_t stext, etext; /* 0 if not there */
	bool hidden;	       /* every address was 0: the reader may not see them */
	char *part;	       /* start of a line whose rest is still to come */
	size_t part_len, lines;
};

void kallsyms_init(struct kallsyms *k);
void kallsyms_release(struct kallsyms *k);

/*
 * Take the text in pieces of any size; then finish. A line that is none, or a name over 1,023
 * bytes, is an error (-EINVAL) that names the line.
 */
int kallsyms_feed(struct kallsyms *k, const char *p, size_t n, struct err *e);
int kallsyms_finish(struct kallsyms *k, struct err *e);

/* All of it from a file. */
int kallsyms_load(struct kallsyms *k, const char *path, struct err *e);

/* The symbol that holds addr, NULL if none does. */
const struct ksym *kallsyms_find(const struct kallsyms *k, uint64_t addr);
