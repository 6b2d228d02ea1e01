/* SPDX-License-Identifier: Apache-2.0 */
/* The store: every distinct mapping, function, location, stack and label set once. */
#include "lib/pprof/model.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

/* Labels sorted by insertion; beyond it, by merging such runs. */
#define LABEL_RUN 32

struct store *store_new(enum store_mode mode)
{
	struct store *st = xcalloc(1, sizeof(*st));

	st->mode = mode;
	intern_init(&st->strings);
	id_table_init(&st->mapping_ids);
	id_table_init(&st->function_ids);
	id_table_init(&st->location_ids);
	id_table_init(&st->stack_ids);
	id_table_init(&st->labelset_ids);
	return st;
}

void store_free(struct store *st)
{
	if (!st)
		return;
	intern_release(&st->strings);
	free(st->mappings);
	free(st->functions);
	free(st->locations);
	free(st->lines);
	free(st->stacks);
	free(st->frames);
	free(st->labelsets);
	free(st->labels);
	free(st->next_key);
	id_table_release(&st->mapping_ids);
	id_table_release(&st->function_ids);
	id_table_release(&st->location_ids);
	id_table_release(&st->stack_ids);
	id_table_release(&st->labelset_ids);
	free(st);
}

static bool mapping_equal(const struct store *st, const struct mapping *a,
			  const struct mapping *b)
{
	if (a->build_id != b->build_id)
		return false;
	if (st->mode == STORE_MERGED)
		return a->build_id || a->file == b->file;
	return a->file == b->file && a->start == b->start && a->limit == b->limit &&
	       a->offset == b->offset && a->flags == b->flags;
}

static uint64_t mapping_hash(const struct store *st, const struct mapping *m)
{
	uint64_t h = hash_u64(1, m->build_id);

	if (st->mode == STORE_MERGED)
		return m->build_id ? h : hash_u64(h, m->file);
	h = hash_u64(h, m->file);
	h = hash_u64(h, m->start);
	h = hash_u64(h, m->limit);
	h = hash_u64(h, m->offset);
	return hash_u64(h, m->flags);
}

uint32_t store_mapping(struct store *st, const struct mapping *m)
{
	uint64_t h = mapping_hash(st, m);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&st->mapping_ids, h);
	     (id = id_table_at(&st->mapping_ids, h, &s)) != ID_NONE; s++) {
		if (mapping_equal(st, &st->mappings[id], m))
			return id;
	}
	XGROW(st->mappings, st->nmappings, st->mappings_cap);
	id = st->nmappings++;
	st->mappings[id] = *m;
	id_table_put(&st->mapping_ids, h, id);
	return id;
}

uint64_t store_function_hash(const struct function *f)
{
	return hash_u64(hash_u64(f->name, (uint64_t)f->system_name << 32 | f->file),
			f->start_line);
}

static bool function_is(const struct store *st, uint32_t id, const struct function *f)
{
	const struct function *o = &st->functions[id];

	return o->name == f->name && o->system_name == f->system_name &&
	       o->file == f->file && o->start_line == f->start_line;
}

uint32_t store_function(struct store *st, const struct function *f)
{
	return store_function_hashed(st, store_function_hash(f), ID_NONE, f);
}

uint32_t store_function_hashed(struct store *st, uint64_t h, uint32_t likely,
			       const struct function *f)
{
	uint32_t id;
	size_t s;

	if (likely != ID_NONE && function_is(st, likely, f))
		return likely;
	for (s = id_table_first(&st->function_ids, h);
	     (id = id_table_at(&st->function_ids, h, &s)) != ID_NONE; s++) {
		if (function_is(st, id, f))
			return id;
	}
	XGROW(st->functions, st->nfunctions, st->functions_cap);
	id = st->nfunctions++;
	st->functions[id] = *f;
	id_table_put(&st->function_ids, h, id);
	return id;
}

static bool lines_equal(const struct line *a, const struct line *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (a[i].function != b[i].function || a[i].line != b[i].line ||
		    a[i].column != b[i].column)
			return false;
	}
	return true;
}

