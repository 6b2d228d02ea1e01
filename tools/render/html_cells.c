/* SPDX-License-Identifier: Apache-2.0 */
/* Making the page's cells: which labels, which sets of them, then the sums. */
#include "tools/render/html_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"

/* --- labels ----------------------------------------------------------------------------- */

struct seen_key {
	uint32_t key; /* string id */
	uint32_t nvalues;
	struct str text;
	bool asked;
};

struct labels {
	const struct store *st;
	struct seen_key *keys; /* by name; then those that are kept first, by name */
	size_t n, cap, kept;
	struct intern values;  /* distinct (key, text), to count them */
	uint32_t *of_labelset; /* by label set of the store: set + 1; 0: not yet known */
	uint32_t *key_place;   /* by string id: place in keys + 1 */
};

/* As a selector sees it: numbers in decimal. */
static void value_text(const struct store *st, const struct label *l, struct buf *b)
{
	struct str s;

	buf_clear(b);
	if (l->numeric) {
		buf_printf(b, "%" PRId64, l->num);
		return;
	}
	s = store_str(st, l->str);
	escape_terminal(b, s.p, s.n);
}

static void see_label(struct labels *k, const struct label *l, struct buf *b)
{
	uint32_t place = k->key_place[l->key];
	size_t before = k->values.n;

	if (!place) {
		XGROW(k->keys, k->n, k->cap);
		k->keys[k->n++] = (struct seen_key){.key = l->key};
		k->key_place[l->key] = place = (uint32_t)k->n;
	}
	value_text(k->st, l, b);
	buf_put(b, &place, sizeof(place));
	intern_put(&k->values, buf_str(b), b->len);
	k->keys[place - 1].nvalues += k->values.n > before;
}

static void see_labels(struct labels *k, const struct profile *p)
{
	uint8_t *done = xcalloc(p->store->nlabelsets + 1, 1);
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	const struct label *l;
	uint32_t n, i;
	size_t s;

	for (s = 0; s < p->nsamples; s++) {
		if (done[p->samples[s].labelset]++)
			continue;
		l = store_labels(p->store, p->samples[s].labelset, &n);
		for (i = 0; i < n; i++)
			see_label(k, &l[i], &b);
		done[p->samples[s].labelset] = 1;
	}
	free(done);
	buf_release(&b);
}

static bool is_asked_for(const struct report_opts *o, struct str key)
{
	size_t i;

	for (i = 0; i < o->nby; i++) {
		if (strlen(o->by[i]) == key.n && !memcmp(o->by[i], key.p, key.n))
			return true;
	}
	return false;
}

/* Those asked for, then those with the fewest values. */
static int cmp_wanted(const void *a, const void *b)
{
	const struct seen_key *x = a, *y = b;

	if (x->asked != y->asked)
		return x->asked ? -1 : 1;
	if (x->nvalues != y->nvalues)
		return x->nvalues < y->nvalues ? -1 : 1;
	return str_cmp(x->text, y->text);
}

static int cmp_text(const void *a, const void *b)
{
	const struct seen_key *x = a, *y = b;

	return str_cmp(x->text, y->text);
}

static void choose_keys(struct labels *k, const struct report_opts *o)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		k->keys[i].text = store_str(k->st, k->keys[i].key);
		k->keys[i].asked = is_asked_for(o, k->keys[i].text);
	}
	if (k->n)
		qsort(k->keys, k->n, sizeof(*k->keys), cmp_wanted);
	for (k->kept = 0; k->kept < k->n; k->kept++) {
		const struct seen_key *key = &k->keys[k->kept];

		if (o->by ? !key->asked
			  : k->kept == CELLS_KEYS_MAX || key->nvalues > CELLS_VALUES_MAX)
			break;
	}
	if (k->kept)
		qsort(k->keys, k->kept, sizeof(*k->keys), cmp_text);
	if (k->n > k->kept)
		qsort(k->keys + k->kept, k->n - k->kept, sizeof(*k->keys), cmp_text);
	memset(k->key_place, 0, k->st->strings.n * sizeof(*k->key_place));
	for (i = 0; i < k->kept; i++)
		k->key_place[k->keys[i].key] = (uint32_t)i + 1;
}

