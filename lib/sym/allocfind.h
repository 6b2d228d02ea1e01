/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a memory allocator that a file has, by its symbols: those of the C library,
 * jemalloc, tcmalloc and mimalloc, under their own names or the usual prefixes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/alloc.h"
#include "lib/sym/elf.h"

struct alloc_place {
	uint64_t addr, size; /* of the function, as the file has it */
	uint64_t offset;     /* in the file */
	enum alloc_op op;
	enum alloc_start start;
};

struct alloc_places {
	struct alloc_place v[ALLOC_FUNCTIONS_MAX]; /* by address, each once */
	uint32_t n;
	bool is_go; /* Go's own allocator is none of these */
};

/* What the name is of: ALLOC_NOTHING, if it is no allocator's. */
enum alloc_op alloc_op_of(const char *name, size_t n);

/* A 64-bit file's functions. Nothing is found in one without symbols of its own. */
void alloc_find(struct elf_file *f, struct alloc_places *out);
