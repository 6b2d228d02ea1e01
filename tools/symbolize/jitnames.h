/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that lies in no file, from perf maps and jitdumps given by the user. Addresses
 * are absolute; of several definitions the last counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/sym/jitmap.h"

struct jitnames {
	struct jitmap *maps;
	size_t n, cap;
	/* for the report: addresses in no file, as they came, and those that got a name */
	uint64_t addresses, named;
};

struct jitname { /* strings live as long as the jitnames */
	const char *name, *file;
	uint32_t line, start_line;
};

void jitnames_release(struct jitnames *j);

/* Read a whole file; which of the two it is, its first bytes say. */
int jitnames_read(struct jitnames *j, const char *path, struct err *e);

bool jitnames_find(struct jitnames *j, uint64_t addr, struct jitname *out);
