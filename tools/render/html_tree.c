/* SPDX-License-Identifier: Apache-2.0 */
/* Building and ordering the page's tree, without recursion: stacks may be thousands deep. */
#include "tools/render/html_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Room for the values of all nodes that there are. */
static void reserve_values(struct html_tree *t)
{
	size_t need = t->calls.n * t->nsides * t->ncolumns, cap = t->self_cap;

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
		if (t->calls.n > UINT32_MAX / 2) {
			ret = err_set(e, E2BIG, "too many distinct frames to draw");
			break;
		}
		if (!place[stack])
			place[stack] = tree_add(&t->calls, &t->frames, stack) + 1;
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
	for (i = 1; i < t->calls.n; i++)
		counted[t->calls.v[i].frame].nodes++;
	qsort(counted, n, sizeof(*counted), most_nodes_first);
	for (i = 0; i < n; i++) {
		t->ranked[i] = counted[i].frame;
		t->rank[counted[i].frame] = (uint32_t)i;
	}
	free(counted);
	buf_release(&raw);
	buf_release(&b);
}

struct order {
	const struct node *v; /* of the tree */
	const uint32_t *by_name;
	double *size; /* by node: what it is as wide as */
};

static int heaviest_first(const struct node *a, const struct node *b, void *ctx)
{
	const struct order *o = ctx;
	double x = o->size[a - o->v], y = o->size[b - o->v];
	uint32_t i = o->by_name[a->frame], k = o->by_name[b->frame];

	if (x != y)
		return x > y ? -1 : 1;
	return (i > k) - (i < k);
}

/* Of a diff, the mean of both sides' shares of their totals. */
static double *node_sizes(const struct html_tree *t, size_t column)
{
	double *size = xcalloc(t->calls.n, sizeof(*size)), v;
	size_t i, side, width = t->nsides * t->ncolumns;
	int64_t total;

	for (i = t->calls.n; i--;) {
		for (side = 0; side < t->nsides; side++) {
			total = t->totals[side * t->ncolumns + column];
			v = (double)t->self[i * width + side * t->ncolumns + column];
			if (t->nsides == 2)
				v = total ? v / (double)total : 0;
			size[i] += v < 0 ? -v : v;
		}
		if (i)
			size[t->calls.v[i].parent] += size[i];
	}
	return size;
}

static void walk(struct html_tree *t)
{
	uint32_t id = 0;
	size_t n = 0;

	t->order = xcalloc(t->calls.n, sizeof(*t->order));
	while (id != ID_NONE) {
		t->order[n++] = id;
		if (t->calls.v[id].first_child != ID_NONE) {
			id = t->calls.v[id].first_child;
			continue;
		}
		while (id != ID_NONE && t->calls.v[id].next == ID_NONE)
			id = t->calls.v[id].parent;
		if (id != ID_NONE)
			id = t->calls.v[id].next;
	}
}

/* --- life ------------------------------------------------------------------------------- */

int html_tree_init(struct html_tree *t, const struct report *r, struct err *e)
{
	struct sides sides = sides_of(r->p->store);
	struct order order;
	uint32_t *by_name;
	int ret;

	*t = (struct html_tree){.ncolumns = r->p->h.ntypes};
	frames_init(&t->frames, r->p, r->o->granularity);
	tree_start(&t->calls);
	ret = add_up_totals(t, r->p, &sides, e);
	if (!ret)
		ret = add_samples(t, r, &sides, e);
	if (ret)
		return ret;
	reserve_values(t);
	by_name = xcalloc(t->frames.n + 1, sizeof(*by_name));
	rank_frames(t, by_name);
	order = (struct order){t->calls.v, by_name, node_sizes(t, r->column)};
	tree_sort(&t->calls, heaviest_first, &order);
	walk(t);
	free(by_name);
	free(order.size);
	return 0;
}

void html_tree_release(struct html_tree *t)
{
	frames_release(&t->frames);
	tree_release(&t->calls);
	free(t->self);
	free(t->totals);
	free(t->names);
	free(t->ranked);
	free(t->rank);
	free(t->order);
	arena_release(&t->arena);
	*t = (struct html_tree){0};
}
