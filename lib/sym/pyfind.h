/* SPDX-License-Identifier: Apache-2.0 */
/* Is a file a Python interpreter, and where are the parts of it that lead to its frames? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/sym/elf.h"

/* Addresses are those of rows (lib/sym/unwindtab.h). */
struct python_places {
	uint32_t
		version; /* Py_Version, as in 0x030b07f0 for 3.11.7; 0: not an interpreter */
	uint32_t runtime;	  /* _PyRuntime */
	uint32_t eval, eval_size; /* _PyEval_EvalFrameDefault, which runs Python code */
};

/* By the symbols that a 64-bit interpreter of 3.11 or later exports. */
bool python_find(struct elf_file *f, struct python_places *out);
