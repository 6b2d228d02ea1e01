/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of /proc/PID/maps, line by line:
 *	START-END PERM OFFSET MAJOR:MINOR INODE   NAME
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end, offset; /* offset in the file, bytes; start < end */
	uint64_t inode;
	uint32_t major, minor;
	bool read, write, exec, shared;
	bool deleted;	  /* the name ended in " (deleted)", which is taken off */
	const char *name; /* in the text, not NUL-terminated; a newline shows as \012 */
	size_t name_len;  /* 0: anonymous */
};

/*
 * Read the next line of [*p, end) and move *p behind it: 1, 0 at the end, -EINVAL for a line
 * that is none (*p is then behind that too, so that a caller may go on).
 */
int maps_next(const char **p, const char *end, struct maps_line *m);
