/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of text that people write. */
#pragma once

#include "lib/base/err.h"

/* More bytes than this are no such file. */
#define LINES_MAX (16 << 20)

/*
 * Calls `each` for every line that has something other than blanks and does not begin with '#',
 * without the blanks around it; it may write to it. What it says is prefixed with the place.
 */
int lines_read(const char *file, int (*each)(void *ctx, char *line, struct err *e),
	       void *ctx, struct err *e);

/* What is between the blanks at both ends of s, which is cut there. */
char *lines_trim(char *s);
