/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of labels, values, types and ranges of time. */
#include "tools/merge/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/ui/escape.h"
#include "tools/merge/stretch.h"

/* A label with a value, or a type: counted once a profile. */
struct entry {
	uint32_t name, value; /* string ids; value 0 for types */
	uint64_t profiles, last;
	struct stretches when; /* LIST_RANGES */
};

struct list {
	enum list_kind kind;
	struct query *q;
	struct sample_hooks hooks; /* of the query */
	struct entry *v;
	size_t n, cap;
	struct id_table ids;
	uint64_t profile; /* number of the one at hand, from 1 */
	uint64_t *seen;	  /* by label set: the last profile that had it */
	size_t nseen;
	bool kept; /* a sample of it */
	struct store *st;
	struct header h; /* of it; borrowed */
};

enum list_kind list_kind(const char *name)
{
	static const char *const names[] = {"labels", "values", "types", "ranges"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(name, names[i]))
			return LIST_LABELS + i;
	}
	return LIST_NONE;
}

struct list *list_new(enum list_kind kind, struct query *q)
{
	struct list *l = xcalloc(1, sizeof(*l));

	l->kind = kind;
	l->q = q;
	l->hooks = query_hooks(q);
	id_table_init(&l->ids);
	return l;
}

void list_free(struct list *l)
{
	if (!l)
		return;
	while (l->n)
		stretches_release(&l->v[--l->n].when);
	free(l->v);
	free(l->seen);
	id_table_release(&l->ids);
	free(l);
}

static struct entry *entry_of(struct list *l, uint32_t name, uint32_t value)
{
	uint64_t h = hash_u64(name, value);
	struct entry *en;
	uint32_t id;
	size_t s;

	for (s = id_table_first(&l->ids, h);
	     (id = id_table_at(&l->ids, h, &s)) != ID_NONE; s++) {
		if (l->v[id].name == name && l->v[id].value == value)
			break;
	}
	if (id == ID_NONE) {
		XGROW(l->v, l->n, l->cap);
		id = (uint32_t)l->n++;
		l->v[id] = (struct entry){.name = name, .value = value};
		id_table_put(&l->ids, h, id);
	}
	en = &l->v[id];
	if (en->last != l->profile) {
		en->last = l->profile;
		en->profiles++;
	}
	return en;
}

/* As -t takes it: NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT[:delta]. */
static uint32_t type_text(struct store *st, const struct header *h, size_t column)
{
	const char *period = store_cstr(st, h->period_type.type);
	char *text = xasprintf("%s:%s:%s:%s:%s%s", *period ? period : "profile",
			       store_cstr(st, h->types[column].type),
			       store_cstr(st, h->types[column].unit), period,
			       store_cstr(st, h->period_type.unit),
			       h->duration_ns ? ":delta" : "");
	uint32_t id = store_puts(st, text);

	free(text);
	return id;
}

/* A profile that is part of the list. */
static void note_profile(struct list *l)
{
	struct entry *en;
	size_t i;

	for (i = 0; i < l->h.ntypes && l->kind == LIST_TYPES; i++)
		entry_of(l, type_text(l->st, &l->h, i), 0);
	if (l->kind == LIST_RANGES) {
		i = (size_t)query_type_index(l->q, l->st, &l->h);
		en = entry_of(l, type_text(l->st, &l->h, i), 0);
		stretches_add(&en->when, l->h.time_ns, l->h.duration_ns);
	}
}

static int take(void *ctx, struct store *st, struct header *h)
{
	struct list *l = ctx;

	if (!query_take(l->q, st, h))
		return 0;
	l->profile++;
	l->kept = false;
	l->st = st;
	l->h = *h;
	/* without a selector there is nothing to see in its samples */
	if (l->kind >= LIST_TYPES && !l->hooks.labelset) {
		note_profile(l);
		return 0;
	}
	return 1;
}

static void note_labels(struct list *l, struct store *st, uint32_t set)
{
	const struct label *v;
	char number[24];
	uint32_t n, i, value;

	v = store_labels(st, set, &n);
	for (i = 0; i < n; i++) {
		value = v[i].str;
		if (v[i].numeric) {
			snprintf(number, sizeof(number), "%" PRId64, v[i].num);
			value = store_puts(st, number);
		}
		entry_of(l, v[i].key, value);
	}
}

