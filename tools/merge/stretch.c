/* SPDX-License-Identifier: Apache-2.0 */
/* Joining intervals. */
#include "tools/merge/stretch.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

void stretches_release(struct stretches *s)
{
	free(s->v);
	*s = (struct stretches){0};
}

static int64_t clamp(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void stretches_add(struct stretches *s, int64_t time_ns, int64_t duration_ns)
{
	__int128 length = duration_ns > 0 ? duration_ns : 0;
	struct stretch new = {.from_ns = time_ns,
			      .to_ns = clamp(time_ns + length),
			      .reach_from_ns = clamp(time_ns - length / 4),
			      .reach_ns = clamp(time_ns + length + length / 4),
			      .profiles = 1};
	size_t at, end;

	/* most come in order of time */
	for (at = s->n; at && s->v[at - 1].reach_ns >= new.reach_from_ns; at--)
		;
	for (end = at; end < s->n && s->v[end].reach_from_ns <= new.reach_ns; end++) {
		new.from_ns = min(new.from_ns, s->v[end].from_ns);
		new.to_ns = max(new.to_ns, s->v[end].to_ns);
		new.reach_from_ns = min(new.reach_from_ns, s->v[end].reach_from_ns);
		new.reach_ns = max(new.reach_ns, s->v[end].reach_ns);
		new.profiles += s->v[end].profiles;
	}
	if (end == at)
		XGROW(s->v, s->n, s->cap);
	memmove(s->v + at + 1, s->v + end, (s->n - end) * sizeof(*s->v));
	s->n = s->n - (end - at) + 1;
	s->v[at] = new;
}
