/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/render/bins.h"

#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "tools/render/targets.h"

#define SECOND INT64_C(1000000000)

static int64_t span_of(int64_t from_ns, int64_t to_ns)
{
	int64_t span;

	return __builtin_sub_overflow(to_ns, from_ns, &span) ? INT64_MAX : span;
}

/* --- parts ------------------------------------------------------------------------------ */

/* Profiles of one target at once are of the same time; pauses are of none. */
static int64_t wall_of(const struct bins *b, const struct bin *bin, const struct share *s)
{
	int64_t span = span_of(s->first_ns, s->end_ns), wall = s->duration_ns,
		length = span_of(bin->start_ns, bin->until_ns);
	bool at_once = wall > span || s->merged > s->profiles;

	if (wall <= 0)
		return length;
	if (wall > span)
		wall = span;
	/* what starts in a window may end after it, as others end in it */
	if (at_once && b->windows && wall > length)
		wall = length;
	return wall > 0 ? wall : 1;
}

static int cmp_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return (x->target > y->target) - (x->target < y->target);
}

static void put_part(struct bins *b, struct bin *bin, const struct share *s)
{
	struct bin_part *part;

	XGROW(b->parts, b->nparts, b->cap);
	part = &b->parts[b->nparts++];
	*part = (struct bin_part){s->target, wall_of(b, bin, s), s->merged};
	if (part->wall_ns > bin->wall_ns)
		bin->wall_ns = part->wall_ns;
	bin->merged = sum_or_max(bin->merged, part->merged);
	bin->nparts++;
}

static void find_parts(struct bins *b, struct bin *bin, const struct moment *v)
{
	struct share *all;
	size_t n = 0, i, k;

	for (i = 0; i < bin->n; i++)
		n += v[i].nshares;
	all = xcalloc(n + 1, sizeof(*all));
	for (n = i = 0; i < bin->n; i++) {
		for (k = 0; k < v[i].nshares; k++)
			all[n++] = v[i].shares[k];
	}
	qsort(all, n, sizeof(*all), cmp_shares);
	bin->parts = b->nparts;
	for (i = 0; i < n; i = k) {
		for (k = i + 1; k < n && all[k].target == all[i].target; k++)
			share_add(&all[i], &all[k]);
		put_part(b, bin, &all[i]);
	}
	free(all);
}

/* --- one for each ----------------------------------------------------------------------- */

/* Each starts when the one before has (nearly) ended. */
static bool follow_one_another(const struct moment *v, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		if (span_of(v[i].first_ns, v[i].end_ns) / 10 * 9 >
		    span_of(v[i].first_ns, v[i + 1].first_ns))
			return false;
	}
	return true;
}

static void bin_each(struct bins *b, const struct moment *v, size_t n)
{
	int64_t length = SECOND; /* of a profile that does not say */
	size_t i;

	for (i = 0; i < n; i++) {
		if (i)
			length = span_of(v[i - 1].first_ns, v[i].first_ns);
		b->v[i].start_ns = v[i].first_ns;
		b->v[i].until_ns = i + 1 < n ? v[i + 1].first_ns : v[i].end_ns;
		if (b->v[i].until_ns <= b->v[i].start_ns)
			b->v[i].until_ns = sum_or_max(v[i].first_ns, length);
		b->v[i].first = i;
		b->v[i].n = 1;
	}
	b->n = n;
}

/* --- windows ---------------------------------------------------------------------------- */

/* What was read of a target up to a moment. */
struct row {
	const struct share *last;
	int64_t gap_ns; /* between the last two starts; 0: there is but one */
};

/*
 * How long one of these profiles is. The duration of what was merged is the sum of several that
 * may have been at once, as of two machines: then it is no longer than up to the next one.
 */
static int64_t length_of(const struct share *s, int64_t gap_ns)
{
	int64_t all = gap_ns > 0 && gap_ns < s->duration_ns ? gap_ns : s->duration_ns,
		least = s->duration_ns / s->merged;

	all /= s->profiles;
	return all > least ? all : least;
}