static void put_keys(struct html_cells *c, const struct labels *k)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	c->nkeys = k->kept;
	c->nleft_out = k->n - k->kept;
	c->keys = xcalloc(k->n + 1, sizeof(*c->keys));
	for (i = 0; i < k->n; i++) {
		buf_clear(&b);
		escape_terminal(&b, k->keys[i].text.p, k->keys[i].text.n);
		c->keys[i].name.p = arena_bytes(&c->arena, b.data, b.len);
		c->keys[i].name.n = (uint32_t)b.len;
		c->keys[i].nvalues = k->keys[i].nvalues;
	}
	buf_release(&b);
}

/* The set of a store's label set: pairs by key, as the store has them in that order. */
static uint32_t set_of(struct html_cells *c, struct labels *k, uint32_t labelset)
{
	struct buf pairs = BUF_INIT(SIZE_MAX / 2), b = BUF_INIT(SIZE_MAX / 2);
	struct cells_pair pair;
	const struct label *l;
	uint32_t n, i;

	if (k->of_labelset[labelset])
		return k->of_labelset[labelset] - 1;
	l = store_labels(k->st, labelset, &n);
	for (i = 0; i < n; i++) {
		if (!k->key_place[l[i].key])
			continue;
		value_text(k->st, &l[i], &b);
		pair.key = k->key_place[l[i].key] - 1;
		pair.value = intern_put(&c->texts, buf_str(&b), b.len);
		buf_put(&pairs, &pair, sizeof(pair));
	}
	k->of_labelset[labelset] = intern_put(&c->sets, buf_str(&pairs), pairs.len) + 1;
	buf_release(&pairs);
	buf_release(&b);
	return k->of_labelset[labelset] - 1;
}

static void put_targets(struct html_cells *c, struct labels *k, const struct targets *t)
{
	size_t i;

	if (t->n < 2 || t->n > CELLS_TARGETS_MAX)
		return;
	c->targets = xcalloc(t->n, sizeof(*c->targets));
	c->ntargets = t->n;
	for (i = 0; i < t->n; i++)
		c->targets[i] =
			(struct cells_target){(uint32_t)i, set_of(c, k, t->sets[i])};
}

static int cmp_targets(const void *a, const void *b)
{
	const struct cells_target *x = a, *y = b;

	return (x->set > y->set) - (x->set < y->set);
}

/* --- cells ------------------------------------------------------------------------------ */

struct maker {
	struct html_cells *c;
	const struct report *r;
	struct html_tree *t;
	struct labels labels;
	uint32_t *node;	 /* by stack as filtered: place in pre-order + 1 */
	uint32_t *place; /* by node id: place in pre-order */
};

/* Of what the filters leave out: past the last node. */
static uint32_t place_of(struct maker *m, uint32_t stack)
{
	struct html_tree *t = m->t;

	if (stack == SAMPLE_DROP)
		return (uint32_t)t->calls.n;
	if (!m->node[stack])
		m->node[stack] = m->place[tree_add(&t->calls, &t->frames, stack)] + 1;
	return m->node[stack] - 1;
}

static void add_profile(struct maker *m, const struct profile *p, uint32_t bin)
{
	struct html_cells *c = m->c;
	uint32_t stack;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		stack = query_filter(m->r->q, p->store, p->samples[i].stack);
		XGROW(c->v, c->n, c->cap);
		XRESERVE(c->values, c->values_cap, (c->n + 1) * m->t->ncolumns);
		memcpy(c->values + c->n * m->t->ncolumns, profile_values(p, i),
		       m->t->ncolumns * sizeof(*c->values));
		c->v[c->n] = (struct cell){place_of(m, stack),
					   set_of(c, &m->labels, p->samples[i].labelset),
					   bin, (uint32_t)c->n};
		c->n++;
	}
}

