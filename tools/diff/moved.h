/* SPDX-License-Identifier: Apache-2.0 */
/* What has risen and fallen, and which domains two of them have in common: for moved.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/diff/moved_place.h"
#include "tools/diff/verdict.h"

/* One-sided chance below which something fell, and below which a net rise is real. */
#define CHANCE 0.01

/*
 * A caller, near or far, and how much of a mover's change happened below it. The values of labels
 * are callers too, none of them direct: they have the numbers after the frames.
 */
struct caller {
	uint32_t frame;
	double all, direct;
};

struct mover {
	uint32_t frame;
	double change;	  /* of the flat rate; never 0 */
	double left;	  /* of a fall: what has not excused anything yet */
	struct caller *v; /* by frame; only those that are domains */
	size_t n, cap, tidy_at;
	bool contested; /* a rise that a fall makes up for as well as for another one */
};

struct movers {
	struct mover *v;
	size_t n;
};

struct search {
	struct verdicts *v;
	struct comparison *c;
	struct movers up, down;
	uint32_t *which; /* by frame: index in up or down; ID_NONE */
	double *net;	 /* counts, scratch */
	size_t *members; /* indexes of falls, scratch */
	struct places places;
	double *label_cost; /* by number of a label's value */
	double total;	    /* of the base, as values are */
};

static inline const struct finding *moved_flat(const struct search *s, uint32_t frame)
{
	return &s->v->rows[frame].flat;
}

/* finding_cost() of a function; measure: 0 flat, 1 cumulative. */
double moved_cost(const struct search *s, int measure, uint32_t frame);

/* The mover whose flat cost this stack is part of; NULL: none. */
struct mover *moved_of_stack(struct search *s, uint32_t stack);
/* from: where those of its stack begin, of which each counts once. */
void moved_add_caller(struct mover *m, size_t from, uint32_t frame, double change,
		      double direct);

/* The values of labels below which movers changed (moved_label.c). */
void moved_add_labels(struct search *s);

/* s->up and s->down, and their domains. */
void moved_find(struct search *s);
void moved_release(struct search *s);

/* What the smallest domain of a rise and a fall costs; INFINITY without. */
double moved_domain(const struct search *s, const struct mover *up,
		    const struct mover *down);
