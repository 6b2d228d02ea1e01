/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

struct sorter {
	const struct profile *p;
	const struct store *st;
	struct order *o;
	__int128 *weight;     /* by mapping id: cumulative value of the default type */
	uint32_t *str_rank;   /* by string id: place among the strings of labels */
	uint32_t *stack_rank; /* by stack id, from 1; 0: unused */
	uint32_t *label_rank; /* by label set id, from 1 */
};

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int cmp_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int cmp_str(const struct store *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(store_str(st, a), store_str(st, b));
}

static void mark_location(struct sorter *s, uint32_t id)
{
	const struct location *l = &s->st->locations[id];
	const struct line *lines = store_lines(s->st, id);
	uint32_t i;

	s->o->location_no[id] = 1;
	if (l->mapping != ID_NONE)
		s->o->mapping_no[l->mapping] = 1;
	for (i = 0; i < l->nlines; i++)
		s->o->function_no[lines[i].function] = 1;
}

static void mark_used(struct sorter *s)
{
	const struct profile *p = s->p;
	const uint32_t *frames;
	uint32_t n, k, stack;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		stack = p->samples[i].stack;
		s->label_rank[p->samples[i].labelset] = 1;
		if (s->stack_rank[stack])
			continue;
		s->stack_rank[stack] = 1;
		frames = store_frames(s->st, stack, &n);
		for (k = 0; k < n; k++) {
			if (!s->o->location_no[frames[k]])
				mark_location(s, frames[k]);
		}
	}
	if (p->main_mapping != ID_NONE)
		s->o->mapping_no[p->main_mapping] = 1;
}

/* The marked ids of 0..n-1, in order of id. */
static uint32_t *collect(const uint32_t *marks, size_t n, size_t *out_n)
{
	size_t i, k = 0;
	uint32_t *ids;

	for (i = 0; i < n; i++)
		k += marks[i] != 0;
	ids = xmalloc((k + 1) * sizeof(*ids));
	for (i = k = 0; i < n; i++) {
		if (marks[i])
			ids[k++] = i;
	}
	*out_n = k;
	return ids;
}

static void number(uint32_t *no, const uint32_t *ids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		no[ids[i]] = i + 1;
}

/* Per mapping: the sum over samples that pass through it, each sample once. */
static void weigh_mappings(struct sorter *s)
{
	const struct profile *p = s->p;
	size_t type = profile_default_type(p), i;
	uint32_t *seen = xcalloc(s->st->nmappings, sizeof(*seen));
	const uint32_t *frames;
	uint32_t n, k, m;

	for (i = 0; i < p->nsamples; i++) {
		frames = store_frames(s->st, p->samples[i].stack, &n);
		for (k = 0; k < n; k++) {
			m = s->st->locations[frames[k]].mapping;
			if (m == ID_NONE || seen[m] == i + 1)
				continue;
			seen[m] = i + 1;
			s->weight[m] += profile_values(p, i)[type];
		}
	}
	free(seen);
}

static int cmp_mapping(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	struct mapping x = profile_mapping(s->p, *(const uint32_t *)a);
	struct mapping y = profile_mapping(s->p, *(const uint32_t *)b);
	int c = cmp_str(s->st, x.file, y.file);

	if (!c)
		c = cmp_str(s->st, x.build_id, y.build_id);
	return c ? c : cmp_u64(x.start, y.start);
}

static void order_mappings(struct sorter *s)
{
	struct order *o = s->o;
	size_t i, best = 0;
	uint32_t id;

	o->mappings = collect(o->mapping_no, s->st->nmappings, &o->nmappings);
	if (s->st->mode == STORE_EXACT) {
		if (s->p->main_mapping != ID_NONE) {
			for (i = 0; o->mappings[i] != s->p->main_mapping; i++)
				;
			memmove(o->mappings + 1, o->mappings, i * sizeof(*o->mappings));
			o->mappings[0] = s->p->main_mapping;
		}
		number(o->mapping_no, o->mappings, o->nmappings);
		return;
	}
	weigh_mappings(s);
	qsort_r(o->mappings, o->nmappings, sizeof(*o->mappings), cmp_mapping, s);
	/* the first of the heaviest, in that order, goes to the front */
	for (i = 0, best = SIZE_MAX; i < o->nmappings; i++) {
		struct mapping m = profile_mapping(s->p, o->mappings[i]);

		if (!store_is_kernel_mapping(s->st, &m) &&
		    (best == SIZE_MAX ||
		     s->weight[o->mappings[i]] > s->weight[o->mappings[best]]))
			best = i;
	}
	if (best != SIZE_MAX) {
		id = o->mappings[best];
		memmove(o->mappings + 1, o->mappings, best * sizeof(*o->mappings));
		o->mappings[0] = id;
	}
	number(o->mapping_no, o->mappings, o->nmappings);
}

