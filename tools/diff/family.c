/* SPDX-License-Identifier: Apache-2.0 */
/* Values of labels, and subtrees. */
#include "tools/diff/family.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

/* A subtree that carries this part of a change explains it. */
#define EXPLAINS_MIN 0.8

int family_parse(struct family_specs *s, const char *text, struct err *e)
{
	const char *key = strncmp(text, "label:", 6) ? text : text + 6;

	if (!strcmp(text, "subtree")) {
		s->subtrees = true;
		return 0;
	}
	if (!*key || strpbrk(key, "={}, "))
		return err_set(e, EINVAL, "label:KEY or subtree expected, not %s", text);
	XGROW(s->labels, s->nlabels, s->labels_cap);
	s->labels[s->nlabels++] = key;
	return 0;
}

void family_specs_release(struct family_specs *s)
{
	free(s->labels);
	*s = (struct family_specs){0};
}

static uint64_t change(const struct amount *a)
{
	return a->new > a->base ? (uint64_t)a->new - a->base : (uint64_t)a->base - a->new;
}

static int cmp_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	uint64_t dx = change(&x->amount), dy = change(&y->amount);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return str_cmp(x->name, y->name);
}

/* counts: item after item, as verdicts_test_items() wants them. Sorts. */
static void test_family(struct family *f, struct verdicts *v, int measure,
			const double *counts)
{
	struct finding *findings = xcalloc(f->n + 1, sizeof(*findings));
	size_t i;

	verdicts_test_items(v, measure, counts, f->n, verdicts_counts_needed(v),
			    findings);
	for (i = 0; i < f->n; i++)
		f->v[i].finding = findings[i];
	free(findings);
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), cmp_item);
}

/* --- labels ----------------------------------------------------------------------------------- */

static void add_value(struct amount *a, int64_t v)
{
	/* neither can overflow: the totals were seen to fit */
	if (v < 0)
		a->base -= v;
	else
		a->new += v;
}

static void by_label(struct family *f, size_t key, struct comparison *c,
		     struct verdicts *v, struct label_groups *g)
{
	const struct evidence *ev = v->ev;
	const struct profile *p = c->p;
	struct amount *amounts;
	double *counts;
	size_t width = verdicts_width(v), i, r, column, n;
	int side;

	/* all values are known by now: the samples compared are among those read */
	amounts = xcalloc(g->n + 1, sizeof(*amounts));
	for (i = 0; i < p->nsamples; i++) {
		n = label_group_of(g, p->store, p->samples[i].labelset, key);
		if (n < g->n)
			add_value(&amounts[n], profile_values(p, i)[c->column]);
	}
	f->v = xcalloc(g->n + 1, sizeof(*f->v));
	counts = xcalloc(g->n * width + 1, sizeof(*counts));
	for (i = 0; i < g->n; i++) {
		if (g->v[i].key != key || (!amounts[i].base && !amounts[i].new))
			continue;
		column = 0;
		for (side = 0; side < SIDES; side++) {
			for (r = 0; r < ev->design.n[side]; r++, column++) {
				const struct replica *x = ev->r[side][r];

				if (i < x->ngroups)
					counts[f->n * width + column] =
						x->groups[i] / ev->unit;
			}
		}
		f->v[f->n++] = (struct item){.name = store_str(p->store, g->v[i].value),
					     .amount = amounts[i],
					     .is_root = true};
	}
	test_family(f, v, 0, counts);
	free(amounts);
	free(counts);
}

/* --- subtrees --------------------------------------------------------------------------------- */

struct node {
	uint32_t parent, frame; /* the root's parent is itself */
};

struct tree {
	struct comparison *c;
	struct node *v; /* parents before their children; the first is the root of all */
	size_t n, cap;
	struct id_table ids;
	uint32_t *by_stack; /* ID_NONE: not yet known */
};

static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t frame)
{
	uint64_t x = hash_u64(parent, frame);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&t->ids, x);
	     (id = id_table_at(&t->ids, x, &s)) != ID_NONE; s++) {
		if (t->v[id].parent == parent && t->v[id].frame == frame)
			return id;
	}
	XGROW(t->v, t->n, t->cap);
	t->v[t->n] = (struct node){parent, frame};
	id_table_put(&t->ids, x, (uint32_t)t->n);
	return (uint32_t)t->n++;
}

static uint32_t node_of(struct tree *t, uint32_t stack)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, k, node = 0;

	if (t->by_stack[stack] != ID_NONE)
		return t->by_stack[stack];
	locations = store_frames(t->c->p->store, stack, &n);
	while (n) {
		frames = frames_of(&t->c->frames, locations[--n], &nf);
		for (k = 0; k < nf; k++)
			node = child_of(t, node, t->c->alias[frames[k]]);
	}
	t->by_stack[stack] = node;
	return node;
}

static void tree_init(struct tree *t, struct comparison *c, const struct verdicts *v)
{
	size_t nstacks = c->p->store->nstacks, r, k;
	int side;

	*t = (struct tree){.c = c};
	t->by_stack = xmalloc((nstacks + 1) * sizeof(*t->by_stack));
	memset(t->by_stack, 0xff, (nstacks + 1) * sizeof(*t->by_stack));
	id_table_init(&t->ids);
	XGROW(t->v, t->n, t->cap);
	t->v[t->n++] = (struct node){0, ID_NONE};
	for (side = 0; side < SIDES; side++) {
		for (r = 0; r < v->ev->design.n[side]; r++) {
			for (k = 0; k < v->ev->r[side][r]->ncosts; k++)
				node_of(t, v->ev->r[side][r]->costs[k].stack);
		}
	}
	for (k = 0; k < c->weights.n; k++)
		node_of(t, c->weights.v[k].stack);
}

