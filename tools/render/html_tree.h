/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a profile with all its columns at once, as the page gets it: nodes in
 * pre-order, the heaviest child first, frames ranked by how many nodes they have.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/query/frames.h"
#include "tools/render/report.h"
#include "tools/render/tree.h"

/* A side is the base (0) and the new one (1) of a diff; other profiles have side 0 only. */
struct html_tree {
	struct frames frames;
	struct tree
		calls; /* its nodes' own values are not used: there are several columns */
	int64_t *self; /* by node: nsides * ncolumns values, those of the base first */
	size_t self_cap;
	int64_t *totals; /* sum of |value| before filters: nsides * ncolumns */
	size_t ncolumns, nsides;
	bool has_negative;
	struct str *
		names; /* by frame id, escaped for a terminal: valid UTF-8, no controls */
	uint32_t *ranked; /* frame ids, those with most nodes first */
	uint32_t *rank;	  /* by frame id: its place in `ranked` */
	uint32_t *order;  /* node ids in pre-order */
	struct arena arena;
};

int html_tree_init(struct html_tree *t, const struct report *r, struct err *e);
void html_tree_release(struct html_tree *t);