uint64_t store_location_hash(uint32_t mapping, uint64_t address, bool folded,
			     const struct line *lines, uint32_t nlines)
{
	uint64_t h = hash_u64((uint64_t)mapping << 1 | folded, address);
	uint32_t i;

	for (i = 0; i < nlines; i++) {
		h = hash_u64(h ^ lines[i].function, lines[i].line);
		if (lines[i].column)
			h = hash_u64(h, lines[i].column);
	}
	return h;
}

static bool location_is(const struct store *st, uint32_t id, uint32_t mapping,
			uint64_t address, bool folded, const struct line *lines,
			uint32_t nlines)
{
	const struct location *o = &st->locations[id];

	return o->address == address && o->mapping == mapping && o->folded == folded &&
	       o->nlines == nlines && lines_equal(st->lines + o->lines, lines, nlines);
}

void store_reserve_lines(struct store *st, size_t lines)
{
	XRESERVE(st->lines, st->lines_cap, st->nlines + lines + 1);
}

void store_set_lines(struct store *st, uint32_t location, const struct line *lines,
		     uint32_t n)
{
	store_reserve_lines(st, n);
	st->locations[location].nlines = n;
	st->locations[location].lines = st->nlines;
	if (n)
		memcpy(st->lines + st->nlines, lines, n * sizeof(*lines));
	st->nlines += n;
}

uint32_t store_location_hashed(struct store *st, uint64_t h, uint32_t likely,
			       uint32_t mapping, uint64_t address, bool folded,
			       const struct line *lines, uint32_t nlines)
{
	uint32_t id;
	size_t s;

	if (likely != ID_NONE &&
	    location_is(st, likely, mapping, address, folded, lines, nlines))
		return likely;
	for (s = id_table_first(&st->location_ids, h);
	     (id = id_table_at(&st->location_ids, h, &s)) != ID_NONE; s++) {
		if (location_is(st, id, mapping, address, folded, lines, nlines))
			return id;
	}
	XGROW(st->locations, st->nlocations, st->locations_cap);
	id = st->nlocations++;
	st->locations[id] = (struct location){
		.address = address, .mapping = mapping, .folded = folded};
	store_set_lines(st, id, lines, nlines);
	id_table_put(&st->location_ids, h, id);
	return id;
}

uint32_t store_location(struct store *st, uint32_t mapping, uint64_t address, bool folded,
			const struct line *lines, uint32_t nlines)
{
	return store_location_hashed(
		st, store_location_hash(mapping, address, folded, lines, nlines), ID_NONE,
		mapping, address, folded, lines, nlines);
}

void store_reserve(struct store *st, size_t locations, size_t stacks, size_t frames)
{
	XRESERVE(st->locations, st->locations_cap, st->nlocations + locations);
	id_table_reserve(&st->location_ids, locations);
	XRESERVE(st->stacks, st->stacks_cap, st->nstacks + stacks);
	id_table_reserve(&st->stack_ids, stacks);
	XRESERVE(st->frames, st->frames_cap, st->nframes + frames);
}

uint64_t store_stack_hash(const uint32_t *locations, uint32_t n)
{
	return hash_u32s(locations, n);
}

static bool stack_is(const struct store *st, uint32_t id, const uint32_t *locations,
		     uint32_t n)
{
	const struct seq *o = &st->stacks[id];

	return o->n == n &&
	       (!n || !memcmp(st->frames + o->off, locations, n * sizeof(*locations)));
}

uint32_t store_stack_hashed(struct store *st, uint64_t h, uint32_t likely,
			    const uint32_t *locations, uint32_t n)
{
	uint32_t id;
	size_t s;

	if (likely != ID_NONE && stack_is(st, likely, locations, n))
		return likely;
	for (s = id_table_first(&st->stack_ids, h);
	     (id = id_table_at(&st->stack_ids, h, &s)) != ID_NONE; s++) {
		if (stack_is(st, id, locations, n))
			return id;
	}
	XGROW(st->stacks, st->nstacks, st->stacks_cap);
	XRESERVE(st->frames, st->frames_cap, st->nframes + n + 1);
	id = st->nstacks++;
	st->stacks[id] = (struct seq){st->nframes, n};
	if (n)
		memcpy(st->frames + st->nframes, locations, n * sizeof(*locations));
	st->nframes += n;
	id_table_put(&st->stack_ids, h, id);
	return id;
}

uint32_t store_stack(struct store *st, const uint32_t *locations, uint32_t n)
{
	return store_stack_hashed(st, store_stack_hash(locations, n), ID_NONE, locations,
				  n);
}

