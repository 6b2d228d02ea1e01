/* SPDX-License-Identifier: Apache-2.0 */
/* Building and ordering the page's tree, without recursion: stacks may be thousands deep. */
#include "tools/render/html_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"

#define BASE_KEY "pprof::base"

/* --- reading ---------------------------------------------------------------------------- */

struct sides {
	const struct store *store;
	uint32_t key, value; /* string ids; UINT32_MAX: not there */
};

static struct sides sides_of(const struct store *st)
{
	return (struct sides){st, intern_find(&st->strings, BASE_KEY, strlen(BASE_KEY)),
			      intern_find(&st->strings, "true", 4)};
}

static bool is_base(const struct sides *s, uint32_t labelset)
{
	const struct label *l;
	uint32_t n, i;

	if (s->key == UINT32_MAX || s->value == UINT32_MAX)
		return false;
	l = store_labels(s->store, labelset, &n);
	for (i = 0; i < n; i++) {
		if (l[i].key == s->key && !l[i].numeric && l[i].str == s->value)
			return true;
	}
	return false;
}

static int too_large(const struct profile *p, size_t column, struct err *e)
{
	return err_set(e, EOVERFLOW, "the total of %s does not fit 64 bits",
		       store_cstr(p->store, p->h.types[column].type));
}

/* After this no sum of single values can overflow: that of all |value| did not. */
static int add_up_totals(struct html_tree *t, const struct profile *p,
			 const struct sides *sides, struct err *e)
{
	int64_t *sum = xcalloc(t->ncolumns, 2 * sizeof(*sum)), v;
	size_t i, c, side, n = t->ncolumns;
	int r = 0;

	t->nsides = 1;
	for (i = 0; i < p->nsamples && !r; i++) {
		side = !is_base(sides, p->samples[i].labelset);
		if (!side)
			t->nsides = 2;
		for (c = 0; c < n && !r; c++) {
			v = profile_values(p, i)[c];
			if ((v < 0 && __builtin_sub_overflow(0, v, &v)) ||
			    __builtin_add_overflow(sum[side * n + c], v,
						   &sum[side * n + c]) ||
			    __builtin_add_overflow(sum[c], sum[n + c], &v))
				r = too_large(p, c, e);
		}
	}
	if (t->nsides == 1)
		memmove(sum, sum + n, n * sizeof(*sum));
	t->totals = sum;
	return r;
}

static uint32_t child_of(struct html_tree *t, uint32_t parent, uint32_t frame,
			 bool inlined)
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
	t->v[id] = (struct html_node){.frame = frame,
				      .parent = parent,
				      .first_child = ID_NONE,
				      .next = first,
				      .inlined = inlined};
	t->v[parent].first_child = id;
	id_table_put(&t->ids, h, id);
	return id;
}

static uint32_t add_stack(struct html_tree *t, uint32_t stack)
{
	const uint32_t *locations, *ids;
	uint32_t n, k, i, j, at = 0;

	locations = store_frames(t->frames.p->store, stack, &n);
	for (i = n; i; i--) {
		ids = frames_of(&t->frames, locations[i - 1], &k);
		for (j = 0; j < k; j++)
			at = child_of(t, at, ids[j], j > 0);
	}
	return at;
}

/* Room for the values of all nodes that there are. */
static void reserve_values(struct html_tree *t)
{
	size_t need = t->n * t->nsides * t->ncolumns, cap = t->self_cap;

	if (need <= cap)
		return;
	XRESERVE(t->self, cap, need);
	memset(t->self + t->self_cap, 0, (cap - t->self_cap) * sizeof(*t->self));
	t->self_cap = cap;
}

static void add_values(struct html_tree *t, uint32_t node, size_t side, bool negate,
		       const int64_t *values)
{
	size_t c;
	int64_t *self;

	reserve_values(t);
	self = t->self + (node * t->nsides + side) * t->ncolumns;
	for (c = 0; c < t->ncolumns; c++) {
		self[c] += negate ? -values[c] : values[c];
		t->has_negative |= (negate ? -values[c] : values[c]) < 0;
	}
}

static int add_samples(struct html_tree *t, const struct report *r,
		       const struct sides *sides, struct err *e)
{
	const struct profile *p = r->p;
	/* the filters make new stacks while we go: at most one for each that is there */
	uint32_t *place = xcalloc(2 * p->store->nstacks + 1, sizeof(*place)), stack;
	int ret = 0;
	bool base;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		stack = query_filter(r->q, p->store, p->samples[i].stack);
		if (stack == SAMPLE_DROP)
			continue;
		if (t->n > UINT32_MAX / 2) {
			ret = err_set(e, E2BIG, "too many distinct frames to draw");
			break;
		}
		if (!place[stack])
			place[stack] = add_stack(t, stack) + 1;
		base = t->nsides == 2 && is_base(sides, p->samples[i].labelset);
		add_values(t, place[stack] - 1, t->nsides == 2 && !base, base,
			   profile_values(p, i));
	}
	free(place);
	return ret ? ret : query_status(r->q, e);
}

/* --- order ------------------------------------------------------------------------------ */

/* By name, then by what else tells frames apart: nothing depends on the order of reading. */
static int cmp_frames(const void *a, const void *b, void *tree)
{
	const struct html_tree *t = tree;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct frame *fx = &t->frames.v[x], *fy = &t->frames.v[y];
	const struct store *st = t->frames.p->store;
	int c = str_cmp(t->names[x], t->names[y]);

	if (!c)
		c = str_cmp(store_str(st, fx->binary), store_str(st, fy->binary));
	if (!c)
		c = str_cmp(store_str(st, fx->name), store_str(st, fy->name));
	if (!c)
		c = (fx->line > fy->line) - (fx->line < fy->line);
	return c ? c : (fx->address > fy->address) - (fx->address < fy->address);
}

