/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping samples apart by time, and putting times into bins. */
#include "tools/render/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/merge.h"
#include "lib/query/rooted.h"

#define SECOND INT64_C(1000000000)

void timeline_init(struct timeline *t)
{
	*t = (struct timeline){0};
}

void timeline_release(struct timeline *t)
{
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->types[i].n; k++)
			profile_free(t->types[i].v[k].p);
		profile_free(t->types[i].timeless.p);
		free(t->types[i].v);
		header_release(&t->types[i].h);
	}
	free(t->types);
	*t = (struct timeline){0};
}

/* --- reading ---------------------------------------------------------------------------- */

const struct timeline_type *timeline_find(const struct timeline *t,
					  const struct header *h)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (header_same_type(&t->types[i].h, h))
			return &t->types[i];
	}
	return NULL;
}

static struct timeline_type *type_of(struct timeline *t, const struct header *h)
{
	const struct timeline_type *known = timeline_find(t, h);

	if (known)
		return &t->types[known - t->types];
	XGROW(t->types, t->n, t->cap);
	t->types[t->n] = (struct timeline_type){0};
	header_copy(&t->types[t->n].h, h);
	return &t->types[t->n++];
}

/* How many profiles one stands for: "profpipe: merged=N". */
static int64_t merged_of(const struct store *st, const struct header *h)
{
	static const char fact[] = "profpipe: merged=";
	int64_t n;
	size_t i;

	for (i = 0; i < h->ncomments; i++) {
		const char *s = store_cstr(st, h->comments[i]);

		if (!strncmp(s, fact, sizeof(fact) - 1) &&
		    !num_parse_i64(s + sizeof(fact) - 1, &n) && n > 0)
			return n;
	}
	return 1;
}

