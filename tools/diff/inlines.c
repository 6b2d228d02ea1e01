/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/inlines.h"

#include <stdlib.h>

/* One of its stacks has inlined frames, or its binaries say that they were looked for. */
static bool has_inlines(const struct profile *p, bool *searched)
{
	const struct store *st = p->store;
	const uint32_t *locations;
	bool inlined = false;
	uint32_t n, k;
	size_t i;

	for (i = 0; i < p->nsamples && !inlined; i++) {
		locations = store_frames(st, p->samples[i].stack, &n);
		for (k = 0; k < n; k++)
			inlined |= st->locations[locations[k]].nlines > 1;
	}
	*searched = inlined;
	for (i = 0; i < p->nextents; i++) {
		if (p->extents[i].used)
			*searched |= p->extents[i].flags & MAPPING_HAS_INLINE_FRAMES;
	}
	return inlined;
}

int inlines_only_in(const struct pair *pair)
{
	bool inlined[SIDES], searched[SIDES];
	int side;

	for (side = 0; side < SIDES; side++)
		inlined[side] = has_inlines(pair->side[side], &searched[side]);
	for (side = 0; side < SIDES; side++) {
		if (inlined[side] && !searched[!side])
			return side;
	}
	return -1;
}

void inlines_fold(struct pair *pair, struct replicas *all)
{
	struct query *q = query_new();
	struct sample_hooks hooks;
	struct replica **r;
	size_t i, k, n;
	int side, column;

	query_set_no_inlines(q);
	hooks = query_hooks(q);
	for (side = 0; side < SIDES; side++) {
		struct profile *p = pair->side[side];

		for (i = 0; i < p->nsamples; i++)
			p->samples[i].stack =
				hooks.stack(hooks.ctx, p->store, p->samples[i].stack);
		r = replicas_of(all, side, &p->h, &n, &column);
		for (i = 0; i < n; i++) {
			for (k = 0; k < r[i]->ncosts; k++)
				r[i]->costs[k].stack = hooks.stack(hooks.ctx, p->store,
								   r[i]->costs[k].stack);
		}
		free(r);
	}
	query_free(q);
}
