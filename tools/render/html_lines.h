/* SPDX-License-Identifier: Apache-2.0 */
/* The page's samples line by line, and the source text of the lines. */
#pragma once

#include "tools/render/html_data.h"

/*
 * Add them to a profile that t and c are of (c: NULL or the cells), if lines are known and
 * asked for, or if the tree is small.
 */
int html_lines_add(struct html_data *d, const struct report *r, const struct html_tree *t,
		   const struct html_cells *c, struct err *e);