static int cmp_function(const void *a, const void *b, void *ctx)
{
	const struct store *st = ((const struct sorter *)ctx)->st;
	const struct function *x = &st->functions[*(const uint32_t *)a];
	const struct function *y = &st->functions[*(const uint32_t *)b];
	int c = cmp_str(st, x->name, y->name);

	if (!c)
		c = cmp_str(st, x->system_name, y->system_name);
	if (!c)
		c = cmp_str(st, x->file, y->file);
	return c ? c : cmp_i64(x->start_line, y->start_line);
}

static int cmp_location(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b, i;
	const struct location *x = &s->st->locations[ia], *y = &s->st->locations[ib];
	const struct line *lx = store_lines(s->st, ia), *ly = store_lines(s->st, ib);
	int c = cmp_u64(order_mapping(s->o, x), order_mapping(s->o, y));

	if (!c)
		c = cmp_u64(x->address, y->address);
	if (!c)
		c = cmp_u64(x->nlines, y->nlines);
	for (i = 0; !c && i < x->nlines; i++) {
		c = cmp_u64(s->o->function_no[lx[i].function],
			    s->o->function_no[ly[i].function]);
		if (!c)
			c = cmp_i64(lx[i].line, ly[i].line);
		if (!c)
			c = cmp_i64(lx[i].column, ly[i].column);
	}
	return c ? c : cmp_u64(x->folded, y->folded);
}

/* Root first: stacks with the same callers come together, which is also what packs best. */
static int cmp_stack(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const uint32_t *no = s->o->location_no;
	uint32_t nx, ny;
	const uint32_t *x = store_frames(s->st, *(const uint32_t *)a, &nx);
	const uint32_t *y = store_frames(s->st, *(const uint32_t *)b, &ny);

	while (nx && ny) {
		if (x[--nx] != y[--ny])
			return cmp_u64(no[x[nx]], no[y[ny]]);
	}
	return cmp_u64(nx, ny);
}

static int cmp_rank_str(const void *a, const void *b, void *ctx)
{
	return cmp_str(((const struct sorter *)ctx)->st, *(const uint32_t *)a,
		       *(const uint32_t *)b);
}

static int cmp_labelset(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const uint32_t *rank = s->str_rank;
	uint32_t nx, ny, i;
	const struct label *x = store_labels(s->st, *(const uint32_t *)a, &nx);
	const struct label *y = store_labels(s->st, *(const uint32_t *)b, &ny);
	int c = 0;

	for (i = 0; !c && i < nx && i < ny; i++) {
		c = cmp_u64(rank[x[i].key], rank[y[i].key]);
		if (!c)
			c = cmp_u64(x[i].numeric, y[i].numeric);
		if (!c)
			c = cmp_u64(rank[x[i].str], rank[y[i].str]);
		if (!c)
			c = cmp_i64(x[i].num, y[i].num);
		if (!c)
			c = cmp_u64(rank[x[i].unit], rank[y[i].unit]);
	}
	return c ? c : cmp_u64(nx, ny);
}

static void rank_label_strings(struct sorter *s)
{
	const struct label *l;
	uint32_t *ids, n, k;
	size_t i, count;

	for (i = 0; i < s->st->nlabelsets; i++) {
		if (!s->label_rank[i])
			continue;
		l = store_labels(s->st, i, &n);
		for (k = 0; k < n; k++)
			s->str_rank[l[k].key] = s->str_rank[l[k].str] =
				s->str_rank[l[k].unit] = 1;
	}
	ids = collect(s->str_rank, s->st->strings.n, &count);
	qsort_r(ids, count, sizeof(*ids), cmp_rank_str, s);
	number(s->str_rank, ids, count);
	free(ids);
}

