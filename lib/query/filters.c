/* SPDX-License-Identifier: Apache-2.0 */
/* Stack filters (focus, ignore, show, hide, show-from), then granularity. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/stack.h"

enum choice { CHOICE_UNKNOWN, CHOICE_NEITHER, CHOICE_FOCUSED, CHOICE_IGNORED };

void filters_reset(struct filters *f)
{
	int i;

	for (i = 0; i < STACK_FILTERS; i++)
		patterns_reset(&f->patterns[i]);
	memo_release(&f->locations);
	memo_release(&f->from);
	memo_release(&f->coarse);
	memo_release(&f->stacks);
	free(f->chosen);
	f->chosen = NULL;
	f->nchosen = 0;
}

void filters_release(struct filters *f)
{
	int i;

	filters_reset(f);
	for (i = 0; i < STACK_FILTERS; i++)
		patterns_release(&f->patterns[i]);
	free(f->scratch);
	*f = (struct filters){0};
}

/* Focus, ignore, show or hide given: pprof's one pass that also drops empty stacks. */
static bool filters_by_name(const struct filters *f)
{
	return f->patterns[FILTER_FOCUS].n || f->patterns[FILTER_IGNORE].n ||
	       f->patterns[FILTER_SHOW].n || f->patterns[FILTER_HIDE].n;
}

static bool filters_coarsen(const struct filters *f)
{
	return f->no_inlines || (f->granularity != GRANULARITY_KEEP &&
				 f->granularity != GRANULARITY_ADDRESSES);
}

bool filters_active(const struct filters *f)
{
	return filters_by_name(f) || f->patterns[FILTER_SHOW_FROM].n ||
	       filters_coarsen(f);
}

static bool line_matches(struct patterns *p, const struct store *st, const struct line *l)
{
	const struct function *fn = &st->functions[l->function];

	return patterns_match(p, st, fn->name) || patterns_match(p, st, fn->file);
}

static bool mapping_matches(struct patterns *p, const struct store *st,
			    const struct location *l)
{
	return l->mapping != ID_NONE &&
	       patterns_match(p, st, st->mappings[l->mapping].file);
}

static bool location_matches(struct patterns *p, const struct store *st, uint32_t id)
{
	const struct location *l = &st->locations[id];
	uint32_t i;

	for (i = 0; i < l->nlines; i++) {
		if (line_matches(p, st, &st->lines[l->lines + i]))
			return true;
	}
	return mapping_matches(p, st, l);
}

static enum choice choose(struct filters *f, const struct store *st, uint32_t id)
{
	struct patterns *focus = &f->patterns[FILTER_FOCUS],
			*ignore = &f->patterns[FILTER_IGNORE];

	if (ignore->n && location_matches(ignore, st, id))
		return CHOICE_IGNORED;
	return !focus->n || location_matches(focus, st, id) ? CHOICE_FOCUSED
							    : CHOICE_NEITHER;
}

static enum choice choice_of(struct filters *f, const struct store *st, uint32_t id)
{
	size_t cap = f->nchosen;

	if (id >= f->nchosen) {
		XRESERVE(f->chosen, cap, st->nlocations);
		memset(f->chosen + f->nchosen, CHOICE_UNKNOWN, cap - f->nchosen);
		f->nchosen = cap;
	}
	if (f->chosen[id] == CHOICE_UNKNOWN)
		f->chosen[id] = (uint8_t)choose(f, st, id);
	return f->chosen[id];
}

/* Drop from lines those that match (keep false), or those that do not; the number left. */
static uint32_t sift(struct patterns *p, const struct store *st, struct line *lines,
		     uint32_t n, bool keep)
{
	uint32_t i, left = 0;

	for (i = 0; i < n; i++) {
		if (line_matches(p, st, &lines[i]) == keep)
			lines[left++] = lines[i];
	}
	return left;
}

static uint32_t hide_and_show(struct filters *f, struct store *st, uint32_t id)
{
	struct patterns *hide = &f->patterns[FILTER_HIDE],
			*show = &f->patterns[FILTER_SHOW];
	struct location l = st->locations[id];
	struct line *lines = lines_copy(st, id);
	uint32_t n = l.nlines, result = ID_NONE;

	if (hide->n && location_matches(hide, st, id)) {
		n = mapping_matches(hide, st, &l) ? 0 : sift(hide, st, lines, n, false);
		if (!n)
			goto out;
	}
	if (show->n) {
		if (!mapping_matches(show, st, &l))
			n = sift(show, st, lines, n, true);
		if (!n)
			goto out;
	}
	result = n == l.nlines
			 ? id
			 : store_location(st, l.mapping, l.address, l.folded, lines, n);
out:
	free(lines);
	return result;
}

