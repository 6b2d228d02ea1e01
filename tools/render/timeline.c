/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping samples apart by time. */
#include "tools/render/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/merge.h"
#include "lib/query/rooted.h"
#include "tools/render/targets.h"

void timeline_init(struct timeline *t)
{
	*t = (struct timeline){0};
}

void timeline_release(struct timeline *t)
{
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->types[i].n; k++) {
			profile_free(t->types[i].v[k].p);
			free(t->types[i].v[k].shares);
		}
		profile_free(t->types[i].timeless.p);
		free(t->types[i].timeless.shares);
		free(t->types[i].v);
		targets_release(&t->types[i].targets);
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

/* Of a target there is one share in a moment. */
static void moment_share(struct moment *m, const struct share *s)
{
	size_t i;

	for (i = 0; i < m->nshares && m->shares[i].set != s->set; i++)
		;
	if (i < m->nshares) {
		share_add(&m->shares[i], s);
		return;
	}
	XGROW(m->shares, m->nshares, m->shares_cap);
	m->shares[m->nshares++] = *s;
}

/* All of `from`, whose profile and shares are freed if there are any, into m. */
static void add_moment(struct timeline *t, struct moment *m, struct moment *from)
{
	size_t i;

	if (from->first_ns < m->first_ns)
		m->first_ns = from->first_ns;
	if (from->end_ns > m->end_ns)
		m->end_ns = from->end_ns;
	for (i = 0; i < from->nshares; i++)
		moment_share(m, &from->shares[i]);
	free(from->shares);
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
	return &type->v[at];
}

/* What the last profile's samples have in common is known now. */
static void end_profile(struct timeline *t)
{
	if (t->now)
		moment_share(t->now, &t->share);
	t->now = NULL;
}

void timeline_begin(struct timeline *t, struct store *st, const struct header *h)
{
	struct timeline_type *type = type_of(t, h);
	int64_t duration = h->duration_ns > 0 ? h->duration_ns : 0;
	struct moment m = {.step = h->time_ns >> type->shift,
			   .first_ns = h->time_ns,
			   .end_ns = sum_or_max(h->time_ns, duration)},
		      *now;

	end_profile(t);
	t->st = st;
	t->share = (struct share){.set = TARGET_NONE,
				  .first_ns = h->time_ns,
				  .end_ns = m.end_ns,
				  .duration_ns = duration,
				  .profiles = 1,
				  .merged = merged_of(st, h)};
	now = h->time_ns ? moment_at(type, &m) : &type->timeless;
	add_moment(t, now, &m);
	if (!now->p) {
		now->p = profile_new(st);
		header_copy(&now->p->h, h);
	}
	if (type->n > TIMELINE_MOMENTS) {
		while (type->n > TIMELINE_MOMENTS)
			double_step(t, type);
		if (h->time_ns)
			now = &type->v[place_of(type, h->time_ns >> type->shift)];
	}
	t->now = now;
}

void timeline_sample(struct timeline *t, uint32_t stack, uint32_t labelset,
		     const int64_t *values)
{
	if (t->share.set == TARGET_NONE)
		t->share.set = t->seen = labelset;
	if (labelset != t->seen)
		t->share.set = labels_in_both(t->st, t->share.set, labelset);
	t->seen = labelset;
	if (!t->status)
		t->status = profile_add(t->now->p, stack, labelset, values, &t->err);
}

void timeline_end(struct timeline *t)
{
	size_t i;

	end_profile(t);
	for (i = 0; i < t->n; i++)
		targets_find(&t->types[i], t->st);
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