/* Many come as they are to be: what was read was written in this order, as a rule. */
static void sort_ids(uint32_t *ids, size_t n,
		     int (*cmp)(const void *, const void *, void *), struct sorter *s)
{
	size_t i;

	for (i = 1; i < n && cmp(&ids[i - 1], &ids[i], s) <= 0; i++)
		;
	if (i < n)
		qsort_r(ids, n, sizeof(*ids), cmp, s);
}

static void rank(uint32_t *marks, size_t n,
		 int (*cmp)(const void *, const void *, void *), struct sorter *s)
{
	size_t count;
	uint32_t *ids = collect(marks, n, &count);

	sort_ids(ids, count, cmp, s);
	number(marks, ids, count);
	free(ids);
}

struct keyed {
	uint64_t key;
	uint32_t sample;
};

/* By key, eight bits at a time from the lowest; digits that all have alike are passed over. */
static void sort_keyed(struct keyed **keys, size_t n)
{
	struct keyed *from = *keys, *to = xmalloc((n + 1) * sizeof(*to)), *swap;
	size_t count[256], i, at, c;
	int shift;

	for (shift = 0; shift < 64 && n > 1; shift += 8) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[from[i].key >> shift & 0xff]++;
		if (count[from[0].key >> shift & 0xff] == n)
			continue;
		for (i = at = 0; i < 256; i++) {
			c = count[i];
			count[i] = at;
			at += c;
		}
		for (i = 0; i < n; i++)
			to[count[from[i].key >> shift & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*keys = from;
}

static void order_samples(struct sorter *s)
{
	const struct profile *p = s->p;
	struct keyed *keys = xmalloc((p->nsamples + 1) * sizeof(*keys));
	size_t i;

	rank_label_strings(s);
	rank(s->stack_rank, s->st->nstacks, cmp_stack, s);
	rank(s->label_rank, s->st->nlabelsets, cmp_labelset, s);
	for (i = 0; i < p->nsamples; i++) {
		keys[i].key = (uint64_t)s->stack_rank[p->samples[i].stack] << 32 |
			      s->label_rank[p->samples[i].labelset];
		keys[i].sample = i;
	}
	sort_keyed(&keys, p->nsamples);
	s->o->samples = xmalloc((p->nsamples + 1) * sizeof(*s->o->samples));
	for (i = 0; i < p->nsamples; i++)
		s->o->samples[i] = keys[i].sample;
	free(keys);
}

void order_init(struct order *o, const struct profile *p)
{
	const struct store *st = p->store;
	struct sorter s = {.p = p, .st = st, .o = o};

	*o = (struct order){0};
	o->mapping_no = xcalloc(st->nmappings, sizeof(uint32_t));
	o->function_no = xcalloc(st->nfunctions, sizeof(uint32_t));
	o->location_no = xcalloc(st->nlocations, sizeof(uint32_t));
	s.weight = xcalloc(st->nmappings, sizeof(*s.weight));
	s.str_rank = xcalloc(st->strings.n, sizeof(uint32_t));
	s.stack_rank = xcalloc(st->nstacks, sizeof(uint32_t));
	s.label_rank = xcalloc(st->nlabelsets, sizeof(uint32_t));

	mark_used(&s);
	order_mappings(&s);
	o->functions = collect(o->function_no, st->nfunctions, &o->nfunctions);
	sort_ids(o->functions, o->nfunctions, cmp_function, &s);
	number(o->function_no, o->functions, o->nfunctions);
	o->locations = collect(o->location_no, st->nlocations, &o->nlocations);
	sort_ids(o->locations, o->nlocations, cmp_location, &s);
	number(o->location_no, o->locations, o->nlocations);
	order_samples(&s);

	free(s.weight);
	free(s.str_rank);
	free(s.stack_rank);
	free(s.label_rank);
}

void order_release(struct order *o)
{
	free(o->mappings);
	free(o->functions);
	free(o->locations);
	free(o->samples);
	free(o->mapping_no);
	free(o->function_no);
	free(o->location_no);
	*o = (struct order){0};
}
