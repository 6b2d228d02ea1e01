/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flat and cumulative values per frame. "Once per sample" is told by stamps: an array by frame
 * id holds the number of the stack that was there last, so nothing is hashed on the way.
 */
#include "tools/render/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/render/edges.h"

struct sums {
	int64_t *flat, *cum; /* by frame id */
	int64_t *flat_base, *cum_base;
	uint32_t *last; /* by frame id: number of the last stack, from 1 */
	size_t n;
	int64_t *mapping_cum; /* by mapping id */
	uint32_t *mapping_last;
};

static void sums_release(struct sums *s)
{
	free(s->flat);
	free(s->cum);
	free(s->flat_base);
	free(s->cum_base);
	free(s->last);
	free(s->mapping_cum);
	free(s->mapping_last);
}

static void *grow_zeroed(void *p, size_t from, size_t to, size_t size)
{
	p = xreallocarray(p, to, size);
	memset((char *)p + from * size, 0, (to - from) * size);
	return p;
}

/* Frames come into being while the stacks are walked. */
static void sums_reserve(struct sums *s, size_t nframes)
{
	size_t n = nframes + nframes / 2 + 64;

	if (nframes <= s->n)
		return;
	s->flat = grow_zeroed(s->flat, s->n, n, sizeof(*s->flat));
	s->cum = grow_zeroed(s->cum, s->n, n, sizeof(*s->cum));
	s->flat_base = grow_zeroed(s->flat_base, s->n, n, sizeof(*s->flat_base));
	s->cum_base = grow_zeroed(s->cum_base, s->n, n, sizeof(*s->cum_base));
	s->last = grow_zeroed(s->last, s->n, n, sizeof(*s->last));
	s->n = n;
}

/*
 * No sum of single values can overflow: the weights' total, the sum of all |value|, did not.
 */
static void add_stack(struct sums *s, struct frames *f, const struct weight *w,
		      uint32_t number)
{
	const struct store *st = f->p->store;
	int64_t v = w->plus + w->minus;
	uint32_t n, k, i, j, frame = ID_NONE, mapping;
	const uint32_t *locations = store_frames(st, w->stack, &n), *ids;

	for (i = n; i; i--) {
		ids = frames_of(f, locations[i - 1], &k);
		sums_reserve(s, f->n);
		for (j = 0; j < k; j++) {
			frame = ids[j];
			if (s->last[frame] != number) {
				s->last[frame] = number;
				s->cum[frame] += v;
				s->cum_base[frame] -= w->minus;
			}
		}
		mapping = st->locations[locations[i - 1]].mapping;
		if (mapping != ID_NONE && s->mapping_last[mapping] != number) {
			s->mapping_last[mapping] = number;
			s->mapping_cum[mapping] += v;
		}
	}
	if (frame != ID_NONE) {
		s->flat[frame] += v;
		s->flat_base[frame] -= w->minus;
	}
}

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* pprof: the fraction in double precision, cut to an integer, without sign. */
static int64_t cutoff(int64_t sum, double fraction)
{
	return magnitude((int64_t)((double)sum * fraction));
}

