/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the page adds up when a part of the samples is asked for: values by node of its tree,
 * label set and time. Labels are those asked for; unless any are, those that have few values.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/intern.h"
#include "tools/render/html_tree.h"
#include "tools/render/bins.h"

#define CELLS_BINS_MAX 240
#define CELLS_MAX 2000000    /* above it, bins are put together two by two */
#define CELLS_VALUES_MAX 100 /* distinct ones of a key that nobody asked for */
#define CELLS_KEYS_MAX 16
#define CELLS_TARGETS_MAX 256

/* A key of labels; texts are escaped for a terminal. */
struct cells_key {
	struct str name;
	size_t nvalues; /* distinct ones of the profile */
};

struct cells_pair {
	uint32_t key, value; /* of keys; of texts */
};

struct cell {
	uint32_t node;	   /* place in pre-order; past the last: what filters left out */
	uint32_t set, bin; /* of sets; of bins, bins.n: no time */
	uint32_t values;   /* which group of ncolumns */
};

/* A target of which the page tells what its values are divided by. */
struct cells_target {
	uint32_t number; /* of the bins' parts */
	uint32_t set;	 /* of sets */
};

struct html_cells {
	struct bins bins;
	struct cells_target *targets; /* by set; none if there is one only, or too many */
	size_t ntargets;
	size_t bins_most;	/* as many as there was room for */
	struct cells_key *keys; /* those that are there first, then those left out */
	size_t nkeys, nleft_out;
	struct intern texts; /* of values, in byte order from the first on */
	struct intern sets;  /* each the bytes of an array of struct cells_pair */
	struct cell *v;	     /* by node, set, bin */
	size_t n, cap;
	int64_t *values;
	size_t values_cap;
	struct arena arena;
};

/* r->timeline and the tree of r->p, which has one side. like: cells to have the bins of; or NULL. */
int html_cells_init(struct html_cells *c, const struct report *r, struct html_tree *t,
		    const struct html_cells *like, struct err *e);
void html_cells_release(struct html_cells *c);
