/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of stacks by its cumulative values, and cutting at a least value. */
#include "tools/merge/trim.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

typedef unsigned __int128 u128;

#define NO_STACK UINT32_MAX

/* A frame with the frames above it. Node 0 is the root, which has no frame. */
struct node {
	u128 sum;
	uint32_t parent;
	uint32_t depth;
};

struct tree {
	struct profile *p;
	uint32_t *stacks; /* distinct ids; ordered by frames, root first */
	uint32_t *leaves; /* node of each */
	u128 *weights;	  /* of each: sum of |value| */
	uint32_t *place;  /* by stack id: index in stacks, or NO_STACK */
	struct node *nodes;
	uint32_t *path; /* nodes of the stack at hand, by depth */
	size_t nstacks, nnodes, nodes_cap, path_cap;
};

static int cmp_stack(const void *a, const void *b, void *store)
{
	const struct store *st = store;
	const uint32_t *x, *y;
	uint32_t n, m, i;

	x = store_frames(st, *(const uint32_t *)a, &n);
	y = store_frames(st, *(const uint32_t *)b, &m);
	for (i = 1; i <= n && i <= m; i++) {
		if (x[n - i] != y[m - i])
			return x[n - i] < y[m - i] ? -1 : 1;
	}
	return (n > m) - (n < m);
}

static void collect(struct tree *t)
{
	const struct profile *p = t->p;
	size_t i;

	t->place = xmalloc((p->store->nstacks + 1) * sizeof(*t->place));
	memset(t->place, 0xff, (p->store->nstacks + 1) * sizeof(*t->place));
	t->stacks = xmalloc((p->nsamples + 1) * sizeof(*t->stacks));
	for (i = 0; i < p->nsamples; i++) {
		if (t->place[p->samples[i].stack] != NO_STACK)
			continue;
		t->place[p->samples[i].stack] = 0;
		t->stacks[t->nstacks++] = p->samples[i].stack;
	}
	if (t->nstacks)
		qsort_r(t->stacks, t->nstacks, sizeof(*t->stacks), cmp_stack, p->store);
	for (i = 0; i < t->nstacks; i++)
		t->place[t->stacks[i]] = (uint32_t)i;
}

static void weigh(struct tree *t)
{
	const struct profile *p = t->p;
	size_t column = profile_default_type(p), i;
	int64_t v;

	t->weights = xcalloc(t->nstacks + 1, sizeof(*t->weights));
	for (i = 0; i < p->nsamples; i++) {
		v = profile_values(p, i)[column];
		t->weights[t->place[p->samples[i].stack]] +=
			v < 0 ? -(u128)(__int128)v : (u128)v;
	}
}

/* Stacks in order share nodes with the one before. */
static void grow(struct tree *t)
{
	const struct store *st = t->p->store;
	const uint32_t *frames, *before = NULL;
	uint32_t n, nbefore = 0, d, same;
	size_t i;

	t->leaves = xmalloc((t->nstacks + 1) * sizeof(*t->leaves));
	XGROW(t->nodes, t->nnodes, t->nodes_cap);
	t->nodes[t->nnodes++] = (struct node){0};
	for (i = 0; i < t->nstacks; i++) {
		frames = store_frames(st, t->stacks[i], &n);
		XRESERVE(t->path, t->path_cap, n + 1);
		t->path[0] = 0;
		for (same = 0; same < n && same < nbefore &&
			       frames[n - 1 - same] == before[nbefore - 1 - same];
		     same++)
			;
		for (d = same; d < n; d++) {
			XGROW(t->nodes, t->nnodes, t->nodes_cap);
			t->nodes[t->nnodes] =
				(struct node){.parent = t->path[d], .depth = d + 1};
			t->path[d + 1] = (uint32_t)t->nnodes++;
		}
		for (d = 0; d <= n; d++)
			t->nodes[t->path[d]].sum += t->weights[i];
		t->leaves[i] = t->path[n];
		before = frames;
		nbefore = n;
	}
}

static void tree_release(struct tree *t)
{
	free(t->stacks);
	free(t->leaves);
	free(t->weights);
	free(t->place);
	free(t->nodes);
	free(t->path);
}