static int64_t sum_or_max(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* All of `from`, whose profile is freed if there is one, into m. */
static void add_moment(struct timeline *t, struct moment *m, struct moment *from)
{
	size_t i;

	if (from->first_ns < m->first_ns)
		m->first_ns = from->first_ns;
	if (from->end_ns > m->end_ns)
		m->end_ns = from->end_ns;
	m->duration_ns = sum_or_max(m->duration_ns, from->duration_ns);
	m->merged = sum_or_max(m->merged, from->merged);
	if (!from->p)
		return;
	for (i = 0; i < from->p->nsamples && !t->status; i++)
		t->status = profile_add(m->p, from->p->samples[i].stack,
					from->p->samples[i].labelset,
					profile_values(from->p, i), &t->err);
	profile_free(from->p);
}

/* The first moment that is not before this step. */
static size_t place_of(const struct timeline_type *type, int64_t step)
{
	size_t from = 0, to = type->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (type->v[middle].step < step)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void double_step(struct timeline *t, struct timeline_type *type)
{
	size_t i, n = 0;

	type->shift++;
	for (i = 0; i < type->n; i++) {
		type->v[i].step >>= 1;
		if (n && type->v[n - 1].step == type->v[i].step)
			add_moment(t, &type->v[n - 1], &type->v[i]);
		else
			type->v[n++] = type->v[i];
	}
	type->n = n;
}

/* The moment of m's step, made empty if there was none. */
static struct moment *moment_at(struct timeline_type *type, const struct moment *m)
{
	size_t at = place_of(type, m->step);

	if (at < type->n && type->v[at].step == m->step)
		return &type->v[at];
	XGROW(type->v, type->n, type->cap);
	memmove(type->v + at + 1, type->v + at, (type->n - at) * sizeof(*type->v));
	type->n++;
	type->v[at] = *m;
	type->v[at].duration_ns = type->v[at].merged = 0;
	type->v[at].p = NULL;
	return &type->v[at];
}

void timeline_begin(struct timeline *t, struct store *st, const struct header *h)
{
	struct timeline_type *type = type_of(t, h);
	int64_t duration = h->duration_ns > 0 ? h->duration_ns : 0;
	struct moment m = {.step = h->time_ns >> type->shift,
			   .first_ns = h->time_ns,
			   .end_ns = sum_or_max(h->time_ns, duration),
			   .duration_ns = duration,
			   .merged = merged_of(st, h)};

	t->now = h->time_ns ? moment_at(type, &m) : &type->timeless;
	add_moment(t, t->now, &m);
	if (!t->now->p) {
		t->now->p = profile_new(st);
		header_copy(&t->now->p->h, h);
	}
	if (type->n <= TIMELINE_MOMENTS)
		return;
	while (type->n > TIMELINE_MOMENTS)
		double_step(t, type);
	if (h->time_ns)
		t->now = &type->v[place_of(type, h->time_ns >> type->shift)];
}

void timeline_sample(struct timeline *t, uint32_t stack, uint32_t labelset,
		     const int64_t *values)
{
	if (!t->status)
		t->status = profile_add(t->now->p, stack, labelset, values, &t->err);
}

int timeline_status(const struct timeline *t, struct err *e)
{
	if (t->status)
		*e = t->err;
	return t->status;
}

int timeline_root_by(struct timeline *t, char *const *keys, size_t n, struct err *e)
{
	struct timeline_type *type;
	size_t i, k;
	int r = 0;

	for (i = 0; i < t->n && !r; i++) {
		type = &t->types[i];
		for (k = 0; k < type->n && !r; k++)
			r = profile_root_by(type->v[k].p, keys, n, e);
		if (type->timeless.p && !r)
			r = profile_root_by(type->timeless.p, keys, n, e);
	}
	return r;
}

/* --- bins ------------------------------------------------------------------------------- */

static int64_t span_of(int64_t from_ns, int64_t to_ns)
{
	int64_t span;

	return __builtin_sub_overflow(to_ns, from_ns, &span) ? INT64_MAX : span;
}

/* Values of several machines are of the same time; pauses are of none. */
static int64_t wall_of(const struct bin *b, const struct moment *v, bool is_window)
{
	int64_t first = v[0].first_ns, end = first, sum = 0, span;
	size_t i;

	for (i = 0; i < b->n; i++) {
		sum = sum_or_max(sum, v[i].duration_ns);
		if (v[i].first_ns < first)
			first = v[i].first_ns;
		if (v[i].end_ns > end)
			end = v[i].end_ns;
	}
	span = span_of(first, end);
	if (sum <= 0)
		return span_of(b->start_ns, b->until_ns);
	span = span < sum ? span : sum;
	/* what starts in a window may end after it, as what is in it may have begun before */
	if (span > span_of(b->start_ns, b->until_ns) && is_window)
		span = span_of(b->start_ns, b->until_ns);
	return span > 0 ? span : 1;
}

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

/* The least round length from `least` on that makes at most `most` windows. */
static int64_t choose_window(int64_t least, const struct moment *v, size_t n, size_t most)
{
	static const int rounds[] = {1,	  2,   5,   10,	  15,	20,   30,    60,   120,
				     300, 600, 900, 1800, 3600, 7200, 21600, 43200};
	int64_t w;
	size_t i;

	/* milliseconds at least: two numbers of windows are never too far apart to subtract */
	for (w = SECOND / 1000; w < SECOND; w *= 10) {
		if (w >= least && is_fit(w, least) && is_enough(w, v, n, most))
			return w;
	}
	for (i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		w = rounds[i] * SECOND;
		if (w >= least && is_fit(w, least) && is_enough(w, v, n, most))
			return w;
	}
	for (w = 86400 * SECOND; w < INT64_MAX / 4; w *= 2) {
		if (w >= least && is_enough(w, v, n, most))
			break;
	}
	return w;
}

static void bin_windows(struct bins *b, const struct moment *v, size_t n, size_t most)
{
	int64_t longest = 1, w, number, before = 0;
	struct bin *bin;
	size_t i;

	for (i = 0; i < n; i++) {
		if (v[i].duration_ns / v[i].merged > longest)
			longest = v[i].duration_ns / v[i].merged;
	}
	w = choose_window(longest, v, n, most);
	b->windows = true;
	for (i = 0; i < n; i++) {
		number = window_of(v[i].first_ns, w);
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
	size_t i, k;

	*b = (struct bins){.v = xcalloc(t->n + 1, sizeof(*b->v))};
	if (t->n <= most && follow_one_another(t->v, t->n))
		bin_each(b, t->v, t->n);
	else
		bin_windows(b, t->v, t->n, most);
	for (i = 0; i < b->n; i++) {
		b->v[i].wall_ns = wall_of(&b->v[i], t->v + b->v[i].first, b->windows);
		for (k = 0; k < b->v[i].n; k++)
			b->v[i].merged = sum_or_max(b->v[i].merged,
						    t->v[b->v[i].first + k].merged);
	}
}

void bins_release(struct bins *b)
{
	free(b->v);
	*b = (struct bins){0};
}
