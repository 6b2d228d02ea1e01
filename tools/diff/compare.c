/* SPDX-License-Identifier: Apache-2.0 */
/* From a difference's stacks to rows. */
#include "tools/diff/compare.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

const char *status_name(enum row_status s)
{
	static const char *const names[] = {"", "new", "gone"};

	return names[s];
}

static struct diff_row *row_of(struct comparison *c, uint32_t frame)
{
	/* rows are by frame id until they are sorted; frames are made as they are met */
	while (c->nrows <= frame) {
		XGROW(c->rows, c->nrows, c->rows_cap);
		c->rows[c->nrows] = (struct diff_row){.frame = c->nrows};
		c->nrows++;
	}
	return &c->rows[frame];
}

static void add(struct amount *a, const struct weight *w)
{
	/* neither can overflow: the totals were seen to fit */
	a->base -= w->minus;
	a->new += w->plus;
}

/* Code that says only where it is. When binaries are compared their names are all there is. */
static bool is_unnamed(const struct comparison *c, uint32_t location)
{
	const struct store *st = c->p->store;
	const struct location *l = &st->locations[location];
	const struct function *fn;

	if (c->frames.granularity == GRANULARITY_BINARIES)
		return false;
	if (!l->nlines)
		return true;
	fn = &st->functions[store_lines(st, location)->function];
	return !fn->name && !fn->file;
}

static void add_stack(struct comparison *c, const struct weight *w, uint32_t **seen,
		      size_t *nseen, uint32_t stamp)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, i, k, leaf;

	locations = store_frames(c->p->store, w->stack, &n);
	add(&c->total, w);
	for (i = 0; i < n; i++) {
		frames = frames_of(&c->frames, locations[i], &nf);
		/* outermost first: the last of the leaf location is where the cost is */
		leaf = frames[nf - 1];
		if (i == 0) {
			add(&row_of(c, leaf)->flat, w);
			if (is_unnamed(c, locations[0]))
				add(&c->unnamed, w);
		}
		for (k = 0; k < nf; k++) {
			struct diff_row *r = row_of(c, frames[k]);

			if (frames[k] >= *nseen) {
				size_t old = *nseen;

				XRESERVE(*seen, *nseen, frames[k] + 1);
				memset(*seen + old, 0, (*nseen - old) * sizeof(**seen));
			}
			if ((*seen)[frames[k]] == stamp)
				continue;
			(*seen)[frames[k]] = stamp;
			add(&r->cum, w);
		}
	}
}

/* What a side has, told before scaling: rounding must not make a function new. */
static void mark_present(struct comparison *c, const struct profile *side, bool is_base)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, k, l;
	size_t i;

	for (i = 0; i < side->nsamples; i++) {
		if (!profile_values(side, i)[c->column])
			continue;
		locations = store_frames(c->p->store, side->samples[i].stack, &n);
		for (l = 0; l < n; l++) {
			frames = frames_of(&c->frames, locations[l], &nf);
			for (k = 0; k < nf; k++) {
				if (is_base)
					row_of(c, frames[k])->in_base = true;
				else
					row_of(c, frames[k])->in_new = true;
			}
		}
	}
}

static void take_names(struct comparison *c)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	for (i = 0; i < c->nrows; i++) {
		buf_clear(&b);
		frames_name(&c->frames, i, &b);
		c->rows[i].name.p = arena_bytes(&c->names, b.data, b.len);
		c->rows[i].name.n = b.len;
	}
	buf_release(&b);
}

static uint64_t change(const struct amount *a)
{
	return a->new > a->base ? (uint64_t)a->new - a->base : (uint64_t)a->base - a->new;
}

static int cmp_change(const struct amount *a, const struct amount *b)
{
	uint64_t x = change(a), y = change(b);

	if (x != y)
		return x > y ? -1 : 1;
	return (b->new > a->new) - (b->new < a->new);
}

static int cmp_flat(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int c = cmp_change(&x->flat, &y->flat);

	if (!c)
		c = cmp_change(&x->cum, &y->cum);
	return c ? c : str_cmp(x->name, y->name);
}

static int cmp_cum(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int c = cmp_change(&x->cum, &y->cum);

	if (!c)
		c = cmp_change(&x->flat, &y->flat);
	return c ? c : str_cmp(x->name, y->name);
}

static double share(int64_t part, int64_t total)
{
	return total > 0 ? (double)part / (double)total : 0;
}

static void judge(struct comparison *c)
{
	struct amount both = {0, 0};
	const struct diff_row *r;
	size_t i;

	for (i = 0; i < c->nrows; i++) {
		r = &c->rows[i];
		if (row_status(r) == STATUS_BOTH) {
			both.base += r->flat.base;
			both.new += r->flat.new;
		}
	}
	c->matched[0] = share(both.base, c->total.base);
	c->matched[1] = share(both.new, c->total.new);
	c->unnamed_share[0] = share(c->unnamed.base, c->total.base);
	c->unnamed_share[1] = share(c->unnamed.new, c->total.new);
}

