/* SPDX-License-Identifier: Apache-2.0 */
/* Building and sorting the call tree, without recursion: stacks may be thousands deep. */
#include "tools/render/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t frame, bool inlined)
{
	uint32_t first = t->v[parent].first_child, id;
	uint64_t h;
	size_t s;

	/* stacks that follow one another mostly share their callers: the newest child is first */
	if (first != ID_NONE && t->v[first].frame == frame) {
		t->v[first].inlined &= inlined;
		return first;
	}
	h = hash_u64(parent, frame);
	for (s = id_table_first(&t->ids, h);
	     (id = id_table_at(&t->ids, h, &s)) != ID_NONE; s++) {
		if (t->v[id].parent == parent && t->v[id].frame == frame) {
			t->v[id].inlined &= inlined;
			return id;
		}
	}
	XGROW(t->v, t->n, t->cap);
	id = (uint32_t)t->n++;
	t->v[id] = (struct node){.frame = frame,
				 .parent = parent,
				 .first_child = ID_NONE,
				 .next = first,
				 .depth = t->v[parent].depth + 1,
				 .inlined = inlined};
	t->v[parent].first_child = id;
	if (t->v[id].depth > t->depth)
		t->depth = t->v[id].depth;
	id_table_put(&t->ids, h, id);
	return id;
}

void tree_start(struct tree *t)
{
	*t = (struct tree){0};
	id_table_init(&t->ids);
	XGROW(t->v, t->n, t->cap);
	t->v[t->n++] = (struct node){.frame = ID_NONE,
				     .parent = ID_NONE,
				     .first_child = ID_NONE,
				     .next = ID_NONE};
}

uint32_t tree_add(struct tree *t, struct frames *f, uint32_t stack)
{
	const uint32_t *locations, *ids;
	uint32_t n, k, i, j, at = 0;

	locations = store_frames(f->p->store, stack, &n);
	for (i = n; i; i--) {
		ids = frames_of(f, locations[i - 1], &k);
		for (j = 0; j < k; j++)
			at = child_of(t, at, ids[j], j > 0);
	}
	return at;
}

int tree_init(struct tree *t, struct frames *f, const struct weights *w, struct err *e)
{
	uint32_t at;
	size_t i;

	tree_start(t);
	for (i = 0; i < w->n; i++) {
		if (t->n > UINT32_MAX / 2)
			return err_set(e, E2BIG, "too many distinct frames to draw");
		at = tree_add(t, f, w->v[i].stack);
		/* no overflow: the sum of all |value| was added up before */
		t->v[at].self += w->v[i].plus + w->v[i].minus;
		t->v[at].size += w->v[i].plus - w->v[i].minus;
	}
	for (i = t->n; i--;) {
		t->v[i].total += t->v[i].self;
		if (!i)
			break;
		t->v[t->v[i].parent].total += t->v[i].total;
		t->v[t->v[i].parent].size += t->v[i].size;
	}
	return 0;
}

void tree_release(struct tree *t)
{
	free(t->v);
	id_table_release(&t->ids);
	*t = (struct tree){0};
}

struct sorter {
	const struct tree *t;
	int (*cmp)(const struct node *a, const struct node *b, void *ctx);
	void *ctx;
};

static int cmp_ids(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;

	return s->cmp(&s->t->v[*(const uint32_t *)a], &s->t->v[*(const uint32_t *)b],
		      s->ctx);
}

void tree_sort(struct tree *t,
	       int (*cmp)(const struct node *a, const struct node *b, void *ctx),
	       void *ctx)
{
	struct sorter s = {t, cmp, ctx};
	uint32_t *ids = xcalloc(t->n, sizeof(*ids)), id, *tail;
	size_t i, k, n;

	for (i = 0; i < t->n; i++) {
		n = 0;
		for (id = t->v[i].first_child; id != ID_NONE; id = t->v[id].next)
			ids[n++] = id;
		if (n < 2)
			continue;
		qsort_r(ids, n, sizeof(*ids), cmp_ids, &s);
		tail = &t->v[i].first_child;
		for (k = 0; k < n; k++) {
			*tail = ids[k];
			tail = &t->v[ids[k]].next;
		}
		*tail = ID_NONE;
	}
	free(ids);
}
