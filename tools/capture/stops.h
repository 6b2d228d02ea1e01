/* SPDX-License-Identifier: Apache-2.0 */
/* Where stacks ended before their root, by cause and file, over the whole capture. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

struct stop_row {
	enum unwind_stop stop;
	char *file; /* "" where the cause is not the file's */
	uint64_t n; /* samples */
};

struct stops {
	struct stop_row *rows;
	size_t n, cap;
	uint64_t complete, all; /* samples of programs whose end is known */
};

/* file: NULL if not known. */
void stops_add(struct stops *s, enum unwind_stop stop, const char *file);
void stops_sort(struct stops *s); /* the most first */
void stops_release(struct stops *s);
