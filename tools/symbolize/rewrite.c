/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses there are to be looked up, and what was found. */
#include "tools/symbolize/rewrite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/symbolize/rewrite_internal.h"

#define SYMBOLIZED                                                                       \
	(MAPPING_HAS_FUNCTIONS | MAPPING_HAS_FILENAMES | MAPPING_HAS_LINE_NUMBERS)

/* The mapping itself, or what it is a piece of. */
static struct mapping file_mapping(const struct rewrite *w, uint32_t id)
{
	struct mapping m = w->st->mappings[id], whole;

	return w->anonymous && pieces_around(&w->pieces, w->st, &m, &whole) ? whole : m;
}

static bool is_ours(const struct rewrite *w, uint32_t id)
{
	struct mapping whole = file_mapping(w, id), *m = &whole;

	if (is_kernel_code(w, id))
		return w->force || !(m->flags & SYMBOLIZED & ~MAPPING_HAS_FUNCTIONS);
	if ((w->st->mappings[id].flags & SYMBOLIZED) && !w->force)
		return false;
	/* the vDSO is in no file system, but someone may have kept its image */
	if (!strcmp(store_cstr(w->st, m->file), "[vdso]"))
		return store_cstr(w->st, m->build_id)[0] != 0;
	return !store_is_kernel_mapping(w->st, m) &&
	       !is_no_file(store_cstr(w->st, m->file));
}

/* What is looked up: of a return address the call before it. */
static uint64_t address_of(const struct rewrite *w, uint32_t use)
{
	uint64_t address = location_of(w, use)->address;

	return address && use >= w->nlocations ? address - 1 : address;
}

static bool is_in_kernel(const struct rewrite *w, uint32_t location)
{
	uint32_t m = w->st->locations[location].mapping;

	return m != ID_NONE && store_is_kernel_mapping(w->st, &w->st->mappings[m]);
}

uint32_t use_of(const struct rewrite *w, const uint32_t *frames, uint32_t i)
{
	if (w->uses == w->nlocations || !i ||
	    (is_in_kernel(w, frames[i - 1]) && !is_in_kernel(w, frames[i])))
		return frames[i];
	return frames[i] + (uint32_t)w->nlocations;
}

static void find_uses(struct rewrite *w)
{
	const uint32_t *frames;
	uint32_t n, k;
	size_t i;

	w->uses = 2 * w->nlocations;
	w->used = xcalloc(w->uses + 1, sizeof(*w->used));
	for (i = 0; i < w->p->nsamples; i++) {
		frames = store_frames(w->st, w->p->samples[i].stack, &n);
		for (k = 0; k < n; k++)
			w->used[use_of(w, frames, k)] = true;
	}
}

static uint32_t used_mapping(const struct rewrite *w, uint32_t use)
{
	return w->used && !w->used[use] ? ID_NONE : location_of(w, use)->mapping;
}

/* Counting sort; locations without a mapping are left out. */
static void sort_locations(struct rewrite *w)
{
	size_t i;
	uint32_t m, sum = 0, n;

	for (i = 0; i < w->uses; i++)
		if ((m = used_mapping(w, i)) != ID_NONE)
			w->first[m]++;
	for (i = 0; i <= w->nmappings; i++) {
		n = w->first[i];
		w->first[i] = sum;
		sum += n;
	}
	for (i = 0; i < w->uses; i++)
		if ((m = used_mapping(w, i)) != ID_NONE)
			w->by_mapping[w->first[m]++] = i;
	for (i = w->nmappings; i > 0; i--)
		w->first[i] = w->first[i - 1];
	w->first[0] = 0;
}

static void flag(uint32_t *flags, const struct object *ob, uint32_t at)
{
	struct sym_location l;
	uint32_t n;

	for (n = 0; at != SYM_NONE && n < LINES_MAX; at = l.caller, n++) {
		if ((*flags & SYMBOLIZED) == SYMBOLIZED)
			return;
		l = object_location(ob, at);
		*flags |= MAPPING_HAS_FUNCTIONS | (l.file ? MAPPING_HAS_FILENAMES : 0) |
			  (l.line ? MAPPING_HAS_LINE_NUMBERS : 0);
	}
}