/* The innermost node on the way from a leaf to the root that carries so much; else the root. */
static uint32_t kept_node(const struct tree *t, uint32_t leaf, u128 least)
{
	while (leaf && t->nodes[leaf].sum < least)
		leaf = t->nodes[leaf].parent;
	return leaf;
}

/* Distinct stacks if what carries less than `least` is cut. */
static size_t count_stacks(const struct tree *t, u128 least, uint8_t *has_other)
{
	uint32_t node;
	size_t i, n = 0;

	memset(has_other, 0, t->nnodes);
	for (i = 0; i < t->nstacks; i++) {
		node = kept_node(t, t->leaves[i], least);
		if (node != t->leaves[i] && has_other[node])
			continue;
		has_other[node] |= node != t->leaves[i];
		n++;
	}
	return n;
}

static int cmp_u128(const void *a, const void *b)
{
	u128 x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* The least value, from `least` on, by which at most `max` stacks are left, if there is one. */
static u128 least_for(const struct tree *t, u128 least, uint64_t max)
{
	uint8_t *has_other = xmalloc(t->nnodes);
	u128 *sums = xmalloc((t->nnodes + 1) * sizeof(*sums));
	size_t i, low = 0, high = t->nnodes, mid;

	if (count_stacks(t, least, has_other) <= max) {
		free(sums);
		free(has_other);
		return least;
	}
	for (i = 0; i < t->nnodes; i++)
		sums[i] = t->nodes[i].sum;
	qsort(sums, t->nnodes, sizeof(*sums), cmp_u128);
	/* cut all that carry sums[mid] or less */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (sums[mid] + 1 > least &&
		    count_stacks(t, sums[mid] + 1, has_other) <= max)
			high = mid;
		else
			low = mid + 1;
	}
	least = sums[low < t->nnodes ? low : t->nnodes - 1] + 1;
	free(sums);
	free(has_other);
	return least;
}

/* The frames of `stack` down to a node, and "[other]". */
static uint32_t cut_stack(struct store *st, uint32_t stack, uint32_t depth)
{
	struct function f = {.name = store_puts(st, "[other]")};
	struct line line = {.function = store_function(st, &f)};
	uint32_t other = store_location(st, ID_NONE, 0, false, &line, 1);
	uint32_t *frames = xmalloc((depth + 1) * sizeof(*frames)), n, result;
	const uint32_t *all = store_frames(st, stack, &n);

	frames[0] = other;
	if (depth)
		memcpy(frames + 1, all + (n - depth), depth * sizeof(*frames));
	result = store_stack(st, frames, depth + 1);
	free(frames);
	return result;
}

/* The samples under their new stacks, in place of p's. */
static int replace(struct tree *t, u128 least, struct err *e)
{
	struct profile *p = t->p, *cut = profile_new(p->store);
	uint32_t *stacks = xmalloc((t->nstacks + 1) * sizeof(*stacks)), node;
	size_t i;
	int r = 0;

	header_copy(&cut->h, &p->h);
	for (i = 0; i < t->nstacks; i++) {
		node = kept_node(t, t->leaves[i], least);
		stacks[i] = node == t->leaves[i] ? t->stacks[i]
						 : cut_stack(p->store, t->stacks[i],
							     t->nodes[node].depth);
	}
	for (i = 0; i < p->nsamples && !r; i++)
		r = profile_add(cut, stacks[t->place[p->samples[i].stack]],
				p->samples[i].labelset, profile_values(p, i), e);
	profile_swap_samples(p, cut);
	profile_free(cut);
	free(stacks);
	return r;
}

int trim(struct profile *p, double fraction, uint64_t max_stacks, struct err *e)
{
	struct tree t = {.p = p};
	long double total;
	u128 least;
	int r = 0;

	collect(&t);
	weigh(&t);
	grow(&t);
	total = (long double)t.nodes[0].sum * fraction;
	least = (u128)total;
	if ((long double)least < total)
		least++;
	if (max_stacks)
		least = least_for(&t, least, max_stacks);
	if (least)
		r = replace(&t, least, e);
	tree_release(&t);
	return r;
}
