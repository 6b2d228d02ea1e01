/* SPDX-License-Identifier: Apache-2.0 */
/* A query: its parts, and the hooks that apply them. */
#include "lib/query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/extra.h"
#include "lib/query/selector.h"
#include "lib/query/stack.h"
#include "lib/query/type.h"

struct texts {
	char **v;
	size_t n;
};

struct query {
	struct selector **selectors;
	size_t nselectors;
	bool selected, refused; /* a label set by the selectors: one was, one was not */
	struct type_spec type;
	bool type_seen, taken; /* a profile was of this type; one was taken */
	int64_t since_ns, until_ns;
	struct filters filters;
	bool defer_filters;
	bool stored_frames;
	struct prune **prunes; /* one per distinct pair of drop and keep frames */
	size_t nprunes;
	struct prune *prune; /* that of the profile being read */
	struct extra extra;
	struct texts by, without;
	bool has_by;
	struct texts keys, values; /* labels to add */
	struct memo labelsets;
	struct texts notes, filter_texts;
};

static void texts_add(struct texts *t, char *text)
{
	t->v = xreallocarray(t->v, t->n + 1, sizeof(char *));
	t->v[t->n++] = text;
}

static void texts_release(struct texts *t)
{
	while (t->n)
		free(t->v[--t->n]);
	free(t->v);
	t->v = NULL;
}

struct query *query_new(void)
{
	struct query *q = xcalloc(1, sizeof(*q));

	q->since_ns = INT64_MIN;
	q->until_ns = INT64_MAX;
	return q;
}

void query_free(struct query *q)
{
	if (!q)
		return;
	query_reset(q);
	while (q->nselectors)
		selector_free(q->selectors[--q->nselectors]);
	free(q->selectors);
	type_spec_release(&q->type);
	extra_release(&q->extra);
	filters_release(&q->filters);
	free(q->prunes);
	texts_release(&q->by);
	texts_release(&q->without);
	texts_release(&q->keys);
	texts_release(&q->values);
	texts_release(&q->notes);
	texts_release(&q->filter_texts);
	memo_release(&q->labelsets);
	free(q);
}

void query_reset(struct query *q)
{
	size_t i;

	for (i = 0; i < q->nselectors; i++)
		selector_reset(q->selectors[i]);
	filters_reset(&q->filters);
	while (q->nprunes) {
		prune_release(q->prunes[--q->nprunes]);
		free(q->prunes[q->nprunes]);
	}
	q->prune = NULL;
	extra_reset(&q->extra);
	memo_release(&q->labelsets);
}

int query_add_selector(struct query *q, const char *text, struct err *e)
{
	struct selector *s;
	int r = selector_parse(text, &s, e);

	if (r)
		return r;
	if (selector_type(s))
		r = query_set_type(q, selector_type(s), e);
	if (r) {
		selector_free(s);
		return r;
	}
	q->selectors =
		xreallocarray(q->selectors, q->nselectors + 1, sizeof(struct selector *));
	q->selectors[q->nselectors++] = s;
	return 0;
}

int query_set_type(struct query *q, const char *text, struct err *e)
{
	return type_spec_parse(&q->type, text, e);
}

void query_set_time(struct query *q, int64_t since_ns, int64_t until_ns)
{
	q->since_ns = since_ns;
	q->until_ns = until_ns;
}

int query_add_filter(struct query *q, enum stack_filter kind, const char *re,
		     struct err *e)
{
	static const char *const names[STACK_FILTERS] = {"focus", "ignore", "show",
							 "hide", "show_from"};
	/* of the texts, in pprof's header; those of one kind stay as they came */
	static const enum stack_filter order[STACK_FILTERS] = {
		FILTER_FOCUS, FILTER_IGNORE, FILTER_HIDE, FILTER_SHOW, FILTER_SHOW_FROM};
	size_t i, at;
	char **v;
	int r;

	if (!*re)
		return 0;
	r = patterns_add(&q->filters.patterns[kind], re, e);
	if (r)
		return r;
	texts_add(&q->filter_texts, NULL);
	for (i = 0, at = 0; order[i] != kind; i++)
		at += q->filters.patterns[order[i]].n;
	at += q->filters.patterns[kind].n - 1;
	v = q->filter_texts.v;
	memmove(v + at + 1, v + at, (q->filter_texts.n - 1 - at) * sizeof(*v));
	v[at] = xasprintf("%s=%s", names[kind], re);
	return 0;
}

void query_set_granularity(struct query *q, enum granularity g)
{
	filters_reset(&q->filters);
	q->filters.granularity = g;
}

