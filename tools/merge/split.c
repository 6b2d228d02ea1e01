/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping samples by label values. */
#include "tools/merge/split.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "lib/query/rooted.h"

/* Tuples of values, each once. */
struct tuples {
	uint32_t *v; /* nkeys each */
	size_t n, cap, nkeys;
	struct id_table ids;
};

static uint32_t tuple_id(struct tuples *t, const uint32_t *tuple)
{
	uint64_t h = hash_u32s(tuple, t->nkeys);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&t->ids, h);
	     (id = id_table_at(&t->ids, h, &s)) != ID_NONE; s++) {
		if (!memcmp(t->v + id * t->nkeys, tuple, t->nkeys * sizeof(*tuple)))
			return id;
	}
	XRESERVE(t->v, t->cap, (t->n + 1) * t->nkeys);
	memcpy(t->v + t->n * t->nkeys, tuple, t->nkeys * sizeof(*tuple));
	id_table_put(&t->ids, h, (uint32_t)t->n);
	return (uint32_t)t->n++;
}

/* The part of each sample, as a tuple's id; remembered by label set. */
static uint32_t *parts_of_samples(struct profile *p, char *const *keys, struct tuples *t)
{
	struct store *st = p->store;
	uint32_t *known = xmalloc((st->nlabelsets + 1) * sizeof(*known));
	uint32_t *of = xmalloc((p->nsamples + 1) * sizeof(*of));
	uint32_t *tuple = xcalloc(t->nkeys, sizeof(*tuple)), set;
	struct buf text = BUF_INIT(SIZE_MAX / 2);
	size_t i, k;

	memset(known, 0xff, (st->nlabelsets + 1) * sizeof(*known));
	for (i = 0; i < p->nsamples; i++) {
		set = p->samples[i].labelset;
		for (k = 0; known[set] == ID_NONE && k < t->nkeys; k++) {
			label_values(st, set, keys[k], &text);
			tuple[k] = intern_put(&st->strings, buf_str(&text), text.len);
		}
		if (known[set] == ID_NONE)
			known[set] = tuple_id(t, tuple);
		of[i] = known[set];
	}
	buf_release(&text);
	free(tuple);
	free(known);
	return of;
}

struct ordering {
	const struct store *st;
	size_t nkeys;
};

static int cmp_part(const void *a, const void *b, void *ctx)
{
	const struct split_part *x = a, *y = b;
	const struct ordering *o = ctx;
	size_t k;
	int c = 0;

	for (k = 0; !c && k < o->nkeys; k++)
		c = str_cmp(store_str(o->st, x->values[k]),
			    store_str(o->st, y->values[k]));
	return c;
}

void split_init(struct split *s, struct profile *p, char *const *keys, size_t n)
{
	struct ordering by = {.st = p->store, .nkeys = n};
	struct tuples t = {.nkeys = n};
	uint32_t *of;
	size_t i, first;

	id_table_init(&t.ids);
	of = parts_of_samples(p, keys, &t);
	*s = (struct split){.p = p, .values = t.v, .nparts = t.n, .nkeys = n};
	s->samples = xmalloc((p->nsamples + 1) * sizeof(*s->samples));
	s->parts = xcalloc(t.n + 1, sizeof(*s->parts));
	for (i = 0; i < t.n; i++)
		s->parts[i].values = t.v + i * n;
	for (i = 0; i < p->nsamples; i++)
		s->parts[of[i]].n++;
	for (i = first = 0; i < t.n; i++) {
		s->parts[i].first = first;
		first += s->parts[i].n;
		s->parts[i].n = 0;
	}
	for (i = 0; i < p->nsamples; i++) {
		struct split_part *part = &s->parts[of[i]];

		s->samples[part->first + part->n++] = (uint32_t)i;
	}
	if (t.n)
		qsort_r(s->parts, t.n, sizeof(*s->parts), cmp_part, &by);
	id_table_release(&t.ids);
	free(of);
}

void split_release(struct split *s)
{
	free(s->samples);
	free(s->parts);
	free(s->values);
	*s = (struct split){0};
}

struct profile *split_profile(const struct split *s, size_t part)
{
	const struct split_part *of = &s->parts[part];
	const struct profile *p = s->p;
	struct profile *out = profile_new(p->store);
	size_t i, n = p->h.ntypes;
	uint32_t from;

	header_copy(&out->h, &p->h);
	XRESERVE(out->samples, out->samples_cap, of->n);
	XRESERVE(out->values, out->values_cap, of->n * n);
	for (i = 0; i < of->n; i++) {
		from = s->samples[of->first + i];
		out->samples[i] = p->samples[from];
		memcpy(out->values + i * n, p->values + from * n,
		       n * sizeof(*out->values));
	}
	out->nsamples = of->n;
	if (p->nextents)
		out->extents = xmemdup(p->extents, p->nextents * sizeof(*p->extents));
	out->nextents = out->extents_cap = p->nextents;
	return out;
}
