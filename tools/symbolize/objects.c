/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/objects.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define OPEN_MAX_FILES 100 /* objects with open files; each may have three */

void objects_init(struct objects *o)
{
	*o = (struct objects){
		.mode = DEMANGLE_SIMPLE, .max_bytes = 1ull << 30, .threads = 1};
	intern_init(&o->keys);
	buf_init(&o->scratch, DEMANGLED_MAX);
}

void objects_release(struct objects *o)
{
	size_t i;

	for (i = 0; i < o->n; i++) {
		object_free(o->v[i].object);
		free(o->v[i].names);
	}
	free(o->v);
	module_files_release(&o->modules);
	intern_release(&o->keys);
	arena_release(&o->arena);
	buf_release(&o->scratch);
}

static uint64_t open_bytes(const struct objects *o, size_t *nopen)
{
	uint64_t sum = 0;
	size_t i;

	*nopen = 0;
	for (i = 0; i < o->n; i++) {
		if (o->v[i].busy || !object_is_open(o->v[i].object))
			continue;
		sum += object_bytes(o->v[i].object);
		++*nopen;
	}
	return sum;
}

/* Close what was not used for longest, but never the one at hand, or one that is worked on. */
static void trim(struct objects *o, const struct entry *keep)
{
	uint64_t bytes;
	size_t nopen, i;
	struct entry *oldest;

	for (;;) {
		bytes = open_bytes(o, &nopen);
		if (bytes <= o->max_bytes && nopen <= OPEN_MAX_FILES)
			return;
		oldest = NULL;
		for (i = 0; i < o->n; i++)
			if (&o->v[i] != keep && !o->v[i].busy &&
			    object_is_open(o->v[i].object) &&
			    (!oldest || o->v[i].used < oldest->used))
				oldest = &o->v[i];
		if (!oldest)
			return;
		object_trim(oldest->object);
	}
}

struct entry *objects_get(struct objects *o, const char *path, const char *build_id)
{
	struct buf key = BUF_INIT(SIZE_MAX);
	struct entry *en;
	uint32_t id;

	buf_put(&key, path, strlen(path) + 1);
	buf_puts(&key, build_id);
	id = intern_put(&o->keys, key.data, key.len) - 1;
	buf_release(&key);
	if (id == o->n) {
		XGROW(o->v, o->n, o->cap);
		o->v[o->n++] = (struct entry){
			.path = arena_bytes(&o->arena, path, strlen(path)),
			.build_id = arena_bytes(&o->arena, build_id, strlen(build_id)),
			.object = object_new(&o->paths, path, build_id),
		};
	}
	en = &o->v[id];
	en->used = ++o->clock;
	trim(o, en);
	return en;
}

/* The tasks of one object, and how much they are. */
struct group {
	size_t entry, first, n; /* first task, by way of run.order */
	uint64_t addresses;
	bool large;
};

struct run {
	struct objects *o;
	const struct task *tasks;
	struct group *groups; /* large ones, then the others; most addresses first */
	size_t ngroups, next;
	uint32_t *order;      /* tasks by entry, in each entry as they came */
	pthread_mutex_t lock; /* next, and which objects are open and busy */
};

static void resolve_group(struct run *r, const struct group *g)
{
	struct object *object = r->o->v[g->entry].object;
	size_t i;

	for (i = g->first; i < g->first + g->n; i++) {
		const struct task *t = &r->tasks[r->order[i]];

		if (r->o->last && i + 1 == g->first + g->n)
			object_set_last(object);
		object_resolve(object, t->vaddrs, t->n, t->out);
	}
}

static void *work(void *arg)
{
	struct run *r = arg;

	pthread_mutex_lock(&r->lock);
	while (r->next < r->ngroups) {
		const struct group *g = &r->groups[r->next++];
		struct entry *en = &r->o->v[g->entry];

		en->busy = true;
		pthread_mutex_unlock(&r->lock);
		resolve_group(r, g);
		pthread_mutex_lock(&r->lock);
		en->busy = false;
		trim(r->o, en);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static int group_cmp(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->large != y->large)
		return x->large ? -1 : 1;
	if (x->addresses != y->addresses)
		return x->addresses < y->addresses ? 1 : -1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Counting sort of the tasks by entry. */
static void group_tasks(struct run *r, size_t n)
{
	size_t nentries = r->o->n, i, sum = 0;
	struct group *g = xcalloc(nentries + 1, sizeof(*g));

	r->order = xcalloc(n + 1, sizeof(*r->order));
	for (i = 0; i < n; i++) {
		g[r->tasks[i].entry].n++;
		g[r->tasks[i].entry].addresses += r->tasks[i].n;
	}
	for (i = 0; i < nentries; i++) {
		g[i].entry = i;
		g[i].large = object_is_large(r->o->v[i].object);
		g[i].first = sum;
		sum += g[i].n;
		g[i].n = 0;
	}
	for (i = 0; i < n; i++) {
		struct group *of = &g[r->tasks[i].entry];

		r->order[of->first + of->n++] = i;
	}
	for (i = 0; i < nentries; i++)
		if (g[i].n)
			g[r->ngroups++] = g[i];
	r->groups = g;
	qsort(g, r->ngroups, sizeof(*g), group_cmp);
}

void objects_resolve(struct objects *o, const struct task *v, size_t n)
{
	struct run r = {.o = o, .tasks = v, .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t *threads;
	size_t want, started = 0;

	group_tasks(&r, n);
	for (; r.next < r.ngroups && r.groups[r.next].large; r.next++) {
		object_set_threads(o->v[r.groups[r.next].entry].object, o->threads);
		resolve_group(&r, &r.groups[r.next]);
		trim(o, &o->v[r.groups[r.next].entry]);
	}
	want = r.ngroups - r.next;
	if (want > o->threads)
		want = o->threads;
	threads = xcalloc(want + 1, sizeof(*threads));
	/* this thread is one of them; where there are no more to be had, it is all */
	while (started + 1 < want && !pthread_create(&threads[started], NULL, work, &r))
		started++;
	work(&r);
	while (started-- > 0)
		pthread_join(threads[started], NULL);
	free(threads);
	free(r.groups);
	free(r.order);
}

struct name objects_name(struct objects *o, struct entry *en, uint32_t function)
{
	struct sym_function f;
	struct str mangled;
	struct name *nm;

	while (en->nnames <= function) {
		XGROW(en->names, en->nnames, en->names_cap);
		en->names[en->nnames++] = (struct name){0};
	}
	nm = &en->names[function];
	if (nm->name.p)
		return *nm;
	f = object_function(en->object, function);
	mangled = object_string(en->object, o->keep_clones ? f.system : f.name);
	nm->system = object_string(en->object, f.system);
	nm->name = mangled;
	if (demangle(mangled.p, o->mode, &o->scratch)) {
		nm->name.n = strlen(buf_str(&o->scratch));
		nm->name.p = arena_bytes(&o->arena, o->scratch.data, nm->name.n);
	}
	return *nm;
}