struct counted {
	uint32_t frame, place, nodes;
};

static int most_nodes_first(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->nodes != y->nodes)
		return x->nodes > y->nodes ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Names and ranks; by_name is filled with each frame's place among the names. */
static void rank_frames(struct html_tree *t, uint32_t *by_name)
{
	size_t n = t->frames.n, i;
	struct counted *counted = xcalloc(n + 1, sizeof(*counted));
	struct buf raw = BUF_INIT(SIZE_MAX / 2), b = BUF_INIT(SIZE_MAX / 2);

	t->names = xcalloc(n + 1, sizeof(*t->names));
	t->rank = xcalloc(n + 1, sizeof(*t->rank));
	t->ranked = xcalloc(n + 1, sizeof(*t->ranked));
	for (i = 0; i < n; i++) {
		buf_clear(&raw);
		buf_clear(&b);
		frames_name(&t->frames, (uint32_t)i, &raw);
		escape_terminal(&b, buf_str(&raw), raw.len);
		t->names[i].p = arena_bytes(&t->arena, b.data, b.len);
		t->names[i].n = (uint32_t)b.len;
		t->ranked[i] = (uint32_t)i;
		counted[i].frame = (uint32_t)i;
	}
	qsort_r(t->ranked, n, sizeof(*t->ranked), cmp_frames, t);
	for (i = 0; i < n; i++)
		counted[t->ranked[i]].place = by_name[t->ranked[i]] = (uint32_t)i;
	for (i = 1; i < t->n; i++)
		counted[t->v[i].frame].nodes++;
	qsort(counted, n, sizeof(*counted), most_nodes_first);
	for (i = 0; i < n; i++) {
		t->ranked[i] = counted[i].frame;
		t->rank[counted[i].frame] = (uint32_t)i;
	}
	free(counted);
	buf_release(&raw);
	buf_release(&b);
}

struct sorter {
	const struct html_tree *t;
	const uint32_t *by_name;
	double *size; /* by node: what it is as wide as */
};

static int heaviest_first(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (s->size[x] != s->size[y])
		return s->size[x] > s->size[y] ? -1 : 1;
	x = s->by_name[s->t->v[x].frame];
	y = s->by_name[s->t->v[y].frame];
	return (x > y) - (x < y);
}

/* Of a diff, the mean of both sides' shares of their totals. */
static double *node_sizes(const struct html_tree *t, size_t column)
{
	double *size = xcalloc(t->n, sizeof(*size)), v;
	size_t i, side, width = t->nsides * t->ncolumns;
	int64_t total;

	for (i = t->n; i--;) {
		for (side = 0; side < t->nsides; side++) {
			total = t->totals[side * t->ncolumns + column];
			v = (double)t->self[i * width + side * t->ncolumns + column];
			if (t->nsides == 2)
				v = total ? v / (double)total : 0;
			size[i] += v < 0 ? -v : v;
		}
		if (i)
			size[t->v[i].parent] += size[i];
	}
	return size;
}

static void sort_children(struct html_tree *t, struct sorter *s)
{
	uint32_t *ids = xcalloc(t->n, sizeof(*ids)), id, *tail;
	size_t i, k, n;

	for (i = 0; i < t->n; i++) {
		n = 0;
		for (id = t->v[i].first_child; id != ID_NONE; id = t->v[id].next)
			ids[n++] = id;
		if (n < 2)
			continue;
		qsort_r(ids, n, sizeof(*ids), heaviest_first, s);
		tail = &t->v[i].first_child;
		for (k = 0; k < n; k++) {
			*tail = ids[k];
			tail = &t->v[ids[k]].next;
		}
		*tail = ID_NONE;
	}
	free(ids);
}

static void walk(struct html_tree *t)
{
	uint32_t id = 0;
	size_t n = 0;

	t->order = xcalloc(t->n, sizeof(*t->order));
	while (id != ID_NONE) {
		t->order[n++] = id;
		if (t->v[id].first_child != ID_NONE) {
			id = t->v[id].first_child;
			continue;
		}
		while (id != ID_NONE && t->v[id].next == ID_NONE)
			id = t->v[id].parent;
		if (id != ID_NONE)
			id = t->v[id].next;
	}
}

/* --- life ------------------------------------------------------------------------------- */

int html_tree_init(struct html_tree *t, const struct report *r, struct err *e)
{
	struct sides sides = sides_of(r->p->store);
	struct sorter s = {.t = t};
	uint32_t *by_name;
	int ret;

	*t = (struct html_tree){.ncolumns = r->p->h.ntypes};
	frames_init(&t->frames, r->p, r->o->granularity);
	id_table_init(&t->ids);
	XGROW(t->v, t->n, t->cap);
	t->v[t->n++] = (struct html_node){ID_NONE, ID_NONE, ID_NONE, ID_NONE, false};
	ret = add_up_totals(t, r->p, &sides, e);
	if (!ret)
		ret = add_samples(t, r, &sides, e);
	if (ret)
		return ret;
	reserve_values(t);
	by_name = xcalloc(t->frames.n + 1, sizeof(*by_name));
	rank_frames(t, by_name);
	s.by_name = by_name;
	s.size = node_sizes(t, r->column);
	sort_children(t, &s);
	walk(t);
	free(by_name);
	free(s.size);
	return 0;
}

void html_tree_release(struct html_tree *t)
{
	frames_release(&t->frames);
	free(t->v);
	free(t->self);
	free(t->totals);
	free(t->names);
	free(t->ranked);
	free(t->rank);
	free(t->order);
	arena_release(&t->arena);
	id_table_release(&t->ids);
	*t = (struct html_tree){0};
}
