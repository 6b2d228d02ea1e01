/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: header and samples over a store. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/model.h"

void header_release(struct header *h)
{
	free(h->types);
	free(h->comments);
	*h = (struct header){0};
}

void header_copy(struct header *dst, const struct header *src)
{
	*dst = *src;
	dst->types = xmemdup(src->types, src->ntypes * sizeof(*src->types));
	dst->comments = xmemdup(src->comments, src->ncomments * sizeof(*src->comments));
}

struct profile *profile_new(struct store *st)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->store = st;
	p->main_mapping = ID_NONE;
	id_table_init(&p->sample_ids);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	header_release(&p->h);
	free(p->samples);
	free(p->values);
	free(p->extents);
	id_table_release(&p->sample_ids);
	free(p);
}

static uint64_t sample_hash(uint32_t stack, uint32_t labelset)
{
	return hash_u64(stack, labelset);
}

void profile_prefetch(const struct profile *p, uint32_t stack, uint32_t labelset,
		      int stage)
{
	uint64_t h = sample_hash(stack, labelset);
	uint32_t id;
	size_t s;

	if (stage == 0) {
		id_table_prefetch(&p->sample_ids, h);
		return;
	}
	s = id_table_first(&p->sample_ids, h);
	id = id_table_at(&p->sample_ids, h, &s);
	if (id != ID_NONE) {
		__builtin_prefetch(&p->samples[id]);
		__builtin_prefetch(&p->values[id * p->h.ntypes]);
	}
}

static int sum_overflow(const struct profile *p, size_t type, uint32_t stack,
			struct err *e)
{
	const struct store *st = p->store;
	const char *leaf = "an empty stack";
	const struct location *l;
	const uint32_t *frames;
	uint32_t n;

	frames = store_frames(st, stack, &n);
	if (n) {
		l = &st->locations[frames[0]];
		leaf = l->nlines
			       ? store_cstr(
					 st,
					 st->functions[st->lines[l->lines].function].name)
			       : "a frame without a name";
	}
	return err_set(e, EOVERFLOW, "the sum of %s in %s does not fit 64 bits",
		       store_cstr(st, p->h.types[type].type), leaf);
}

void profile_reserve(struct profile *p, size_t samples)
{
	XRESERVE(p->samples, p->samples_cap, p->nsamples + samples);
	XRESERVE(p->values, p->values_cap, (p->nsamples + samples) * p->h.ntypes);
	id_table_reserve(&p->sample_ids, samples);
}

int profile_add(struct profile *p, uint32_t stack, uint32_t labelset,
		const int64_t *values, struct err *e)
{
	uint64_t h = sample_hash(stack, labelset);
	size_t n = p->h.ntypes, s, i;
	int64_t *v;
	uint32_t id;

	for (s = id_table_first(&p->sample_ids, h);
	     (id = id_table_at(&p->sample_ids, h, &s)) != ID_NONE; s++) {
		if (p->samples[id].stack != stack || p->samples[id].labelset != labelset)
			continue;
		v = p->values + id * n;
		for (i = 0; i < n; i++) {
			if (__builtin_add_overflow(v[i], values[i], &v[i]))
				return sum_overflow(p, i, stack, e);
		}
		return 0;
	}
	XGROW(p->samples, p->nsamples, p->samples_cap);
	XRESERVE(p->values, p->values_cap, (p->nsamples + 1) * n);
	id = p->nsamples++;
	p->samples[id] = (struct sample){stack, labelset};
	if (n)
		memcpy(p->values + id * n, values, n * sizeof(*values));
	id_table_put(&p->sample_ids, h, id);
	return 0;
}