enum granularity query_granularity(const struct query *q)
{
	return q->filters.granularity;
}

void query_set_no_inlines(struct query *q)
{
	q->filters.no_inlines = true;
}

void query_set_stored_frames(struct query *q, bool apply)
{
	q->stored_frames = apply;
}

void query_set_by(struct query *q, char *const *keys, size_t n)
{
	size_t i;

	q->has_by = true;
	for (i = 0; i < n; i++)
		texts_add(&q->by, xstrdup(keys[i]));
}

void query_set_without(struct query *q, char *const *keys, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		texts_add(&q->without, xstrdup(keys[i]));
}

void query_add_label(struct query *q, const char *key, const char *value)
{
	size_t i;

	for (i = 0; i < q->keys.n; i++) {
		if (strcmp(q->keys.v[i], key))
			continue;
		free(q->values.v[i]);
		q->values.v[i] = xstrdup(value);
		return;
	}
	texts_add(&q->keys, xstrdup(key));
	texts_add(&q->values, xstrdup(value));
}

int query_set_name_labels(struct query *q, const char *re, struct err *e)
{
	return extra_set_name(&q->extra, re, e);
}

void query_set_replicates(struct query *q, uint32_t n, const char *key)
{
	extra_set_replicates(&q->extra, n, key);
}

void query_file(struct query *q, const char *name)
{
	extra_file(&q->extra, name);
}

/* --- labels ----------------------------------------------------------------------------- */

static bool is_one_of(const struct texts *t, const struct store *st, uint32_t string)
{
	struct str s = store_str(st, string);
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (s.n == strlen(t->v[i]) && !memcmp(s.p, t->v[i], s.n))
			return true;
	}
	return false;
}

static uint32_t change_labels(struct query *q, struct store *st, uint32_t set)
{
	struct seq seq = st->labelsets[set];
	struct label *labels = xcalloc(seq.n + q->keys.n + 1, sizeof(*labels));
	uint32_t i, n = 0;
	const struct label *l;

	for (i = 0; i < seq.n; i++) {
		l = &st->labels[seq.off + i];
		if ((q->has_by && !is_one_of(&q->by, st, l->key)) ||
		    is_one_of(&q->without, st, l->key) || is_one_of(&q->keys, st, l->key))
			continue;
		labels[n++] = *l;
	}
	for (i = 0; i < q->keys.n; i++)
		labels[n++] = (struct label){.key = store_puts(st, q->keys.v[i]),
					     .str = store_puts(st, q->values.v[i])};
	set = store_labelset(st, labels, n);
	free(labels);
	return set;
}

static uint32_t labelset_now(struct query *q, struct store *st, uint32_t set)
{
	struct seq seq = st->labelsets[set];
	size_t i;

	for (i = 0; i < q->nselectors; i++) {
		if (!selector_match(q->selectors[i], st, st->labels + seq.off, seq.n))
			break;
	}
	if (i < q->nselectors) {
		q->refused = true;
		return SAMPLE_DROP;
	}
	q->selected = true;
	return q->has_by || q->without.n || q->keys.n ? change_labels(q, st, set) : set;
}

static uint32_t labelset_hook(void *ctx, struct store *st, uint32_t set)
{
	struct query *q = ctx;
	uint32_t *known, result;

	if (extra_active(&q->extra))
		set = extra_labelset(&q->extra, st, set);
	known = memo_at(&q->labelsets, set, st->nlabelsets);
	if (*known != MEMO_UNKNOWN)
		return *known;
	result = labelset_now(q, st, set);
	*memo_at(&q->labelsets, set, st->nlabelsets) = result;
	return result;
}

/* --- stacks ----------------------------------------------------------------------------- */

static uint32_t stack_hook(void *ctx, struct store *st, uint32_t stack)
{
	struct query *q = ctx;

	if (q->prune)
		stack = prune_stack(q->prune, st, stack);
	if (!q->defer_filters && filters_active(&q->filters))
		stack = filters_stack(&q->filters, st, stack);
	return stack;
}

uint32_t query_filter(struct query *q, struct store *st, uint32_t stack)
{
	return filters_active(&q->filters) ? filters_stack(&q->filters, st, stack)
					   : stack;
}

void query_defer_filters(struct query *q)
{
	q->defer_filters = true;
}

struct sample_hooks query_hooks(struct query *q)
{
	struct sample_hooks hooks = {.ctx = q};

