/* SPDX-License-Identifier: Apache-2.0 */
/* Sample types by name, index or in Parca's form. */
#include "lib/query/type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"

enum part {
	PART_NAME,
	PART_TYPE,
	PART_UNIT,
	PART_PERIOD_TYPE,
	PART_PERIOD_UNIT,
	PART_DELTA
};

static int split(struct type_spec *t, struct err *e)
{
	char *rest = t->copy, *part;

	while ((part = strsep(&rest, ":"))) {
		if (t->nparts == 6)
			break;
		t->parts[t->nparts++] = part;
	}
	if (part || t->nparts < 5 ||
	    (t->nparts == 6 && strcmp(t->parts[PART_DELTA], "delta")))
		return err_set(e, EINVAL,
			       "type \"%s\" is not of the form "
			       "NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT[:delta]",
			       t->text);
	return 0;
}

int type_spec_parse(struct type_spec *t, const char *text, struct err *e)
{
	struct type_spec new = {.text = xstrdup(text), .copy = xstrdup(text)};
	uint64_t index;
	int r = 0;

	if (!*text) {
		r = err_set(e, EINVAL, "empty type");
	} else if (strchr(text, ':')) {
		r = split(&new, e);
	} else if (strspn(text, "0123456789") == strlen(text)) {
		new.by_index = true;
		if (num_parse_u64(text, &index) || index > INT32_MAX)
			r = err_set(e, EINVAL, "type index %s is too large", text);
		else
			new.index = index;
	} else {
		new.parts[PART_TYPE] = new.copy;
	}
	if (r) {
		type_spec_release(&new);
		return r;
	}
	type_spec_release(t);
	*t = new;
	return 0;
}

void type_spec_release(struct type_spec *t)
{
	free(t->text);
	free(t->copy);
	*t = (struct type_spec){0};
}

static bool string_is(const struct store *st, uint32_t id, const char *s)
{
	return store_str(st, id).n == strlen(s) && !strcmp(store_cstr(st, id), s);
}

int type_spec_find(const struct type_spec *t, const struct store *st,
		   const struct header *h)
{
	size_t i;

	if (t->by_index)
		return t->index < h->ntypes ? (int)t->index : -1;
	if (t->nparts &&
	    (!string_is(st, h->period_type.type, t->parts[PART_PERIOD_TYPE]) ||
	     !string_is(st, h->period_type.unit, t->parts[PART_PERIOD_UNIT])))
		return -1;
	if (t->nparts == 6 && !h->duration_ns)
		return -1;
	for (i = 0; i < h->ntypes; i++) {
		if (string_is(st, h->types[i].type, t->parts[PART_TYPE]) &&
		    (!t->nparts || string_is(st, h->types[i].unit, t->parts[PART_UNIT])))
			return (int)i;
	}
	return -1;
}
