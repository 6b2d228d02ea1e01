/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a command's operands, one after another: what lib/pprof/source.h says of
 * operands. Directories are expanded when they are reached.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/err.h"

struct paths;

/* `operands` is copied. */
struct paths *paths_new(char *const *operands, size_t n);
/* Operands from f, each ended by a NUL, read as they are needed; f is closed in the end. */
struct paths *paths_new_names0(FILE *f, const char *name);
void paths_free(struct paths *p);

/*
 * The next path, allocated: 1, 0 at the end, negative on error. After an error the call may be
 * repeated: it goes on with the next operand.
 */
int paths_next(struct paths *p, char **path, struct err *e);

bool paths_is_last(const struct paths *p); /* that was the last one */