static uint32_t see_labelset(void *ctx, struct store *st, uint32_t set)
{
	struct list *l = ctx;
	size_t cap = l->nseen;

	if (l->hooks.labelset)
		set = l->hooks.labelset(l->hooks.ctx, st, set);
	if (set == SAMPLE_DROP)
		return SAMPLE_DROP;
	l->kept = true;
	if (l->kind >= LIST_TYPES)
		return SAMPLE_DROP;
	if (set >= l->nseen) {
		XRESERVE(l->seen, cap, st->nlabelsets);
		memset(l->seen + l->nseen, 0, (cap - l->nseen) * sizeof(*l->seen));
		l->nseen = cap;
	}
	if (l->seen[set] != l->profile)
		note_labels(l, st, set);
	l->seen[set] = l->profile;
	return SAMPLE_DROP;
}

static bool counts(void *ctx)
{
	struct list *l = ctx;

	if (l->kept)
		note_profile(l);
	return false;
}

void list_hook(struct list *l, struct merge_opts *mo)
{
	mo->hooks = (struct sample_hooks){.ctx = l, .labelset = see_labelset};
	mo->take = take;
	mo->counts = counts;
	mo->ctx = l;
	mo->headers_only = l->kind >= LIST_TYPES && !l->hooks.labelset;
}

/* --- writing ---------------------------------------------------------------------------- */

static int cmp_entry(const void *a, const void *b, void *st)
{
	const struct entry *x = a, *y = b;
	int c = str_cmp(store_str(st, x->name), store_str(st, y->name));

	return c ? c : str_cmp(store_str(st, x->value), store_str(st, y->value));
}

static void put_field(struct buf *out, const struct store *st, uint32_t id)
{
	struct str s = store_str(st, id);

	escape_terminal(out, s.p, s.n);
}

/* How many values a label has. */
static void put_labels(struct buf *out, const struct list *l, const struct store *st)
{
	size_t i, end;

	for (i = 0; i < l->n; i = end) {
		for (end = i; end < l->n && l->v[end].name == l->v[i].name; end++)
			;
		put_field(out, st, l->v[i].name);
		buf_printf(out, "\t%zu\n", end - i);
	}
}

static void put_ranges(struct buf *out, const struct store *st, const struct entry *en)
{
	char from[NUM_TIME_MAX], to[NUM_TIME_MAX];
	const struct stretch *s;
	size_t i;

	for (i = 0; i < en->when.n; i++) {
		s = &en->when.v[i];
		put_field(out, st, en->name);
		buf_printf(out, "\t%s\t%s\t%" PRIu64 "\n",
			   num_format_time(s->from_ns, from),
			   num_format_time(s->to_ns, to), s->profiles);
	}
}

static void put_entries(struct buf *out, const struct list *l, const struct store *st)
{
	const struct entry *en;
	size_t i;

	for (i = 0; i < l->n; i++) {
		en = &l->v[i];
		if (l->kind == LIST_RANGES) {
			put_ranges(out, st, en);
			continue;
		}
		put_field(out, st, en->name);
		if (l->kind == LIST_VALUES) {
			buf_putc(out, '\t');
			put_field(out, st, en->value);
		}
		buf_printf(out, "\t%" PRIu64 "\n", en->profiles);
	}
}

int list_write(struct list *l, struct merger *m, const char *file, struct err *e)
{
	struct buf out = BUF_INIT(SIZE_MAX / 2);
	struct store *st = merger_store(m);
	struct output *o = NULL;
	int r;

	id_table_clear(&l->ids);
	if (l->n)
		qsort_r(l->v, l->n, sizeof(*l->v), cmp_entry, st);
	if (l->kind == LIST_LABELS)
		put_labels(&out, l, st);
	else
		put_entries(&out, l, st);
	r = output_open(file, false, &o, e);
	if (!r)
		r = output_write(o, out.data, out.len, e);
	if (!r)
		r = output_commit(o, e);
	else
		output_abort(o);
	buf_release(&out);
	return r;
}
