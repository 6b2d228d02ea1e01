/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/objects.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define OPEN_MAX_FILES 100 /* objects with open files; each may have three */

void objects_init(struct objects *o)
{
	*o = (struct objects){.mode = DEMANGLE_SIMPLE, .max_bytes = 1ull << 30};
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
		if (!object_is_open(o->v[i].object))
			continue;
		sum += object_bytes(o->v[i].object);
		++*nopen;
	}
	return sum;
}

/* Close what was not used for longest, but never the one at hand. */
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
			if (&o->v[i] != keep && object_is_open(o->v[i].object) &&
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

void objects_resolve(struct objects *o, struct entry *en, const uint64_t *vaddrs,
		     size_t n, struct sym_answer *out)
{
	object_resolve(en->object, vaddrs, n, out);
	trim(o, en);
}

static const char *keep(struct objects *o, const char *s)
{
	return arena_bytes(&o->arena, s, strlen(s));
}

struct name objects_name(struct objects *o, struct entry *en, uint32_t function)
{
	struct sym_function f;
	const char *mangled;
	struct name *nm;

	while (en->nnames <= function) {
		XGROW(en->names, en->nnames, en->names_cap);
		en->names[en->nnames++] = (struct name){0};
	}
	nm = &en->names[function];
	if (nm->name)
		return *nm;
	f = object_function(en->object, function);
	mangled = object_string(en->object, o->keep_clones ? f.system : f.name);
	nm->system = keep(o, object_string(en->object, f.system));
	nm->name = demangle(mangled, o->mode, &o->scratch) ? keep(o, buf_str(&o->scratch))
							   : keep(o, mangled);
	return *nm;
}