void profile_extend(struct profile *p, uint32_t mapping, const struct mapping *row)
{
	struct store *st = p->store;
	bool raw = store_mapping_is_raw(st, mapping);
	uint64_t base = raw ? row->start : row->start - row->offset;
	uint64_t end = raw ? row->limit : row->offset + (row->limit - row->start);
	struct extent *x;

	if (mapping >= p->nextents) {
		XRESERVE(p->extents, p->extents_cap, mapping + 1);
		memset(p->extents + p->nextents, 0,
		       (p->extents_cap - p->nextents) * sizeof(*p->extents));
		p->nextents = p->extents_cap;
	}
	x = &p->extents[mapping];
	if (!x->used) {
		*x = (struct extent){base, row->offset, end, row->file, row->flags, true};
		return;
	}
	if (base < x->base)
		x->base = base;
	if (row->offset < x->min_off)
		x->min_off = row->offset;
	if (end > x->max_end)
		x->max_end = end;
	if (row->file != x->file &&
	    (!x->file || (row->file &&
			  str_cmp(store_str(st, row->file), store_str(st, x->file)) < 0)))
		x->file = row->file;
	x->flags |= row->flags;
}

uint64_t profile_address(const struct profile *p, uint32_t location)
{
	const struct location *l = &p->store->locations[location];

	if (p->store->mode == STORE_EXACT || l->mapping >= p->nextents ||
	    store_mapping_is_raw(p->store, l->mapping))
		return l->address;
	return p->extents[l->mapping].base + l->address;
}

struct mapping profile_mapping(const struct profile *p, uint32_t mapping)
{
	struct mapping m = p->store->mappings[mapping];
	const struct extent *x;
	bool raw;

	if (p->store->mode == STORE_EXACT || mapping >= p->nextents ||
	    !p->extents[mapping].used)
		return m;
	x = &p->extents[mapping];
	raw = store_mapping_is_raw(p->store, mapping);
	m.start = raw ? x->base : x->base + x->min_off;
	m.limit = raw ? x->max_end : x->base + x->max_end;
	m.offset = x->min_off;
	m.file = x->file;
	m.flags = x->flags;
	return m;
}

size_t profile_default_type(const struct profile *p)
{
	size_t i;

	for (i = 0; i < p->h.ntypes && p->h.default_type; i++) {
		if (p->h.types[i].type == p->h.default_type)
			return i;
	}
	return p->h.ntypes - 1;
}

void profile_swap_samples(struct profile *a, struct profile *b)
{
	struct profile was = *a;

	a->samples = b->samples;
	a->values = b->values;
	a->nsamples = b->nsamples;
	a->samples_cap = b->samples_cap;
	a->values_cap = b->values_cap;
	a->sample_ids = b->sample_ids;
	b->samples = was.samples;
	b->values = was.values;
	b->nsamples = was.nsamples;
	b->samples_cap = was.samples_cap;
	b->values_cap = was.values_cap;
	b->sample_ids = was.sample_ids;
}

static bool is_zero(const int64_t *v, size_t n)
{
	while (n && !v[n - 1])
		n--;
	return !n;
}

void profile_drop_zero(struct profile *p)
{
	size_t n = p->h.ntypes, i, to = 0;

	for (i = 0; i < p->nsamples && !is_zero(p->values + i * n, n); i++)
		;
	if (i == p->nsamples)
		return;
	id_table_clear(&p->sample_ids);
	for (i = 0; i < p->nsamples; i++) {
		if (is_zero(p->values + i * n, n))
			continue;
		p->samples[to] = p->samples[i];
		memmove(p->values + to * n, p->values + i * n, n * sizeof(*p->values));
		id_table_put(&p->sample_ids,
			     sample_hash(p->samples[to].stack, p->samples[to].labelset),
			     to);
		to++;
	}
	p->nsamples = to;
}

void profile_comment(struct profile *p, const char *text)
{
	uint32_t id = store_puts(p->store, text);
	size_t i;

	for (i = 0; i < p->h.ncomments; i++) {
		if (p->h.comments[i] == id)
			return;
	}
	p->h.comments = xreallocarray(p->h.comments, p->h.ncomments + 1, sizeof(id));
	p->h.comments[p->h.ncomments++] = id;
}

void profile_comment_kv(struct profile *p, const char *key, const char *fmt, ...)
{
	char *value, *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		value = xstrdup("");
	va_end(ap);
	text = xasprintf("profpipe: %s=%s", key, value);
	profile_comment(p, text);
	free(text);
	free(value);
}
