/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/inlines.h"

#include "tools/diff/rewrite.h"

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
	int side;

	query_set_no_inlines(q);
	hooks = query_hooks(q);
	for (side = 0; side < SIDES; side++)
		rewrite_side(pair, side, all, hooks.stack, hooks.ctx);
	query_free(q);
}
