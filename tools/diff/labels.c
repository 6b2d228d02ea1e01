/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

static uint32_t label_text(struct store *st, const struct label *l)
{
	char number[24];

	if (!l->numeric)
		return l->str;
	snprintf(number, sizeof(number), "%" PRId64, l->num);
	return store_puts(st, number);
}

uint32_t label_value(struct store *st, uint32_t labelset, const char *key)
{
	uint32_t n, i;
	const struct label *l = store_labels(st, labelset, &n);

	for (i = 0; i < n; i++) {
		if (!strcmp(store_cstr(st, l[i].key), key))
			return label_text(st, &l[i]);
	}
	return ID_NONE;
}

bool label_has(struct store *st, uint32_t labelset, const char *key, const char *value)
{
	uint32_t n, i;
	const struct label *l = store_labels(st, labelset, &n);

	for (i = 0; i < n; i++) {
		if (!strcmp(store_cstr(st, l[i].key), key) &&
		    !strcmp(store_cstr(st, label_text(st, &l[i])), value))
			return true;
	}
	return false;
}

uint32_t sources_of(struct sources *s, struct store *st, uint32_t labelset)
{
	static const char *const keys[] = {"run", "host", "node"};
	uint32_t id = ID_NONE;
	size_t i, old = s->n;

	if (labelset >= s->n) {
		XRESERVE(s->by_set, s->n, (size_t)labelset + 1);
		memset(s->by_set + old, 0, (s->n - old) * sizeof(*s->by_set));
	}
	if (!s->by_set[labelset]) {
		for (i = 0; i < 3 && id == ID_NONE; i++)
			id = label_value(st, labelset, keys[i]);
		s->by_set[labelset] = id == ID_NONE ? ID_NONE : id + 1;
	}
	return s->by_set[labelset] == ID_NONE ? ID_NONE : s->by_set[labelset] - 1;
}

void sources_release(struct sources *s)
{
	free(s->by_set);
	*s = (struct sources){0};
}

static uint32_t group_for(struct label_groups *g, size_t key, uint32_t value)
{
	uint64_t x = hash_u64(key, value);
	uint32_t id;
	size_t s;

	if (!g->ids.slots)
		id_table_init(&g->ids);
	for (s = id_table_first(&g->ids, x);
	     (id = id_table_at(&g->ids, x, &s)) != ID_NONE; s++) {
		if (g->v[id].key == key && g->v[id].value == value)
			return id;
	}
	XGROW(g->v, g->n, g->cap);
	g->v[g->n] = (struct label_group){key, value};
	id_table_put(&g->ids, x, (uint32_t)g->n);
	return (uint32_t)g->n++;
}

size_t label_group_of(struct label_groups *g, struct store *st, uint32_t labelset,
		      size_t key)
{
	size_t need = ((size_t)labelset + 1) * g->nkeys, old = g->nsets;
	uint32_t *known, value;

	if (need > g->nsets) {
		XRESERVE(g->by_set, g->nsets, need);
		memset(g->by_set + old, 0, (g->nsets - old) * sizeof(*g->by_set));
	}
	known = &g->by_set[labelset * g->nkeys + key];
	if (!*known) {
		value = label_value(st, labelset, g->keys[key]);
		*known = group_for(g, key, value == ID_NONE ? 0 : value) + 1;
	}
	return *known - 1;
}

void label_groups_release(struct label_groups *g)
{
	if (g->ids.slots)
		id_table_release(&g->ids);
	free(g->v);
	free(g->by_set);
	*g = (struct label_groups){0};
}
