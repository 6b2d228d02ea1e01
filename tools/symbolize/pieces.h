/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mappings are of files, and anonymous memory between two pieces of one file: code that was
 * copied to huge pages, or made writable and written over, is shown so by the kernel. Where both
 * pieces have the same load address, that of the code between them is known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pprof/model.h"

/*
 * Names that stand for no file: the kernel's and the vDSO's brackets, and what google/pprof
 * leaves alone as well.
 */
bool is_no_file(const char *name);

struct pieces {
	uint32_t *v; /* mappings of files, by start */
	size_t n;
};

void pieces_init(struct pieces *p, const struct store *st, size_t nmappings);
void pieces_release(struct pieces *p);

/* For an anonymous mapping between two pieces of a file: that file, from one to the other. */
bool pieces_around(const struct pieces *p, const struct store *st,
		   const struct mapping *anonymous, struct mapping *out);
