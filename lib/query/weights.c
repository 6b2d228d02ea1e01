/* SPDX-License-Identifier: Apache-2.0 */
/* Adding a column up by stack. */
#include "lib/query/weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

static bool has_base_label(const struct store *st, uint32_t set, uint32_t key,
			   uint32_t value)
{
	const struct label *l;
	uint32_t n, i;

	l = store_labels(st, set, &n);
	for (i = 0; i < n; i++) {
		if (l[i].key == key && !l[i].numeric && l[i].str == value)
			return true;
	}
	return false;
}

static int too_large(const struct profile *p, size_t column, struct err *e)
{
	return err_set(e, EOVERFLOW, "the total of %s does not fit 64 bits",
		       store_cstr(p->store, p->h.types[column].type));
}

static int add_up_total(struct weights *w, const struct profile *p, size_t column,
			struct err *e)
{
	uint32_t key = intern_find(&p->store->strings, BASE_KEY, strlen(BASE_KEY));
	uint32_t value = intern_find(&p->store->strings, "true", 4);
	bool may_be_diff = key != UINT32_MAX && value != UINT32_MAX;
	int64_t total = 0, base = 0, v;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		v = profile_values(p, i)[column];
		w->has_negative |= v < 0;
		if ((v < 0 && __builtin_sub_overflow(0, v, &v)) ||
		    __builtin_add_overflow(total, v, &total))
			return too_large(p, column, e);
		if (may_be_diff &&
		    has_base_label(p->store, p->samples[i].labelset, key, value)) {
			w->is_diff = true;
			base += v; /* <= total */
		}
	}
	w->total = base > 0 ? base : total;
	return 0;
}

int weights_init(struct weights *w, struct query *q, const struct profile *p,
		 size_t column, struct err *e)
{
	struct store *st = p->store;
	uint32_t *place, stack; /* by stack id: index + 1 */
	size_t nplaces, i;
	int64_t v;
	int r;

	*w = (struct weights){0};
	r = add_up_total(w, p, column, e);
	if (r)
		return r;
	/* the filters make new stacks while we go: at most one for each that is there */
	nplaces = 2 * st->nstacks + 1;
	place = xcalloc(nplaces, sizeof(*place));
	for (i = 0; i < p->nsamples; i++) {
		v = profile_values(p, i)[column];
		if (!v)
			continue;
		stack = query_filter(q, st, p->samples[i].stack);
		if (stack == SAMPLE_DROP)
			continue;
		if (!place[stack]) {
			XGROW(w->v, w->n, w->cap);
			w->v[w->n] = (struct weight){.stack = stack};
			place[stack] = (uint32_t)++w->n;
		}
		/* neither can overflow: their distance is at most the sum of |value| */
		if (v > 0)
			w->v[place[stack] - 1].plus += v;
		else
			w->v[place[stack] - 1].minus += v;
		w->sum += v;
	}
	free(place);
	return query_status(q, e);
}

void weights_release(struct weights *w)
{
	free(w->v);
	*w = (struct weights){0};
}

bool type_is_gauge(const struct profile *p, size_t column)
{
	static const char *const names[] = {
		"inuse_objects", "inuse_space",	 "goroutine", "goroutines",
		"thread",	 "threadcreate", "threads"};
	const char *type = store_cstr(p->store, p->h.types[column].type);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(type, names[i]))
			return true;
	}
	return false;
}
