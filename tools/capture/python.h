/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions behind the frames of a Python interpreter (bpf/python.h): read from the process's
 * memory once for each code object, while it lives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/capture/procs.h"

struct python_code {
	char *name, *file; /* qualified; as the interpreter has it */
	uint32_t first_line;
	uint64_t begin; /* address of its first instruction */
	uint8_t *lines; /* location table */
	uint32_t nlines;
};

/*
 * The code object at addr in p's memory; NULL if it cannot be read, or is none. Good until the next
 * call. all_bytes: what the names of all processes take, up to NAMES_MAX_BYTES.
 */
const struct python_code *python_code(struct proc *p, uint64_t addr, size_t *all_bytes);

/* The line of the instruction at that address; 0: not known. */
uint32_t python_line(const struct python_code *c, uint64_t instruction);

/* Of a process that ended, or runs another program now. */
struct python;
void python_free(struct python *py);