static bool label_equal(const struct label *a, const struct label *b)
{
	return a->key == b->key && a->str == b->str && a->unit == b->unit &&
	       a->num == b->num && a->numeric == b->numeric;
}

/*
 * Is key b to stand before key a? Keys are in byte order, so that the order of a set depends on
 * content alone. Samples of one producer have the same keys in a row, again and again: what came
 * after a key the last time is remembered.
 */
static bool key_after(struct store *st, uint32_t a, uint32_t b)
{
	if (a == b || (a < st->next_key_n && st->next_key[a] == b))
		return false;
	if (str_cmp(store_str(st, a), store_str(st, b)) > 0)
		return true;
	if (a >= st->next_key_n) {
		XRESERVE(st->next_key, st->next_key_cap, (size_t)a + 1);
		memset(st->next_key + st->next_key_n, 0xff,
		       (st->next_key_cap - st->next_key_n) * sizeof(*st->next_key));
		st->next_key_n = st->next_key_cap;
	}
	st->next_key[a] = b;
	return false;
}

/* Sort runs of `width` labels, which are sorted, by pairs into `to`. */
static void merge_runs(struct store *st, const struct label *from, struct label *to,
		       size_t n, size_t width)
{
	size_t i, a, b, a_end, b_end, k = 0;

	for (i = 0; i < n; i += 2 * width) {
		a = i;
		b = a_end = i + width < n ? i + width : n;
		b_end = b + width < n ? b + width : n;
		while (a < a_end && b < b_end)
			to[k++] = key_after(st, from[a].key, from[b].key) ? from[b++]
									  : from[a++];
		while (a < a_end)
			to[k++] = from[a++];
		while (b < b_end)
			to[k++] = from[b++];
	}
}

/* By key, values of one key in the order they came: that order is content. */
static void sort_labels(struct store *st, struct label *labels, size_t n)
{
	struct label *other, *from = labels, *to, l;
	size_t i, j, k, width;

	/* by insertion in runs, which is all there is to do for real label sets */
	for (i = 0; i < n; i += LABEL_RUN) {
		for (j = i + 1; j < n && j < i + LABEL_RUN; j++) {
			l = labels[j];
			for (k = j; k > i && key_after(st, labels[k - 1].key, l.key); k--)
				labels[k] = labels[k - 1];
			labels[k] = l;
		}
	}
	if (n <= LABEL_RUN)
		return;
	other = to = xmalloc(n * sizeof(*to));
	for (width = LABEL_RUN; width < n; width *= 2) {
		merge_runs(st, from, to, n, width);
		from = to;
		to = from == labels ? other : labels;
	}
	if (from != labels)
		memcpy(labels, from, n * sizeof(*labels));
	free(other);
}

uint32_t store_labelset(struct store *st, struct label *labels, uint32_t n)
{
	const struct label *o;
	uint64_t h = n;
	uint32_t id, i;
	size_t s;

	sort_labels(st, labels, n);
	for (i = 0; i < n; i++) {
		h = hash_u64(h, (uint64_t)labels[i].key << 32 | labels[i].str);
		if (labels[i].numeric)
			h = hash_u64(h ^ labels[i].unit, labels[i].num);
	}
	for (s = id_table_first(&st->labelset_ids, h);
	     (id = id_table_at(&st->labelset_ids, h, &s)) != ID_NONE; s++) {
		if (st->labelsets[id].n != n)
			continue;
		o = st->labels + st->labelsets[id].off;
		for (i = 0; i < n && label_equal(&o[i], &labels[i]); i++)
			;
		if (i == n)
			return id;
	}
	XGROW(st->labelsets, st->nlabelsets, st->labelsets_cap);
	XRESERVE(st->labels, st->labels_cap, st->nlabels + n + 1);
	id = st->nlabelsets++;
	st->labelsets[id] = (struct seq){st->nlabels, n};
	if (n)
		memcpy(st->labels + st->nlabels, labels, n * sizeof(*labels));
	st->nlabels += n;
	id_table_put(&st->labelset_ids, h, id);
	return id;
}

bool store_is_kernel_mapping(const struct store *st, const struct mapping *m)
{
	return store_cstr(st, m->file)[0] == '[';
}