static uint32_t trim_from(struct filters *f, struct store *st, uint32_t id)
{
	struct patterns *p = &f->patterns[FILTER_SHOW_FROM];
	struct location l = st->locations[id];
	struct line *lines;
	uint32_t i, result;

	if (mapping_matches(p, st, &l))
		return id;
	lines = lines_copy(st, id);
	for (i = l.nlines; i && !line_matches(p, st, &lines[i - 1]); i--)
		;
	if (!i || i == l.nlines)
		result = i ? id : ID_NONE;
	else
		result = store_location(st, l.mapping, l.address, l.folded, lines, i);
	free(lines);
	return result;
}

static void coarsen_line(struct store *st, enum granularity g, struct line *l)
{
	struct function fn = st->functions[l->function];

	l->column = 0;
	if (g == GRANULARITY_LINES)
		return;
	l->line = 0;
	fn.start_line = 0;
	if (g == GRANULARITY_FUNCTIONS)
		fn.file = 0;
	else
		fn.name = fn.system_name = 0;
	l->function = store_function(st, &fn);
}

static uint32_t coarsen(struct filters *f, struct store *st, uint32_t id)
{
	struct location l = st->locations[id];
	struct line *lines = lines_copy(st, id);
	enum granularity g = f->granularity;
	bool exact = g == GRANULARITY_KEEP || g == GRANULARITY_ADDRESSES;
	uint32_t first = f->no_inlines && l.nlines ? l.nlines - 1 : 0, i, result;

	if (g == GRANULARITY_BINARIES && l.mapping != ID_NONE)
		first = l.nlines;
	else if (g ==
		 GRANULARITY_BINARIES) /* no binary: a note like "[truncated]" stays */
		g = GRANULARITY_FUNCTIONS;
	for (i = first; i < l.nlines && !exact; i++)
		coarsen_line(st, g, &lines[i]);
	result = store_location(st, l.mapping, exact ? l.address : 0, l.folded,
				lines + first, l.nlines - first);
	free(lines);
	return result;
}

/* `make` remembered by location. */
static uint32_t remembered(struct memo *m, struct filters *f, struct store *st,
			   uint32_t id,
			   uint32_t (*make)(struct filters *, struct store *, uint32_t))
{
	uint32_t v = *memo_at(m, id, st->nlocations);

	if (v == MEMO_UNKNOWN) {
		v = make(f, st, id);
		*memo_at(m, id, st->nlocations) = v;
	}
	return v;
}

/* The four filters by name over frames; false when the stack is to be dropped. */
static bool filter_by_name(struct filters *f, struct store *st, uint32_t *frames,
			   uint32_t *n)
{
	bool cut = f->patterns[FILTER_HIDE].n || f->patterns[FILTER_SHOW].n,
	     focused = false;
	uint32_t i, left = 0, id;

	for (i = 0; i < *n; i++) {
		switch (choice_of(f, st, frames[i])) {
		case CHOICE_IGNORED:
			return false;
		case CHOICE_FOCUSED:
			focused = true;
			break;
		default:
			break;
		}
	}
	if (!focused)
		return false;
	for (i = 0; cut && i < *n; i++) {
		id = remembered(&f->locations, f, st, frames[i], hide_and_show);
		if (id != ID_NONE)
			frames[left++] = id;
	}
	if (cut)
		*n = left;
	return *n > 0;
}

static bool filter_from(struct filters *f, struct store *st, uint32_t *frames,
			uint32_t *n)
{
	uint32_t i, id, end = 0;

	/* every match is trimmed, the one nearest the root ends the stack */
	for (i = 0; i < *n; i++) {
		id = remembered(&f->from, f, st, frames[i], trim_from);
		if (id == ID_NONE)
			continue;
		frames[i] = id;
		end = i + 1;
	}
	*n = end;
	return end > 0;
}

static uint32_t filter_now(struct filters *f, struct store *st, uint32_t stack)
{
	uint32_t n = st->stacks[stack].n, i, left = 0, id;
	uint32_t *frames;

	XRESERVE(f->scratch, f->scratch_cap, n + 1);
	frames = f->scratch;
	if (n)
		memcpy(frames, st->frames + st->stacks[stack].off, n * sizeof(*frames));
	if (filters_by_name(f) && !filter_by_name(f, st, frames, &n))
		return SAMPLE_DROP;
	if (f->patterns[FILTER_SHOW_FROM].n && !filter_from(f, st, frames, &n))
		return SAMPLE_DROP;
	if (filters_coarsen(f)) {
		for (i = 0; i < n; i++) {
			id = remembered(&f->coarse, f, st, frames[i], coarsen);
			/* a run inside one binary is one frame: what is left are the crossings */
			if (f->granularity != GRANULARITY_BINARIES || !left ||
			    frames[left - 1] != id)
				frames[left++] = id;
		}
		n = left;
	}
	return store_stack(st, frames, n);
}

uint32_t filters_stack(struct filters *f, struct store *st, uint32_t stack)
{
	uint32_t *known = memo_at(&f->stacks, stack, st->nstacks), result;

	if (*known != MEMO_UNKNOWN)
		return *known;
	result = filter_now(f, st, stack);
	*memo_at(&f->stacks, stack, st->nstacks) = result;
	return result;
}