static int cmp_i64_down(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int cmp_tie(const struct row *a, const struct row *b, const struct frames *f)
{
	const struct frame *x = &f->v[a->frame], *y = &f->v[b->frame];

	/* the same name by two ways, e.g. a function "[app]": what has a function first */
	if (!x->name != !y->name)
		return x->name ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int cmp_flat(const void *a, const void *b, void *frames)
{
	const struct row *x = a, *y = b;
	int c = cmp_i64_down(magnitude(x->flat), magnitude(y->flat));

	if (!c)
		c = str_cmp(x->name, y->name);
	if (!c)
		c = cmp_i64_down(magnitude(x->cum), magnitude(y->cum));
	return c ? c : cmp_tie(x, y, frames);
}

static int cmp_cum(const void *a, const void *b, void *frames)
{
	const struct row *x = a, *y = b;
	int c = cmp_i64_down(magnitude(x->cum), magnitude(y->cum));

	if (!c)
		c = str_cmp(x->name, y->name);
	if (!c)
		c = cmp_i64_down(magnitude(x->flat), magnitude(y->flat));
	return c ? c : cmp_tie(x, y, frames);
}

static uint32_t pick_main_mapping(const struct sums *s, const struct profile *p)
{
	uint32_t best = ID_NONE, i;
	struct mapping m, b = {0};
	int c;

	for (i = 0; i < p->store->nmappings; i++) {
		m = profile_mapping(p, i);
		if (!s->mapping_last[i] || store_is_kernel_mapping(p->store, &m))
			continue;
		c = best == ID_NONE
			    ? -1
			    : cmp_i64_down(s->mapping_cum[i], s->mapping_cum[best]);
		if (!c)
			c = str_cmp(store_str(p->store, m.file),
				    store_str(p->store, b.file));
		if (!c)
			c = str_cmp(store_str(p->store, m.build_id),
				    store_str(p->store, b.build_id));
		if (c < 0) {
			best = i;
			b = m;
		}
	}
	return best;
}

static void put_names(struct rows *r, const struct frames *f)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	for (i = 0; i < r->n; i++) {
		buf_clear(&b);
		frames_name(f, r->v[i].frame, &b);
		r->v[i].name.p = arena_bytes(&r->names, b.data, b.len);
		r->v[i].name.n = (uint32_t)b.len;
	}
	buf_release(&b);
}

/* The rows worth showing, sorted; true when some frames were left out. */
static bool select_rows(struct rows *r, const struct sums *s, const struct frames *f,
			const struct rows_opts *o, int64_t sum)
{
	int64_t least = cutoff(sum, o->node_fraction);
	size_t i, shown = 0;

	r->v = xcalloc(f->n + 1, sizeof(*r->v));
	for (i = 0; i < f->n; i++) {
		if (!s->flat[i] && !s->cum[i])
			continue;
		shown++;
		if (least && magnitude(s->cum[i]) < least)
			continue;
		r->v[r->n++] = (struct row){.frame = (uint32_t)i,
					    .flat = s->flat[i],
					    .cum = s->cum[i],
					    .flat_base = s->flat_base[i],
					    .cum_base = s->cum_base[i]};
	}
	r->dropped = shown - r->n;
	r->candidates = r->n;
	put_names(r, f);
	qsort_r(r->v, r->n, sizeof(*r->v), o->by_cum ? cmp_cum : cmp_flat, (void *)f);
	if (o->top && o->top < r->n)
		r->n = o->top;
	for (i = 0; i < r->n; i++)
		r->flat += r->v[i].flat;
	return r->n < shown;
}

int rows_init(struct rows *r, struct frames *f, const struct weights *w,
	      const struct rows_opts *o, struct err *e)
{
	struct sums s = {0};
	int64_t sum = 0;
	size_t i;

	*r = (struct rows){.main_mapping = ID_NONE};
	if (w->n >= UINT32_MAX)
		return err_set(e, E2BIG, "too many distinct stacks");
	s.mapping_cum = xcalloc(f->p->store->nmappings + 1, sizeof(*s.mapping_cum));
	s.mapping_last = xcalloc(f->p->store->nmappings + 1, sizeof(*s.mapping_last));
	for (i = 0; i < w->n; i++)
		add_stack(&s, f, &w->v[i], (uint32_t)i + 1);
	sums_reserve(&s, f->n);
	for (i = 0; i < f->n; i++)
		sum += s.flat[i];
	r->cut = select_rows(r, &s, f, o, sum);
	r->edge_least = cutoff(sum, o->edge_fraction);
	edges_judge(r, f, w);
	r->main_mapping = pick_main_mapping(&s, f->p);
	sums_release(&s);
	return 0;
}

void rows_release(struct rows *r)
{
	free(r->v);
	arena_release(&r->names);
	*r = (struct rows){0};
}
