/* SPDX-License-Identifier: Apache-2.0 */
/* Text in memory, taken line by line, for readers of other people's forms. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Bytes [p, end), not owned, without a NUL. */
struct span {
	const char *p, *end;
};

static inline size_t span_len(struct span s)
{
	return (size_t)(s.end - s.p);
}

/* The next line, without blanks at its end; its number (from 1) in *no. False: no more. */
static inline bool span_line(struct span *text, struct span *line, size_t *no)
{
	const char *nl;

	if (text->p >= text->end)
		return false;
	nl = memchr(text->p, '\n', span_len(*text));
	line->p = text->p;
	line->end = nl ? nl : text->end;
	text->p = nl ? nl + 1 : text->end;
	++*no;
	while (line->end > line->p && (line->end[-1] == '\r' || line->end[-1] == ' '))
		line->end--;
	return true;
}

/* The same, but empty lines are passed over. */
static inline bool span_full_line(struct span *text, struct span *line, size_t *no)
{
	while (span_line(text, line, no)) {
		if (line->end > line->p)
			return true;
	}
	return false;
}