static int cmp_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return (x->bin > y->bin) - (x->bin < y->bin);
}

/* Cells of one place become one. No sum can overflow: that of all |value| did not. */
static void add_up(struct html_cells *c, size_t ncolumns)
{
	size_t i, k, n = 0;

	for (i = 0; i < c->n; i++) {
		if (!n || cmp_cells(&c->v[n - 1], &c->v[i])) {
			c->v[n++] = c->v[i];
			continue;
		}
		for (k = 0; k < ncolumns; k++)
			c->values[c->v[n - 1].values * ncolumns + k] +=
				c->values[c->v[i].values * ncolumns + k];
	}
	c->n = n;
}

/* How many cells there are when moments are in these bins. */
static size_t count_cells(const struct html_cells *c, const uint32_t *bin_of)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++)
		n += !i || c->v[i].node != c->v[i - 1].node ||
		     c->v[i].set != c->v[i - 1].set ||
		     bin_of[c->v[i].bin] != bin_of[c->v[i - 1].bin];
	return n;
}

/* From moments to bins, as many as there is room for, or as `like` has. */
static void fold_time(struct html_cells *c, const struct timeline_type *type,
		      size_t ncolumns, const struct html_cells *like)
{
	uint32_t *bin_of = xcalloc(type->n + 1, sizeof(*bin_of));
	size_t most = like ? like->bins_most : CELLS_BINS_MAX, i, k;

	for (;; most /= 2) {
		bins_init(&c->bins, type, most);
		for (i = 0; i < c->bins.n; i++)
			for (k = 0; k < c->bins.v[i].n; k++)
				bin_of[c->bins.v[i].first + k] = (uint32_t)i;
		bin_of[type->n] = (uint32_t)c->bins.n;
		if (like || most == 1 || count_cells(c, bin_of) <= CELLS_MAX)
			break;
		bins_release(&c->bins);
	}
	c->bins_most = most;
	for (i = 0; i < c->n; i++)
		c->v[i].bin = bin_of[c->v[i].bin];
	add_up(c, ncolumns);
	free(bin_of);
}

/* --- order ------------------------------------------------------------------------------ */

static int cmp_ids_of_texts(const void *a, const void *b, void *texts)
{
	return str_cmp(intern_str(texts, *(const uint32_t *)a),
		       intern_str(texts, *(const uint32_t *)b));
}

static int cmp_ids_of_sets(const void *a, const void *b, void *sets)
{
	struct str x = intern_str(sets, *(const uint32_t *)a),
		   y = intern_str(sets, *(const uint32_t *)b);
	struct cells_pair p, q;
	size_t i;

	for (i = 0; i + sizeof(p) <= x.n && i + sizeof(p) <= y.n; i += sizeof(p)) {
		memcpy(&p, x.p + i, sizeof(p));
		memcpy(&q, y.p + i, sizeof(q));
		if (p.key != q.key)
			return p.key < q.key ? -1 : 1;
		if (p.value != q.value)
			return p.value < q.value ? -1 : 1;
	}
	return (x.n > y.n) - (x.n < y.n);
}

/* The same strings under numbers in order; rank: by old number. */
static void sort_interned(struct intern *t,
			  int (*cmp)(const void *a, const void *b, void *ctx),
			  uint32_t **rank)
{
	uint32_t *order = xcalloc(t->n + 1, sizeof(*order));
	struct intern sorted;
	size_t i;

	*rank = xcalloc(t->n + 1, sizeof(**rank));
	for (i = 0; i < t->n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, t->n, sizeof(*order), cmp, t);
	intern_init(&sorted);
	for (i = 0; i < t->n; i++) {
		(*rank)[order[i]] = (uint32_t)i;
		intern_put(&sorted, intern_str(t, order[i]).p, intern_str(t, order[i]).n);
	}
	intern_release(t);
	*t = sorted;
	free(order);
}

