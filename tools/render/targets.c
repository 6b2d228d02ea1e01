/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/render/targets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

int64_t sum_or_max(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void share_add(struct share *to, const struct share *from)
{
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	to->duration_ns = sum_or_max(to->duration_ns, from->duration_ns);
	to->profiles = sum_or_max(to->profiles, from->profiles);
	to->merged = sum_or_max(to->merged, from->merged);
}

/* --- labels ----------------------------------------------------------------------------- */

static bool has_label(const struct store *st, uint32_t set, const struct label *l)
{
	const struct label *v;
	uint32_t n, i;

	v = store_labels(st, set, &n);
	for (i = 0; i < n; i++) {
		if (v[i].key == l->key && v[i].numeric == l->numeric &&
		    (l->numeric ? v[i].num == l->num && v[i].unit == l->unit
				: v[i].str == l->str))
			return true;
	}
	return false;
}

static bool has_key(const struct store *st, uint32_t set, uint32_t key)
{
	const struct label *v;
	uint32_t n, i;

	v = store_labels(st, set, &n);
	for (i = 0; i < n; i++) {
		if (v[i].key == key)
			return true;
	}
	return false;
}

static bool is_among(const struct targets *t, uint32_t key)
{
	size_t i;

	for (i = 0; i < t->nkeys && t->keys[i] != key; i++)
		;
	return i < t->nkeys;
}

/* Whether a label is one that `b` has too, or (t not NULL) of a target's key. */
static bool is_kept(const struct store *st, const struct label *l, uint32_t b,
		    const struct targets *t)
{
	return t ? is_among(t, l->key) : has_label(st, b, l);
}

/* The label set of those labels of `a` that are kept; mostly all are. */
static uint32_t part_of(struct store *st, uint32_t a, uint32_t b, const struct targets *t)
{
	const struct label *v;
	struct label *kept;
	uint32_t n, nkept, i;

	v = store_labels(st, a, &n);
	for (nkept = 0; nkept < n && is_kept(st, &v[nkept], b, t); nkept++)
		;
	if (nkept == n)
		return a;
	kept = xcalloc(n, sizeof(*kept));
	memcpy(kept, v, nkept * sizeof(*kept));
	for (i = nkept + 1; i < n; i++) {
		if (is_kept(st, &v[i], b, t))
			kept[nkept++] = v[i];
	}
	a = store_labelset(st, kept, nkept);
	free(kept);
	return a;
}

uint32_t labels_in_both(struct store *st, uint32_t a, uint32_t b)
{
	return a == b ? a : part_of(st, a, b, NULL);
}

/* --- targets ---------------------------------------------------------------------------- */

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t sort_unique(uint32_t *v, size_t n)
{
	size_t i, kept = 0;

	if (n)
		qsort(v, n, sizeof(*v), cmp_u32);
	for (i = 0; i < n; i++) {
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	}
	return kept;
}

/* The sets of all shares, each once. */
static uint32_t *sets_of(const struct timeline_type *type, size_t *n)
{
	size_t i, k, all = 0;
	uint32_t *v;

	for (i = 0; i < type->n; i++)
		all += type->v[i].nshares;
	v = xcalloc(all + 1, sizeof(*v));
	*n = 0;
	for (i = 0; i < type->n; i++) {
		for (k = 0; k < type->v[i].nshares; k++) {
			if (type->v[i].shares[k].set != TARGET_NONE)
				v[(*n)++] = type->v[i].shares[k].set;
		}
	}
	*n = sort_unique(v, *n);
	return v;
}

static void find_keys(struct targets *t, const struct store *st, const uint32_t *sets,
		      size_t n)
{
	const struct label *l;
	uint32_t nlabels = 0, i;
	size_t k;

	l = n ? store_labels(st, sets[0], &nlabels) : NULL;
	t->keys = xcalloc(nlabels + 1, sizeof(*t->keys));
	for (i = 0; i < nlabels; i++) {
		for (k = 1; k < n && has_key(st, sets[k], l[i].key); k++)
			;
		if (k >= n && !is_among(t, l[i].key))
			t->keys[t->nkeys++] = l[i].key;
	}
}

/* Shares of one target become one. What has no sample is of the target if there is but one. */
static void give_targets(struct moment *m, const struct targets *t, struct store *st)
{
	struct share *s;
	uint32_t *place;
	size_t i, k, n = 0;

	for (i = 0; i < m->nshares; i++) {
		s = &m->shares[i];
		s->target = t->n == 1 ? 0 : TARGET_NONE;
		if (s->set != TARGET_NONE) {
			s->set = part_of(st, s->set, 0, t);
			place = bsearch(&s->set, t->sets, t->n, sizeof(*t->sets),
					cmp_u32);
			s->target = (uint32_t)(place - t->sets);
		}
		for (k = 0; k < n && m->shares[k].target != s->target; k++)
			;
		if (k < n)
			share_add(&m->shares[k], s);
		else
			m->shares[n++] = *s;
	}
	m->nshares = n;
}

void targets_release(struct targets *t)
{
	free(t->keys);
	free(t->sets);
	*t = (struct targets){0};
}

void targets_find(struct timeline_type *type, struct store *st)
{
	struct targets *t = &type->targets;
	size_t i;

	targets_release(t);
	t->sets = sets_of(type, &t->n);
	find_keys(t, st, t->sets, t->n);
	for (i = 0; i < t->n; i++)
		t->sets[i] = part_of(st, t->sets[i], 0, t);
	t->n = sort_unique(t->sets, t->n);
	for (i = 0; i < type->n; i++)
		give_targets(&type->v[i], t, st);
}
