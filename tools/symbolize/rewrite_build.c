/* SPDX-License-Identifier: Apache-2.0 */
/* What was found becomes part of the profile. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/ui/utf8.h"
#include "tools/symbolize/rewrite_internal.h"

/* Of the bytes at the start, how many are UTF-8. */
static size_t valid_run(struct str s)
{
	size_t i, len;
	uint32_t c;

	for (i = 0; i < s.n; i += len) {
		len = utf8_decode(s.p + i, s.n - i, &c);
		if (c == UINT32_MAX)
			break;
	}
	return i;
}

uint32_t put_text(struct store *st, struct str s)
{
	char replacement[4];
	size_t n = valid_run(s);
	struct buf b;
	uint32_t id;

	if (n == s.n)
		return intern_put(&st->strings, s.p, s.n);
	buf_init(&b, SIZE_MAX);
	while (n < s.n) {
		buf_put(&b, s.p, n);
		buf_put(&b, replacement, utf8_encode(UTF8_REPLACEMENT, replacement));
		s.p += n + 1;
		s.n -= n + 1;
		n = valid_run(s);
	}
	buf_put(&b, s.p, n);
	id = intern_put(&st->strings, (const char *)b.data, b.len);
	buf_release(&b);
	return id;
}

/* One function for each file that it has lines in. */
static uint32_t put_function(struct rewrite *w, struct job *j, struct entry *en,
			     const struct sym_location *l)
{
	uint64_t key = (uint64_t)l->function << 32 | l->file;
	uint32_t id = u64map_get(&j->functions, key);
	struct function f = {0};
	struct name nm;

	if (id != U64MAP_NONE)
		return id;
	nm = objects_name(w->objects, en, l->function);
	f.name = put_text(w->st, nm.name);
	f.system_name = put_text(w->st, nm.system);
	f.file = put_text(w->st, object_string(en->object, l->file));
	f.start_line = object_function(en->object, l->function).start_line;
	id = store_function(w->st, &f);
	u64map_put(&j->functions, key, id);
	return id;
}

/* The lines of a location in its job's object; how many. */
static uint32_t put_lines(struct rewrite *w, uint32_t use, struct line *v)
{
	struct job *j = &w->jobs[location_of(w, use)->mapping];
	struct entry *en = &w->objects->v[j->entry];
	uint32_t n = 0, at = w->found[use];
	struct sym_location l;

	for (; at != SYM_NONE && n < LINES_MAX; at = l.caller) {
		l = object_location(en->object, at);
		v[n++] = (struct line){put_function(w, j, en, &l), l.line, l.column};
	}
	if (j->kernel && n)
		keep_name(w, use, &v[n - 1]);
	return n;
}

static uint32_t new_mapping(struct rewrite *w, uint32_t id)
{
	struct mapping m;

	if (id == ID_NONE)
		return ID_NONE;
	if (w->mapping[id] == ID_NONE) {
		m = w->st->mappings[id];
		m.flags |= w->flags[id];
		w->mapping[id] = store_mapping(w->st, &m);
	}
	return w->mapping[id];
}

static uint32_t new_location(struct rewrite *w, uint32_t id)
{
	struct location l = *location_of(w, id);
	uint32_t old = id < w->nlocations ? id : id - (uint32_t)w->nlocations;
	struct line lines[LINES_MAX], *copy = NULL;
	uint32_t mapping = new_mapping(w, l.mapping), n;

	if (w->location[id] != ID_NONE)
		return w->location[id];
	if (w->found[id] == BY_JIT) {
		w->location[id] = store_location(w->st, mapping, l.address, l.folded,
						 &w->jit_line[id], 1);
	} else if (w->found[id] != SYM_NONE) {
		n = put_lines(w, id, lines);
		w->location[id] =
			store_location(w->st, mapping, l.address, l.folded, lines, n);
	} else if (mapping == l.mapping) {
		w->location[id] = old;
	} else {
		/* the store's own lines may move while it takes the copy */
		if (l.nlines)
			copy = xmemdup(store_lines(w->st, old), l.nlines * sizeof(*copy));
		w->location[id] = store_location(w->st, mapping, l.address, l.folded,
						 copy, l.nlines);
		free(copy);
	}
	return w->location[id];
}

