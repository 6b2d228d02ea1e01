/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the code that a process makes while it runs: from the perf map or the jitdump that its
 * runtime writes. They are looked up while capturing, as neither lasts. Files are looked for in
 * the process's own root, under the number that it has for itself, and read on as they grow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/capture/procs.h"

struct jit_frame {
	const char *name, *file; /* good until the next call; file "" if it is not told */
	uint32_t start_line, line; /* 0: not told */
};

/*
 * The code that p had at addr then; s: its space at that time. What was written before since_ns
 * (CLOCK_MONOTONIC) is known, what came after it within a tenth of a second.
 * all_bytes: memory that the names of all processes take, kept here; there is a limit.
 */
bool jit_find(struct proc *p, const struct space *s, uint64_t addr, uint64_t time_ns,
	      uint64_t since_ns, size_t *all_bytes, struct jit_frame *out);

/* The mapping holds code that was made, not read from a file. */
bool jit_is_code(const struct vma *v);

/* There is something to look names up in. */
bool jit_is_told(const struct proc *p);

/* Of a process that ended, or runs another program now. */
void jit_free(struct jit *j);
