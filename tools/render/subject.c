/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile is of, by the labels of its samples. */
#include "tools/render/subject.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

/* The share of one label's values in what the filters leave. */
struct votes {
	uint32_t key;		   /* string id, ID_NONE: no sample has it */
	unsigned __int128 *by_str; /* by string id of the value; values as magnitudes */
	unsigned __int128 labelled;
};

static void votes_init(struct votes *v, const struct store *st, const char *key)
{
	*v = (struct votes){.key = intern_find(&st->strings, key, strlen(key))};
	if (v->key != ID_NONE)
		v->by_str = xcalloc(st->strings.n, sizeof(*v->by_str));
}

static void votes_add(struct votes *v, const struct store *st, uint32_t labelset,
		      uint64_t value)
{
	const struct label *l;
	uint32_t n, i;

	if (v->key == ID_NONE)
		return;
	l = store_labels(st, labelset, &n);
	for (i = 0; i < n; i++) {
		if (l[i].key != v->key || l[i].numeric || !l[i].str)
			continue;
		v->by_str[l[i].str] += value;
		v->labelled += value;
		return;
	}
}

/* The value that has at least `least`, which is more than half of all; or empty. */
static struct str votes_winner(const struct votes *v, const struct store *st,
			       unsigned __int128 least)
{
	size_t i;

	for (i = 0; v->by_str && i < st->strings.n; i++) {
		if (v->by_str[i] >= least)
			return store_str(st, (uint32_t)i);
	}
	return (struct str){0};
}

static bool is_library(struct str file)
{
	struct str base = path_base(file);

	return memmem(base.p, base.n, ".so.", 4) ||
	       (base.n > 3 && !memcmp(base.p + base.n - 3, ".so", 3));
}

/* Of the one mapping of this file; builds that differ have none in common. */
static struct str build_id_of(const struct store *st, struct str file)
{
	struct str found = {0}, s;
	size_t i;

	for (i = 0; file.n && i < st->nmappings; i++) {
		if (str_cmp(store_str(st, st->mappings[i].file), file))
			continue;
		s = store_str(st, st->mappings[i].build_id);
		if (found.n && str_cmp(s, found))
			return (struct str){0};
		found = s;
	}
	return found;
}

static struct subject by_labels(const struct report *r, const struct subject *main)
{
	enum { EXECUTABLE, COMM, NODE, KEYS };
	static const char *const keys[KEYS] = {"executable", "comm", "node"};
	const struct profile *p = r->p;
	const struct store *st = p->store;
	unsigned __int128 total = 0;
	struct subject s = *main;
	struct votes v[KEYS];
	uint64_t value;
	size_t i, k;

	for (k = 0; k < KEYS; k++)
		votes_init(&v[k], st, keys[k]);
	for (i = 0; i < p->nsamples; i++) {
		value = (uint64_t)profile_values(p, i)[r->column];
		if (!value ||
		    query_filter(r->q, p->store, p->samples[i].stack) == SAMPLE_DROP)
			continue;
		value = value > INT64_MAX ? -value : value;
		total += value;
		for (k = 0; k < KEYS; k++)
			votes_add(&v[k], st, p->samples[i].labelset, value);
	}
	if (v[EXECUTABLE].labelled)
		s.file = votes_winner(&v[EXECUTABLE], st, total / 2 + 1);
	else if (v[COMM].labelled && is_library(main->file))
		s.file = votes_winner(&v[COMM], st, total / 2 + 1);
	if (str_cmp(s.file, main->file))
		s.build_id = build_id_of(st, s.file);
	if (!s.file.n && total)
		s.host = votes_winner(&v[NODE], st, total);
	for (k = 0; k < KEYS; k++)
		free(v[k].by_str);
	return s;
}

struct subject subject_of(const struct report *r, uint32_t main_mapping)
{
	struct subject s = {0};
	struct mapping m;

	if (main_mapping != ID_NONE) {
		m = profile_mapping(r->p, main_mapping);
		s.file = store_str(r->p->store, m.file);
		s.build_id = store_str(r->p->store, m.build_id);
	}
	s = by_labels(r, &s);
	s.file = path_base(s.file);
	return s;
}