static uint32_t new_stack(struct rewrite *w, uint32_t id, struct buf *scratch)
{
	uint32_t n, i, loc;

	store_frames(w->st, id, &n);
	buf_clear(scratch);
	for (i = 0; i < n; i++) {
		loc = new_location(w, use_of(w, store_frames(w->st, id, &n), i));
		buf_put(scratch, &loc, sizeof(loc));
	}
	return store_stack(w->st, (const uint32_t *)scratch->data, n);
}

/* The samples again, over new stacks. */
static int over_new_stacks(struct rewrite *w, struct profile **out, struct err *e)
{
	struct profile *p = profile_new(w->st);
	size_t nstacks = w->st->nstacks, i;
	uint32_t *stack = xmalloc((nstacks + 1) * sizeof(*stack));
	struct buf scratch = BUF_INIT(SIZE_MAX);
	int r = 0;

	header_copy(&p->h, &w->p->h);
	p->main_mapping = new_mapping(w, w->p->main_mapping);
	memset(stack, 0xff, nstacks * sizeof(*stack));
	store_reserve(w->st, w->uses, nstacks, w->st->nframes);
	profile_reserve(p, w->p->nsamples);
	buf_reserve(&scratch, 1);
	for (i = 0; i < w->p->nsamples && !r; i++) {
		uint32_t old = w->p->samples[i].stack;

		if (stack[old] == ID_NONE)
			stack[old] = new_stack(w, old, &scratch);
		r = profile_add(p, stack[old], w->p->samples[i].labelset,
				profile_values(w->p, i), e);
	}
	free(stack);
	buf_release(&scratch);
	if (r)
		profile_free(p);
	else
		*out = p;
	return r;
}

/* By all that makes a mapping another one, but for what rewriting changes. */
static int by_place(const void *a, const void *b, void *store)
{
	const struct mapping *x =
		&((const struct store *)store)->mappings[*(uint32_t *)a];
	const struct mapping *y =
		&((const struct store *)store)->mappings[*(uint32_t *)b];

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->limit != y->limit)
		return x->limit < y->limit ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->build_id > y->build_id) - (x->build_id < y->build_id);
}

static bool mappings_stay_apart(const struct rewrite *w)
{
	uint32_t *ids = xmalloc((w->nmappings + 1) * sizeof(*ids));
	bool apart = true;
	size_t i;

	for (i = 0; i < w->nmappings; i++)
		ids[i] = i;
	qsort_r(ids, w->nmappings, sizeof(*ids), by_place, w->st);
	for (i = 1; i < w->nmappings && apart; i++)
		apart = by_place(&ids[i - 1], &ids[i], w->st) != 0;
	free(ids);
	return apart;
}

/*
 * Is what was different different still, with its lines? Then so are stacks and samples. Among
 * locations without lines a new line makes no two alike.
 */
static bool all_stay_apart(const struct rewrite *w)
{
	const struct location *l;
	size_t i;

	if (w->used)
		return false;
	for (i = 0; i < w->nlocations; i++) {
		l = location_of(w, i);
		if (l->nlines &&
		    (l->mapping == ID_NONE ? w->jit != NULL : w->flags[l->mapping] != 0))
			return false;
	}
	return mappings_stay_apart(w);
}

/* How many lines locations are to have. */
static size_t count_lines(const struct rewrite *w)
{
	const struct object *ob;
	size_t i, sum = 0, n;
	uint32_t at;

	for (i = 0; i < w->nlocations; i++) {
		if (w->found[i] == BY_JIT || w->found[i] == SYM_NONE) {
			sum++;
			continue;
		}
		ob = w->objects->v[w->jobs[location_of(w, i)->mapping].entry].object;
		at = w->found[i];
		for (n = 0; at != SYM_NONE && n < LINES_MAX; n++)
			at = object_location(ob, at).caller;
		sum += n;
	}
	return sum;
}

static void in_place(struct rewrite *w)
{
	struct line lines[LINES_MAX];
	size_t i;

	store_reserve_lines(w->st, count_lines(w));
	for (i = 0; i < w->nmappings; i++)
		w->st->mappings[i].flags |= w->flags[i];
	for (i = 0; i < w->nlocations; i++) {
		if (w->found[i] == BY_JIT)
			store_set_lines(w->st, i, &w->jit_line[i], 1);
		else if (w->found[i] != SYM_NONE)
			store_set_lines(w->st, i, lines, put_lines(w, i, lines));
	}
}

int rebuild(struct rewrite *w, struct profile **out, struct err *e)
{
	if (!all_stay_apart(w))
		return over_new_stacks(w, out, e);
	in_place(w);
	*out = w->p;
	return 0;
}
