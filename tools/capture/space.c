/* SPDX-License-Identifier: Apache-2.0 */
/* An address space: the code that was mapped into it, by time, and what is there now. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/capture/procread.h"
#include "tools/capture/procs.h"
#include "tools/capture/unwinder.h"

#define VMAS_MAX 65536 /* of one space; the oldest give way */
#define LIVE_MAX 65536 /* of one space; more are not known to the unwinder */

struct space *space_new(void)
{
	struct space *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->live_changed = true;
	return s;
}

static void put_live(struct procs *ps, struct space *s)
{
	size_t i;

	for (i = 0; i < s->nlive; i++)
		procs_file_put(ps, s->live[i].file);
	free(s->live);
}

void space_put(struct procs *ps, struct space *s)
{
	size_t i;

	if (--s->refs)
		return;
	unwind_run_put(s->run);
	for (i = 0; i < s->n; i++)
		procs_file_put(ps, s->vmas[i].file);
	put_live(ps, s);
	procs_file_put(ps, s->exe);
	free(s->env);
	free(s->vmas);
	free(s);
}

static struct code_file *ref(struct code_file *f)
{
	if (f)
		f->refs++;
	return f;
}

struct space *space_copy(const struct space *from)
{
	struct space *s = xcalloc(1, sizeof(*s));
	size_t i;

	*s = *from;
	s->refs = 1;
	s->run = NULL;
	s->live_changed = true;
	s->env = procread_env_copy(s->env);
	s->cap = s->n;
	s->vmas = s->n ? xmemdup(from->vmas, s->n * sizeof(*s->vmas)) : NULL;
	s->live_cap = s->nlive;
	s->live = s->nlive ? xmemdup(from->live, s->nlive * sizeof(*s->live)) : NULL;
	for (i = 0; i < s->n; i++)
		ref(s->vmas[i].file);
	for (i = 0; i < s->nlive; i++)
		ref(s->live[i].file);
	ref(s->exe);
	return s;
}

struct vma *space_find(struct space *s, uint64_t addr, uint64_t time_ns)
{
	size_t i;

	for (i = s->n; i-- > 0;) {
		struct vma *v = &s->vmas[i];

		if (addr >= v->start && addr < v->end && v->from_ns <= time_ns)
			return v;
	}
	return NULL;
}

/* Drop what later mappings cover: programs that map and unmap code for ever would pile it up. */
static void compact(struct procs *ps, struct space *s)
{
	size_t i, j, n = 0;

	for (i = 0; i < s->n; i++) {
		for (j = i + 1; j < s->n; j++) {
			if (s->vmas[j].start <= s->vmas[i].start &&
			    s->vmas[j].end >= s->vmas[i].end)
				break;
		}
		if (j < s->n || (s->n - i) + n > VMAS_MAX)
			procs_file_put(ps, s->vmas[i].file);
		else
			s->vmas[n++] = s->vmas[i];
	}
	s->n = n;
}

/* --- what is there now --------------------------------------------------------------------- */

/* The first that ends after addr. */
static size_t live_after(const struct space *s, uint64_t addr)
{
	size_t low = 0, high = s->nlive, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (s->live[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Put n new ones in the place of `old` at i. The references are the caller's concern. */
static void splice(struct space *s, size_t i, size_t old, const struct live *new,
		   size_t n)
{
	while (s->live_cap < s->nlive + n)
		XGROW(s->live, s->live_cap, s->live_cap);
	memmove(s->live + i + n, s->live + i + old,
		(s->nlive - i - old) * sizeof(*s->live));
	memcpy(s->live + i, new, n * sizeof(*new));
	s->nlive += n - old;
}

/* Lay v over what is there: that is cut, or goes. */
static void live_add(struct procs *ps, struct space *s, const struct vma *v)
{
	struct live parts[3], l;
	size_t i = live_after(s, v->start), j, n = 0;

	if (v->start >= v->end || s->nlive >= LIVE_MAX)
		return;
	s->live_changed = true;
	/* a compiler's code grows piece by piece */
	if (!v->file && i > 0 && !s->live[i - 1].file && s->live[i - 1].end == v->start &&
	    (i == s->nlive || s->live[i].start >= v->end)) {
		s->live[i - 1].end = v->end;
		return;
	}
	if (i < s->nlive && s->live[i].start < v->start) {
		l = s->live[i];
		l.end = v->start;
		ref(l.file);
		parts[n++] = l;
	}
	ref(v->file);
	parts[n++] = (struct live){v->start, v->end, v->offset, v->file};
	for (j = i; j < s->nlive && s->live[j].start < v->end; j++) {
		l = s->live[j];
		if (l.end > v->end) {
			l.offset += v->end - l.start;
			l.start = v->end;
			ref(l.file);
			parts[n++] = l;
		}
		procs_file_put(ps, s->live[j].file);
	}
	splice(s, i, j - i, parts, n);
}

void space_add(struct procs *ps, struct space *s, struct vma v)
{
	live_add(ps, s, &v);
	/* a power of two that is never small: the cost is spread over as many mappings */
	if (s->n >= 256 && !(s->n & (s->n - 1)))
		compact(ps, s);
	XGROW(s->vmas, s->n, s->cap);
	s->vmas[s->n++] = v;
}