static void count(struct entry *en, const struct sym_answer *a)
{
	en->addresses++;
	if (a->location != SYM_NONE)
		en->named[a->source]++;
	else
		en->bare++;
	if (a->reason)
		en->reasons[a->reason]++;
}

static bool has_line(const struct rewrite *w, const struct location *l)
{
	return l->nlines > 1 || store_lines(w->st, l - w->st->locations)->line;
}

static struct job job_of(struct rewrite *w, uint32_t id)
{
	struct mapping m = file_mapping(w, id);
	uint32_t *locs = w->by_mapping + w->first[id];
	size_t n = w->first[id + 1] - w->first[id], i;
	struct entry *en = objects_get(w->objects, store_cstr(w->st, m.file),
				       store_cstr(w->st, m.build_id));
	struct job j = {.entry = en - w->objects->v, .kernel = is_kernel_code(w, id)};
	struct sym_answer bad;

	en->quiet = j.kernel && object_state(en->object) == SYM_NO_FILE &&
		    !w->objects->paths.debuginfod;
	if (en->quiet)
		return j;
	j.vaddrs = xcalloc(n + 1, sizeof(*j.vaddrs));
	j.which = xcalloc(n + 1, sizeof(*j.which));
	for (i = 0; i < n; i++) {
		const struct location *l = location_of(w, locs[i]);

		if (l->nlines && !w->force && !(j.kernel && !has_line(w, l)))
			continue;
		if (m.file != w->st->mappings[id].file)
			en->anonymous++;
		bad = (struct sym_answer){.location = SYM_NONE};
		bad.reason = object_vaddr(en->object, m.start, m.limit, m.offset,
					  address_of(w, locs[i]), &j.vaddrs[j.n]);
		if (bad.reason)
			count(en, &bad);
		else
			j.which[j.n++] = locs[i];
	}
	j.answers = xcalloc(j.n + 1, sizeof(*j.answers));
	return j;
}

/* The answers to one mapping's addresses. */
static void apply_job(struct rewrite *w, uint32_t id)
{
	struct job *j = &w->jobs[id];
	struct entry *en = &w->objects->v[j->entry];
	bool lines = j->n && object_has_lines(en->object);
	size_t i;

	for (i = 0; i < j->n; i++) {
		if (j->kernel)
			check_kernel(w, j, i);
		count(en, &j->answers[i]);
		if (j->answers[i].location == SYM_NONE ||
		    (j->answers[i].source != SYM_DWARF && j->kernel &&
		     captured(w, j->which[i])))
			continue;
		w->found[j->which[i]] = j->answers[i].location;
		w->flags[id] |= lines ? MAPPING_HAS_INLINE_FRAMES : 0;
		flag(&w->flags[id], en->object, j->answers[i].location);
		w->changed = true;
	}
	free(j->vaddrs);
	free(j->which);
	free(j->answers);
}

/* All mappings that are ours: first which addresses, then the answers. */
static void symbolize(struct rewrite *w)
{
	struct task *tasks = xcalloc(w->nmappings + 1, sizeof(*tasks));
	size_t n = 0, i, k;

	/*
	 * The kernel last: it has names already, and where its files are to be fetched they take
	 * the most of the time that there is for that.
	 */
	for (k = 0; k < 2 * w->nmappings; k++) {
		i = k % w->nmappings;
		if (w->first[i] == w->first[i + 1] ||
		    is_kernel_code(w, i) != (k >= w->nmappings) || !is_ours(w, i))
			continue;
		w->jobs[i] = job_of(w, i);
		tasks[n++] = (struct task){w->jobs[i].entry, w->jobs[i].vaddrs,
					   w->jobs[i].n, w->jobs[i].answers};
	}
	objects_resolve(w->objects, tasks, n);
	free(tasks);
	for (i = 0; i < w->nmappings; i++)
		if (w->jobs[i].answers)
			apply_job(w, i);
}