/* Values, then sets in byte order, whatever the order they were read in. */
static void sort_sets(struct html_cells *c)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct intern sets;
	struct cells_pair pair;
	uint32_t *text, *set;
	size_t i, k;

	sort_interned(&c->texts, cmp_ids_of_texts, &text);
	intern_init(&sets);
	for (i = 0; i < c->sets.n; i++) {
		struct str s = intern_str(&c->sets, (uint32_t)i);

		buf_clear(&b);
		for (k = 0; k + sizeof(pair) <= s.n; k += sizeof(pair)) {
			memcpy(&pair, s.p + k, sizeof(pair));
			pair.value = text[pair.value];
			buf_put(&b, &pair, sizeof(pair));
		}
		intern_put(&sets, buf_str(&b), b.len);
	}
	intern_release(&c->sets);
	c->sets = sets;
	sort_interned(&c->sets, cmp_ids_of_sets, &set);
	for (i = 0; i < c->n; i++)
		c->v[i].set = set[c->v[i].set];
	for (i = 0; i < c->ntargets; i++)
		c->targets[i].set = set[c->targets[i].set];
	if (c->ntargets)
		qsort(c->targets, c->ntargets, sizeof(*c->targets), cmp_targets);
	buf_release(&b);
	free(text);
	free(set);
}

/* --- life ------------------------------------------------------------------------------- */

static void maker_init(struct maker *m, const struct store *st)
{
	size_t i;

	m->labels.st = st;
	intern_init(&m->labels.values);
	m->labels.of_labelset =
		xcalloc(st->nlabelsets + 1, sizeof(*m->labels.of_labelset));
	m->labels.key_place = xcalloc(st->strings.n + 1, sizeof(*m->labels.key_place));
	/* the filters make new stacks while we go: at most one for each that is there */
	m->node = xcalloc(2 * st->nstacks + 1, sizeof(*m->node));
	m->place = xcalloc(m->t->calls.n + 1, sizeof(*m->place));
	for (i = 0; i < m->t->calls.n; i++)
		m->place[m->t->order[i]] = (uint32_t)i;
}

static void maker_release(struct maker *m)
{
	intern_release(&m->labels.values);
	free(m->labels.keys);
	free(m->labels.of_labelset);
	free(m->labels.key_place);
	free(m->node);
	free(m->place);
}

int html_cells_init(struct html_cells *c, const struct report *r, struct html_tree *t,
		    const struct html_cells *like, struct err *e)
{
	const struct timeline_type *type = timeline_find(r->timeline, &r->p->h);
	struct maker m = {.c = c, .r = r, .t = t};
	size_t i;

	*c = (struct html_cells){0};
	intern_init(&c->texts);
	intern_init(&c->sets);
	if (!type)
		return 0;
	maker_init(&m, r->p->store);
	see_labels(&m.labels, r->p);
	choose_keys(&m.labels, r->o);
	put_keys(c, &m.labels);
	for (i = 0; i < type->n; i++)
		add_profile(&m, type->v[i].p, (uint32_t)i);
	if (type->timeless.p)
		add_profile(&m, type->timeless.p, (uint32_t)type->n);
	put_targets(c, &m.labels, &type->targets);
	maker_release(&m);
	sort_sets(c);
	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), cmp_cells);
	add_up(c, t->ncolumns);
	fold_time(c, type, t->ncolumns, like);
	return query_status(r->q, e);
}

void html_cells_release(struct html_cells *c)
{
	bins_release(&c->bins);
	free(c->targets);
	free(c->keys);
	intern_release(&c->texts);
	intern_release(&c->sets);
	free(c->v);
	free(c->values);
	arena_release(&c->arena);
	*c = (struct html_cells){0};
}