/* The next share of a row; NULL: there is none. */
static void see_next(struct row *row, const struct share *s, int64_t *longest)
{
	int64_t length;

	if (row->last) {
		if (s)
			row->gap_ns = span_of(row->last->first_ns, s->first_ns);
		length = length_of(row->last, row->gap_ns);
		if (length > *longest)
			*longest = length;
	}
	row->last = s;
}

static int64_t longest_of(const struct timeline_type *t)
{
	/* the last row is of what has no target */
	struct row *rows = xcalloc(t->targets.n + 1, sizeof(*rows));
	const struct share *s;
	int64_t longest = 1;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->v[i].nshares; k++) {
			s = &t->v[i].shares[k];
			see_next(&rows[s->target < t->targets.n ? s->target
								: t->targets.n],
				 s, &longest);
		}
	}
	for (i = 0; i <= t->targets.n; i++)
		see_next(&rows[i], NULL, &longest);
	free(rows);
	return longest;
}

static int64_t window_of(int64_t ns, int64_t window)
{
	return ns / window - (ns % window < 0);
}

/* Windows that hold whole profiles of this length, or so many that it does not show. */
static bool is_fit(int64_t window, int64_t length)
{
	int64_t over = window % length;

	return window / length >= 20 || over <= length / 50 ||
	       length - over <= length / 50;
}

static bool is_enough(int64_t window, const struct moment *v, size_t n, size_t most)
{
	return window_of(v[n - 1].first_ns, window) - window_of(v[0].first_ns, window) <
	       (int64_t)most;
}

/* The least round length from `length` on that makes at most `most` windows. */
static int64_t choose_window(int64_t length, const struct moment *v, size_t n,
			     size_t most)
{
	static const int rounds[] = {1,	  2,   5,   10,	  15,	20,   30,    60,   120,
				     300, 600, 900, 1800, 3600, 7200, 21600, 43200};
	int64_t w, least = length - length / 50;
	size_t i;

	/* milliseconds at least: two numbers of windows are never too far apart to subtract */
	for (w = SECOND / 1000; w < SECOND; w *= 10) {
		if (w >= least && is_fit(w, length) && is_enough(w, v, n, most))
			return w;
	}
	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		w = rounds[i] * SECOND;
		if (w >= least && is_fit(w, length) && is_enough(w, v, n, most))
			return w;
	}
	for (w = 86400 * SECOND; w < INT64_MAX / 4; w *= 2) {
		if (w >= least && is_enough(w, v, n, most))
			break;
	}
	return w;
}

static void bin_windows(struct bins *b, const struct timeline_type *t, size_t most)
{
	int64_t w = choose_window(longest_of(t), t->v, t->n, most), number, before = 0;
	struct bin *bin;
	size_t i;

	b->windows = true;
	for (i = 0; i < t->n; i++) {
		number = window_of(t->v[i].first_ns, w);
		if (i && number == before) {
			b->v[b->n - 1].n++;
			continue;
		}
		before = number;
		bin = &b->v[b->n++];
		*bin = (struct bin){.first = i, .n = 1};
		if (__builtin_mul_overflow(number, w, &bin->start_ns))
			bin->start_ns = INT64_MIN;
		bin->until_ns = sum_or_max(bin->start_ns, w);
	}
}

void bins_init(struct bins *b, const struct timeline_type *t, size_t most)
{
	size_t i;

	*b = (struct bins){.v = xcalloc(t->n + 1, sizeof(*b->v))};
	if (t->n <= most && follow_one_another(t->v, t->n))
		bin_each(b, t->v, t->n);
	else
		bin_windows(b, t, most);
	for (i = 0; i < b->n; i++)
		find_parts(b, &b->v[i], t->v + b->v[i].first);
}

void bins_release(struct bins *b)
{
	free(b->v);
	free(b->parts);
	*b = (struct bins){0};
}
