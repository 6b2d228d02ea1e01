/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile names made harmless, one function per place they may end up in. Each appends to a
 * buffer; input is bytes that need not be UTF-8 (invalid ones become U+FFFD, in the terminal
 * form \xNN), output is always valid UTF-8.
 */
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"

void escape_terminal(struct buf *b, const char *p,
		     size_t n); /* control bytes as \n, \x1b… */
void escape_xml(struct buf *b, const char *p,
		size_t n); /* HTML, SVG: text and attributes */
void escape_json(struct buf *b, const char *p, size_t n); /* inside the quotes */

/*
 * A whole cell of CSV, quoted; controls as for the terminal. What spreadsheets would take for a
 * formula (= + - @ first) gets an apostrophe in front.
 */
void escape_csv(struct buf *b, const char *p, size_t n);

/* A code span of Markdown, also inside a table; controls as for the terminal. */
void escape_markdown(struct buf *b, const char *p, size_t n);

/* A path as a relative reference of RFC 3986: all but unreserved bytes and "/" as %XX. */
void escape_uri_path(struct buf *b, const char *p, size_t n);
