/* SPDX-License-Identifier: Apache-2.0 */
/* What has risen and fallen, and which domains two of them have in common: for moved.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/diff/verdict.h"

/* One-sided chance below which something fell, and below which a net rise is real. */
#define CHANCE 0.01

/* A caller, near or far, and how much of a mover's change happened below it. */
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
	double file_cost, package_cost; /* of a rise: of the domains of that kind */
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
	uint32_t *which;  /* by frame: index in up or down; ID_NONE */
	double *net;	  /* counts, scratch */
	size_t *members;  /* indexes of falls, scratch */
	uint32_t *row_of; /* by frame: index of the row; ID_NONE: joined into another */
	double total;	  /* of the base, as values are */
};

static inline const struct finding *moved_flat(const struct search *s, uint32_t frame)
{
	return &s->v->rows[frame].flat;
}

/* What a function costs on the side where it costs more; measure: 0 flat, 1 cumulative. */
double moved_cost(const struct search *s, int measure, uint32_t frame);

/* s->up and s->down, and their domains. */
void moved_find(struct search *s);
void moved_release(struct search *s);

/* What the smallest domain of a rise and a fall costs; INFINITY without. */
double moved_domain(const struct search *s, const struct mover *up,
		    const struct mover *down);
