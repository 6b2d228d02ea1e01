/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