static void tree_release(struct tree *t)
{
	free(t->v);
	free(t->by_stack);
	id_table_release(&t->ids);
}

/* Counts of one replicate by node, subtrees and all. */
static void count_nodes(struct tree *t, const struct replica *x, double unit,
			double *sums)
{
	size_t i;

	memset(sums, 0, t->n * sizeof(*sums));
	for (i = 0; i < x->ncosts; i++)
		sums[node_of(t, x->costs[i].stack)] += x->costs[i].value / unit;
	for (i = t->n; --i;)
		sums[t->v[i].parent] += sums[i];
}

static void add_amounts(struct tree *t, struct amount *amounts)
{
	const struct weights *w = &t->c->weights;
	size_t i;

	for (i = 0; i < w->n; i++) {
		struct amount *a = &amounts[node_of(t, w->v[i].stack)];

		a->base -= w->v[i].minus;
		a->new += w->v[i].plus;
	}
	for (i = t->n; --i;) {
		amounts[t->v[i].parent].base += amounts[i].base;
		amounts[t->v[i].parent].new += amounts[i].new;
	}
}

/* "main > f > g", and its frames. */
static void name_path(struct tree *t, uint32_t node, struct item *item,
		      struct arena *names)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	uint32_t n;
	size_t i;

	for (n = node; n; n = t->v[n].parent)
		item->depth++;
	item->path = xcalloc(item->depth + 1, sizeof(*item->path));
	for (n = node, i = item->depth; n; n = t->v[n].parent)
		item->path[--i] = t->v[n].frame;
	for (i = 0; i < item->depth; i++) {
		if (i)
			buf_puts(&b, " > ");
		frames_name(&t->c->frames, item->path[i], &b);
	}
	item->name.p = arena_bytes(names, b.data, b.len);
	item->name.n = (uint32_t)b.len;
	buf_release(&b);
}

/* Not a root: one child carries most of the change. By node. */
static bool *find_explained(const struct tree *t, const struct amount *amounts)
{
	bool *explained = xcalloc(t->n, sizeof(*explained));
	double own, of_parent;
	size_t i;

	for (i = 1; i < t->n; i++) {
		own = (double)amounts[i].new - (double)amounts[i].base;
		of_parent = (double)amounts[t->v[i].parent].new -
			    (double)amounts[t->v[i].parent].base;
		if (of_parent != 0 && own / of_parent >= EXPLAINS_MIN)
			explained[t->v[i].parent] = true;
	}
	return explained;
}

/* The nodes that are large enough, whatever the side. */
static uint32_t *choose_nodes(struct tree *t, const struct verdicts *v, size_t *n)
{
	double *pooled = xcalloc(t->n, sizeof(*pooled)),
	       *sums = xcalloc(t->n, sizeof(*sums));
	uint32_t *chosen = xcalloc(t->n, sizeof(*chosen));
	size_t r, i;
	int side;

	for (side = 0; side < SIDES; side++) {
		for (r = 0; r < v->ev->design.n[side]; r++) {
			count_nodes(t, v->ev->r[side][r], v->ev->unit, sums);
			for (i = 1; i < t->n; i++)
				pooled[i] += sums[i];
		}
	}
	for (i = 1, *n = 0; i < t->n; i++) {
		if (pooled[i] >= verdicts_counts_needed(v))
			chosen[(*n)++] = (uint32_t)i;
	}
	free(pooled);
	free(sums);
	return chosen;
}

static void by_subtree(struct family *f, struct comparison *c, struct verdicts *v,
		       struct arena *names)
{
	size_t width = verdicts_width(v), i, r, column = 0, n;
	struct amount *amounts;
	double *sums, *counts;
	uint32_t *chosen;
	bool *explained;
	struct tree t;
	int side;

	tree_init(&t, c, v);
	amounts = xcalloc(t.n, sizeof(*amounts));
	add_amounts(&t, amounts);
	chosen = choose_nodes(&t, v, &n);
	explained = find_explained(&t, amounts);
	sums = xcalloc(t.n, sizeof(*sums));
	counts = xcalloc(n * width + 1, sizeof(*counts));
	for (side = 0; side < SIDES; side++) {
		for (r = 0; r < v->ev->design.n[side]; r++, column++) {
			count_nodes(&t, v->ev->r[side][r], v->ev->unit, sums);
			for (i = 0; i < n; i++)
				counts[i * width + column] = sums[chosen[i]];
		}
	}
	f->v = xcalloc(n + 1, sizeof(*f->v));
	for (f->n = 0; f->n < n; f->n++) {
		f->v[f->n].amount = amounts[chosen[f->n]];
		f->v[f->n].is_root = !explained[chosen[f->n]];
		name_path(&t, chosen[f->n], &f->v[f->n], names);
	}
	test_family(f, v, 1, counts);
	free(sums);
	free(counts);
	free(chosen);
	free(explained);
	free(amounts);
	tree_release(&t);
}

void families_init(struct families *f, const struct family_specs *specs,
		   struct comparison *c, struct verdicts *v, struct label_groups *groups)
{
	size_t i;

	*f = (struct families){0};
	f->v = xcalloc(specs->nlabels + 2, sizeof(*f->v));
	for (i = 0; i < specs->nlabels; i++) {
		f->v[f->n].label = specs->labels[i];
		by_label(&f->v[f->n++], i, c, v, groups);
	}
	if (specs->subtrees)
		by_subtree(&f->v[f->n++], c, v, &f->names);
}

void families_release(struct families *f)
{
	size_t i, k;

	for (i = 0; i < f->n; i++) {
		for (k = 0; k < f->v[i].n; k++)
			free(f->v[i].v[k].path);
		free(f->v[i].v);
	}
	free(f->v);
	arena_release(&f->names);
	*f = (struct families){0};
}