/* In no file, and not in code that the kernel gives to every process either. */
static bool may_be_jit(const struct rewrite *w, const struct location *l)
{
	const struct mapping *m;
	const char *name;

	if (l->mapping == ID_NONE)
		return l->address != 0;
	m = &w->st->mappings[l->mapping];
	name = store_cstr(w->st, m->file);
	return !store_is_kernel_mapping(w->st, m) && is_no_file(name) &&
	       strncmp(name, "[v", 2) != 0 && strncmp(name, "linux-vdso", 10) != 0;
}

static void name_jit(struct rewrite *w, uint32_t id)
{
	const struct location l = *location_of(w, id);
	struct function f = {0};
	struct jitname nm;

	if ((l.nlines && !w->force) || w->found[id] != SYM_NONE || !may_be_jit(w, &l) ||
	    !jitnames_find(w->jit, address_of(w, id), &nm))
		return;
	f.name = f.system_name = put_text(w->st, (struct str){nm.name, strlen(nm.name)});
	f.file = put_text(w->st, (struct str){nm.file, strlen(nm.file)});
	f.start_line = nm.start_line;
	w->jit_line[id] = (struct line){store_function(w->st, &f), nm.line, 0};
	w->found[id] = BY_JIT;
	w->changed = true;
	if (l.mapping != ID_NONE)
		w->flags[l.mapping] |= MAPPING_HAS_FUNCTIONS |
				       (nm.file[0] ? MAPPING_HAS_FILENAMES : 0) |
				       (nm.line ? MAPPING_HAS_LINE_NUMBERS : 0);
}

int rewrite_profile(struct profile *p, struct objects *o, const struct rewrite_opts *opts,
		    struct profile **out, struct err *e)
{
	struct store *st = p->store;
	struct rewrite w = {
		.p = p,
		.st = st,
		.objects = o,
		.jit = opts->jit,
		.force = opts->force,
		.anonymous = !opts->no_anonymous,
		.nmappings = st->nmappings,
		.nlocations = st->nlocations,
		.uses = st->nlocations,
	};
	size_t i;
	int r = 0;

	if (opts->return_addresses)
		find_uses(&w);
	w.flags = xcalloc(w.nmappings + 1, sizeof(*w.flags));
	w.mapping = xmalloc((w.nmappings + 1) * sizeof(*w.mapping));
	memset(w.mapping, 0xff, w.nmappings * sizeof(*w.mapping));
	w.first = xcalloc(w.nmappings + 2, sizeof(*w.first));
	w.by_mapping = xcalloc(w.uses + 1, sizeof(*w.by_mapping));
	w.location = xmalloc((w.uses + 1) * sizeof(*w.location));
	memset(w.location, 0xff, w.uses * sizeof(*w.location));
	w.jobs = xcalloc(w.nmappings + 1, sizeof(*w.jobs));
	w.found = xmalloc((w.uses + 1) * sizeof(*w.found));
	memset(w.found, 0xff, w.uses * sizeof(*w.found)); /* SYM_NONE */
	w.jit_line = w.jit ? xcalloc(w.uses + 1, sizeof(*w.jit_line)) : NULL;
	sort_locations(&w);
	if (w.anonymous)
		pieces_init(&w.pieces, st, w.nmappings);
	symbolize(&w);
	for (i = 0; w.jit && i < w.uses; i++)
		name_jit(&w, i);
	*out = p;
	if (w.changed)
		r = rebuild(&w, out, e);
	for (i = 0; i < w.nmappings; i++)
		u64map_release(&w.jobs[i].functions);
	pieces_release(&w.pieces);
	free(w.used);
	free(w.flags);
	free(w.mapping);
	free(w.first);
	free(w.by_mapping);
	free(w.location);
	free(w.jobs);
	free(w.found);
	free(w.jit_line);
	return r;
}

void rewrite_coverage(const struct profile *p, struct coverage *c)
{
	size_t type = profile_default_type(p), i;
	const uint32_t *frames;
	uint32_t n;
	double v;

	for (i = 0; i < p->nsamples; i++) {
		frames = store_frames(p->store, p->samples[i].stack, &n);
		v = fabs((double)profile_values(p, i)[type]);
		c->total += v;
		if (n && p->store->locations[frames[0]].nlines)
			c->named += v;
	}
}
