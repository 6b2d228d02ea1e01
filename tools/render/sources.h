/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files below some directories. A file is found by the end of its path: of
 * "/build/app/src/main.c" the first that is there of DIR/build/app/src/main.c,
 * DIR/app/src/main.c, DIR/src/main.c and DIR/main.c.
 */
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/intern.h"

#define SOURCE_AROUND 2 /* lines shown before and after one with a value */

struct source_file {
	struct buf text;
	size_t *start; /* of each line; start[n] is past the last one */
	size_t n;
};

/* That each is a directory. */
int sources_check(char *const *dirs, size_t n, struct err *e);

/* 0, or -1 where there is none, it is no regular file or too large; to be released in any case. */
int source_file_read(struct source_file *f, char *const *dirs, size_t ndirs,
		     struct str path);
void source_file_release(struct source_file *f);

/* Append line `number` (from 1), tabs as spaces, what is hostile escaped; nothing if it is not there. */
void source_file_line(const struct source_file *f, int64_t number, struct buf *out);