int comparison_init(struct comparison *c, const struct pair *pair,
		    const struct profile *diff, size_t column,
		    const struct comparison_opts *o, struct err *e)
{
	enum granularity g = o->granularity;
	struct query *all = query_new();
	uint32_t *seen = NULL;
	size_t nseen = 0, i;
	int r;

	*c = (struct comparison){.p = diff, .column = column};
	frames_init(&c->frames, diff, g == GRANULARITY_KEEP ? GRANULARITY_FUNCTIONS : g);
	/* the filters have been applied: a second time some would take more */
	r = weights_init(&c->weights, all, diff, column, e);
	query_free(all);
	if (r < 0)
		return r;
	for (i = 0; i < c->weights.n; i++)
		add_stack(c, &c->weights.v[i], &seen, &nseen, i + 1);
	free(seen);
	mark_present(c, pair->side[SIDE_BASE], true);
	mark_present(c, pair->side[SIDE_NEW], false);
	take_names(c);
	c->alias = xmalloc((c->frames.n + 1) * sizeof(*c->alias));
	for (i = 0; i < c->frames.n; i++)
		c->alias[i] = (uint32_t)i;
	return 0;
}

static void join(struct amount *to, const struct amount *from)
{
	/* neither can overflow: the totals were seen to fit */
	to->base += from->base;
	to->new += from->new;
}

void comparison_join(struct comparison *c, uint32_t base_frame, uint32_t new_frame)
{
	struct diff_row *from = &c->rows[base_frame], *to = &c->rows[new_frame];

	join(&to->flat, &from->flat);
	join(&to->cum, &from->cum);
	to->in_base = true;
	to->was = from->name;
	from->joined = true;
}

/* Amounts of the rows that others went into: each stack once, however many of them it has. */
static void add_folded(struct comparison *c, const struct weight *w, uint32_t *seen,
		       uint32_t stamp)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf, i, k, to;

	locations = store_frames(c->p->store, w->stack, &n);
	for (i = 0; i < n; i++) {
		frames = frames_of(&c->frames, locations[i], &nf);
		for (k = 0; k < nf; k++) {
			to = c->alias[frames[k]];
			if (seen[to] == UINT32_MAX)
				continue;
			if (i == 0 && k == nf - 1)
				add(&c->rows[to].flat, w);
			if (seen[to] != stamp)
				add(&c->rows[to].cum, w);
			seen[to] = stamp;
		}
	}
}

void comparison_fold(struct comparison *c, const struct str *names)
{
	/* UINT32_MAX: nothing went into it */
	uint32_t *seen = xmalloc((c->nrows + 1) * sizeof(*seen));
	size_t i;

	memset(seen, 0xff, (c->nrows + 1) * sizeof(*seen));
	for (i = 0; i < c->nrows; i++) {
		struct diff_row *to = &c->rows[c->alias[i]], *from = &c->rows[i];

		if (!names[c->alias[i]].p)
			continue;
		XGROW(c->folded, c->nfolded, c->folded_cap);
		c->folded[c->nfolded++] = (struct folded){c->alias[i], from->name};
		seen[c->alias[i]] = 0;
		from->flat = from->cum = (struct amount){0, 0};
		from->joined = from != to;
		to->in_base |= from->in_base;
		to->in_new |= from->in_new;
	}
	for (i = 0; i < c->weights.n; i++)
		add_folded(c, &c->weights.v[i], seen, (uint32_t)i + 1);
	for (i = 0; i < c->nrows; i++) {
		if (!names[i].p)
			continue;
		c->rows[i].name = names[i];
		c->rows[i].name.p = arena_bytes(&c->names, names[i].p, names[i].n);
	}
	free(seen);
}

uint32_t comparison_leaf(struct comparison *c, uint32_t stack)
{
	const uint32_t *locations, *frames;
	uint32_t n, nf;

	locations = store_frames(c->p->store, stack, &n);
	if (!n)
		return ID_NONE;
	frames = frames_of(&c->frames, locations[0], &nf);
	return c->alias[frames[nf - 1]];
}

void comparison_sort(struct comparison *c, bool by_cum)
{
	size_t i, n = 0;

	for (i = 0; i < c->nrows; i++) {
		if (!c->rows[i].joined)
			c->rows[n++] = c->rows[i];
	}
	c->nrows = n;
	judge(c);
	if (n)
		qsort(c->rows, n, sizeof(*c->rows), by_cum ? cmp_cum : cmp_flat);
}

void comparison_release(struct comparison *c)
{
	frames_release(&c->frames);
	weights_release(&c->weights);
	free(c->rows);
	free(c->folded);
	free(c->alias);
	arena_release(&c->names);
	*c = (struct comparison){0};
}