	if (q->nselectors || q->has_by || q->without.n || q->keys.n ||
	    extra_active(&q->extra))
		hooks.labelset = labelset_hook;
	if (q->stored_frames || (!q->defer_filters && filters_active(&q->filters)))
		hooks.stack = stack_hook;
	return hooks;
}

/* --- headers ---------------------------------------------------------------------------- */

static struct prune *prune_for(struct query *q, struct store *st, const struct header *h)
{
	struct err e = {0};
	struct prune *p;
	size_t i;

	if (!h->drop_frames)
		return NULL;
	for (i = 0; i < q->nprunes; i++) {
		p = q->prunes[i];
		if (p->drop_id == h->drop_frames && p->keep_id == h->keep_frames)
			return p;
	}
	p = xcalloc(1, sizeof(*p));
	if (prune_init(p, st, h->drop_frames, h->keep_frames, &e))
		texts_add(&q->notes, xstrdup(e.msg));
	q->prunes = xreallocarray(q->prunes, q->nprunes + 1, sizeof(struct prune *));
	q->prunes[q->nprunes++] = p;
	return p;
}

int query_take(void *ctx, struct store *st, struct header *h)
{
	struct query *q = ctx;
	int i = 0;

	if (q->type.text) {
		i = type_spec_find(&q->type, st, h);
		if (i < 0)
			return 0;
		q->type_seen = true;
		h->default_type = h->types[i].type;
	}
	/* the end of time is no limit, also for a profile from there */
	if (h->time_ns < q->since_ns ||
	    (h->time_ns >= q->until_ns && q->until_ns != INT64_MAX))
		return 0;
	q->taken = true;
	extra_time(&q->extra, h->time_ns);
	q->prune = q->stored_frames ? prune_for(q, st, h) : NULL;
	return 1;
}

int query_type_index(const struct query *q, const struct store *st,
		     const struct header *h)
{
	size_t i;

	if (q->type.text)
		return type_spec_find(&q->type, st, h);
	for (i = 0; i < h->ntypes && h->default_type; i++) {
		if (h->types[i].type == h->default_type)
			return (int)i;
	}
	return (int)h->ntypes - 1;
}

bool query_has_type(const struct query *q)
{
	return q->type.text;
}

int query_taken_status(const struct query *q, struct err *e)
{
	if (q->taken)
		return 0;
	if (q->type.text && !q->type_seen)
		return err_set(e, ENODATA, "no profile has the type \"%s\"",
			       q->type.text);
	return err_set(e, ENODATA, "no profile in the time asked for");
}

const char *query_type_text(const struct query *q)
{
	return q->type.text;
}

/* --- afterwards ------------------------------------------------------------------------- */

static const char *const filter_options[STACK_FILTERS] = {"--focus", "--ignore", "--show",
							  "--hide", "--show-from"};

int query_status(const struct query *q, struct err *e)
{
	size_t i;
	int r;

	for (i = 0; i < q->nselectors; i++) {
		r = selector_status(q->selectors[i], e);
		if (r)
			return r;
	}
	r = q->extra.name ? regex_status(q->extra.name, e) : 0;
	if (r)
		return err_prefix(e, "file name");
	for (i = 0; i < STACK_FILTERS; i++) {
		r = patterns_status(&q->filters.patterns[i], e);
		if (r)
			return err_prefix(e, "%s", filter_options[i]);
	}
	for (i = 0; i < q->nprunes; i++) {
		r = q->prunes[i]->drop ? regex_status(q->prunes[i]->drop, e) : 0;
		if (!r && q->prunes[i]->keep)
			r = regex_status(q->prunes[i]->keep, e);
		if (r)
			return err_prefix(e, "drop_frames of the profile");
	}
	return 0;
}

void query_note_misses(struct query *q)
{
	const struct patterns *p;
	size_t i;

	if (q->refused && !q->selected)
		texts_add(&q->notes, xstrdup("no sample fits the selector"));
	if (q->extra.missed)
		texts_add(&q->notes,
			  xasprintf("--label-from-name fits %s file names",
				    q->extra.matched ? "not all" : "none of the"));
	for (i = 0; i < STACK_FILTERS; i++) {
		p = &q->filters.patterns[i];
		if (p->asked && !p->matched)
			texts_add(&q->notes,
				  xasprintf("%s matches nothing", filter_options[i]));
	}
}

const char *const *query_notes(const struct query *q, size_t *n)
{
	*n = q->notes.n;
	return (const char *const *)q->notes.v;
}

const char *const *query_filter_texts(const struct query *q, size_t *n)
{
	*n = q->filter_texts.n;
	return (const char *const *)q->filter_texts.v;
}
