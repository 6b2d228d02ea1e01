/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a report, built from its distinct stacks. Nodes are in an array; a parent
 * always comes before its children, so that sums go up by walking the array backwards.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/query/frames.h"
#include "lib/query/weights.h"

struct node {
	uint32_t frame;		    /* ID_NONE: the root */
	uint32_t parent;	    /* node index; the root's is ID_NONE */
	uint32_t first_child, next; /* ID_NONE ends the list */
	uint32_t depth;		    /* of the root: 0 */
	bool inlined;		    /* into its parent, wherever it was met */
	int64_t self, total;
	/* what it is drawn by: the sum of |value| of the stacks below; equals total unless some
	 * are negative */
	int64_t size;
};

struct tree {
	struct node *v; /* v[0] is the root */
	size_t n, cap;
	struct id_table ids;
	uint32_t depth; /* of the deepest node */
};

/* A tree of the root alone. */
void tree_start(struct tree *t);

/* The node where the stack ends, made with all above it where it is not there yet. */
uint32_t tree_add(struct tree *t, struct frames *f, uint32_t stack);

/* The tree of all stacks, with their values. */
int tree_init(struct tree *t, struct frames *f, const struct weights *w, struct err *e);
void tree_release(struct tree *t);

/* Sort every list of children by cmp (negative: a before b). */
void tree_sort(struct tree *t,
	       int (*cmp)(const struct node *a, const struct node *b, void *ctx),
	       void *ctx);
