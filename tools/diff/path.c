/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the stacks of one function. */
#include "tools/diff/path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define THROUGH_MIN 0.8

struct walk {
	struct comparison *c;
	double *change; /* by frame */
	uint32_t *seen;
	uint32_t stamp;
};

static void add(struct walk *w, uint32_t stack, double change)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, i, k;

	w->stamp++;
	locations = store_frames(w->c->p->store, stack, &n);
	for (i = 0; i < n; i++) {
		frames = frames_of(&w->c->frames, locations[i], &nf);
		for (k = 0; k < nf; k++) {
			if (w->seen[frames[k]] != w->stamp)
				w->change[frames[k]] += change;
			w->seen[frames[k]] = w->stamp;
		}
	}
}

/* The frames of one stack that most of the change came through. */
static uint32_t *frames_through(struct walk *w, uint32_t stack, uint32_t leaf, size_t *n)
{
	const uint32_t *locations, *frames;
	uint32_t *path = NULL, nl, nf, k;
	double all = w->change[leaf];
	size_t cap = 0;

	w->stamp++;
	locations = store_frames(w->c->p->store, stack, &nl);
	while (nl) {
		frames = frames_of(&w->c->frames, locations[--nl], &nf);
		for (k = 0; k < nf; k++) {
			if (frames[k] == leaf || w->seen[frames[k]] == w->stamp ||
			    w->change[frames[k]] / all < THROUGH_MIN)
				continue;
			w->seen[frames[k]] = w->stamp;
			XGROW(path, *n, cap);
			path[(*n)++] = frames[k];
		}
	}
	return path;
}

uint32_t *change_path(struct comparison *c, uint32_t frame, size_t *n)
{
	struct walk w = {.c = c,
			 .change = xcalloc(c->frames.n + 1, sizeof(double)),
			 .seen = xcalloc(c->frames.n + 1, sizeof(uint32_t))};
	uint32_t largest = ID_NONE, *path = NULL;
	double most = 0, change;
	size_t i;

	*n = 0;
	for (i = 0; i < c->weights.n; i++) {
		if (comparison_leaf(c, c->weights.v[i].stack) != frame)
			continue;
		change = (double)c->weights.v[i].plus + (double)c->weights.v[i].minus;
		add(&w, c->weights.v[i].stack, change);
		if (fabs(change) > most) {
			most = fabs(change);
			largest = c->weights.v[i].stack;
		}
	}
	if (largest != ID_NONE && w.change[frame] != 0)
		path = frames_through(&w, largest, frame, n);
	free(w.change);
	free(w.seen);
	return path;
}
