/* SPDX-License-Identifier: Apache-2.0 */
/* -f tags: what share each value of each label has, keys by name, values heaviest first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "tools/render/listing.h"

#define BASE_KEY                                                                         \
	"pprof::base" /* tells the sides of a difference apart; no label to show */

struct tag {
	struct label label;
	struct str key, text; /* of the value, as shown, not escaped */
	int64_t value, base;
	uint32_t last; /* number of the last sample with it */
	bool is_key; /* the sum of a key, whatever its values: each sample counts once */
};

struct tags {
	const struct listing *t;
	struct tag *v;
	size_t n, cap;
	struct id_table ids;
	struct arena arena;
};

static uint64_t label_hash(const struct label *l, bool is_key)
{
	if (is_key)
		return hash_u64(l->key, UINT64_MAX);
	return hash_u64(hash_u64(l->key, l->numeric ? (uint64_t)l->num : l->str),
			(uint64_t)l->unit << 1 | l->numeric);
}

static bool same_label(const struct label *a, const struct label *b, bool is_key)
{
	if (is_key)
		return a->key == b->key;
	return a->key == b->key && a->numeric == b->numeric &&
	       (a->numeric ? a->num == b->num && a->unit == b->unit : a->str == b->str);
}

static struct tag *tag_of(struct tags *g, const struct label *l, bool is_key)
{
	uint64_t h = label_hash(l, is_key);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&g->ids, h);
	     (id = id_table_at(&g->ids, h, &s)) != ID_NONE; s++) {
		if (g->v[id].is_key == is_key && same_label(&g->v[id].label, l, is_key))
			return &g->v[id];
	}
	XGROW(g->v, g->n, g->cap);
	id = (uint32_t)g->n++;
	g->v[id] = (struct tag){.label = *l, .is_key = is_key};
	id_table_put(&g->ids, h, id);
	return &g->v[id];
}

/* Of one sample, which may have a key or a label twice. */
static void add_value(struct tag *tag, int64_t v, uint32_t sample)
{
	if (tag->last == sample)
		return;
	tag->last = sample;
	tag->value += v;
	tag->base -= v < 0 ? v : 0;
}

/* Samples as the stack filters leave them; their values were seen to fit when added up. */
static void add_samples(struct tags *g)
{
	const struct report *r = g->t->r;
	const struct profile *p = r->p;
	uint32_t base_key = intern_find(&p->store->strings, BASE_KEY, strlen(BASE_KEY));
	const struct label *l;
	uint32_t n, k;
	int64_t v;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		v = profile_values(p, i)[r->column];
		if (!v ||
		    query_filter(r->q, p->store, p->samples[i].stack) == SAMPLE_DROP)
			continue;
		l = store_labels(p->store, p->samples[i].labelset, &n);
		for (k = 0; k < n; k++) {
			if (l[k].key == base_key)
				continue;
			add_value(tag_of(g, &l[k], true), v, (uint32_t)i + 1);
			add_value(tag_of(g, &l[k], false), v, (uint32_t)i + 1);
		}
	}
}

static void name_tags(struct tags *g)
{
	const struct store *st = g->t->r->p->store;
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	char text[UNITS_TEXT_MAX];
	struct tag *tag;
	size_t i;

	for (i = 0; i < g->n; i++) {
		tag = &g->v[i];
		tag->key = store_str(st, tag->label.key);
		if (tag->is_key)
			continue;
		if (!tag->label.numeric) {
			tag->text = store_str(st, tag->label.str);
			continue;
		}
		buf_clear(&b);
		if (tag->label.unit)
			buf_puts(&b, units_format(tag->label.num,
						  store_cstr(st, tag->label.unit), "auto",
						  text));
		else
			buf_printf(&b, "%" PRId64, tag->label.num);
		tag->text.p = arena_bytes(&g->arena, b.data, b.len);
		tag->text.n = (uint32_t)b.len;
	}
	buf_release(&b);
}

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

static int cmp_tags(const void *a, const void *b)
{
	const struct tag *x = a, *y = b;
	int c = str_cmp(x->key, y->key);

	if (c)
		return c;
	if (x->is_key != y->is_key)
		return x->is_key ? -1 : 1;
	if (magnitude(x->value) != magnitude(y->value))
		return magnitude(x->value) > magnitude(y->value) ? -1 : 1;
	c = str_cmp(x->text, y->text);
	if (!c)
		c = (x->label.num > y->label.num) - (x->label.num < y->label.num);
	return c;
}

static void put_sides(const struct listing *t, const struct tag *tag)
{
	char text[UNITS_TEXT_MAX];

	if (!t->weights.is_diff)
		return;
	buf_printf(t->out, " [%s", listing_value(t, tag->base, text));
	buf_printf(t->out, " -> %s]", listing_value(t, tag->base + tag->value, text));
}

static void put_key(const struct listing *t, const struct tag *tag)
{
	char text[UNITS_TEXT_MAX];
	const char *percent;

	buf_putc(t->out, '\n');
	escape_terminal(t->out, tag->key.p, tag->key.n);
	buf_printf(t->out, ": Total %s", listing_value(t, tag->value, text));
	buf_printf(t->out, " of %s", listing_value(t, t->weights.total, text));
	percent = units_percent(tag->value, t->weights.total, text);
	buf_printf(t->out, " (%s)", percent + strspn(percent, " "));
	put_sides(t, tag);
	buf_putc(t->out, '\n');
}

static void put_tags(const struct tags *g)
{
	const struct listing *t = g->t;
	char text[UNITS_TEXT_MAX];
	const struct tag *tag;
	size_t i;

	for (i = 0; i < g->n; i++) {
		tag = &g->v[i];
		if (tag->is_key) {
			put_key(t, tag);
			continue;
		}
		buf_printf(t->out, "%12s ", listing_value(t, tag->value, text));
		buf_printf(t->out,
			   "(%s): ", units_percent(tag->value, t->weights.total, text));
		escape_terminal(t->out, tag->text.p, tag->text.n);
		put_sides(t, tag);
		buf_putc(t->out, '\n');
	}
	if (!g->n)
		buf_puts(t->out, "\nno labels\n");
}

int report_tags(const struct report *r, struct buf *out, struct err *e)
{
	struct rows_opts all = {0};
	struct listing t;
	struct tags g = {.t = &t};
	int ret = listing_init(&t, r, &all, out, e);

	if (!ret) {
		id_table_init(&g.ids);
		add_samples(&g);
		name_tags(&g);
		if (g.n)
			qsort(g.v, g.n, sizeof(*g.v), cmp_tags);
		listing_put_heading(&t);
		put_tags(&g);
		id_table_release(&g.ids);
		arena_release(&g.arena);
		free(g.v);
	}
	listing_release(&t);
	return ret;
}
