/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object's index: made of the answers at every address where they may change, so that it
 * says what the files themselves say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/bounds.h"
#include "lib/sym/object_internal.h"
#include "lib/sym/symcache.h"

#define ANSWERS_STEP (1u << 16) /* addresses between looks at the memory they take */

/*
 * What an index was made from. The build id stands for the code; debug information that came
 * later, or went, has another size.
 */
static uint64_t files_key(const struct object *o)
{
	uint64_t bin = o->bin.elf ? o->bin.elf->size : 0;
	uint64_t debug = o->debug.elf ? o->debug.elf->size : 0;

	return bin * 0x9e3779b97f4a7c15ull ^ (debug + 1) * 0xc2b2ae3d27d4eb4full;
}

static struct symindex_key key_of(const struct object *o)
{
	const struct elf_file *f = o->bin.elf ? o->bin.elf : o->debug.elf;
	struct symindex_key k = {.files = files_key(o)};

	k.build_id_n = f ? f->build_id_n : o->id.n;
	memcpy(k.build_id, f ? f->build_id : o->id.bytes, k.build_id_n);
	return k;
}

static bool has_symbols(struct elf_file *f)
{
	return f && (elf_section(f, ".symtab") || elf_section(f, ".gnu_debugdata"));
}

/* The best that the files that are here have. */
static enum symindex_quality files_quality(const struct object *o)
{
	if ((o->bin.elf && elf_has_debug(o->bin.elf, "info")) ||
	    (o->debug.elf && elf_has_debug(o->debug.elf, "info")))
		return SYMINDEX_LINES;
	return has_symbols(o->bin.elf) || has_symbols(o->debug.elf) ? SYMINDEX_SYMBOLS
								    : SYMINDEX_EXPORTS;
}

static int u64_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* All addresses of the file at which an answer may begin, sorted, each once. */
static void find_bounds(struct object *o, struct bounds *b)
{
	const struct elf_file *f = o->bin.elf ? o->bin.elf : o->debug.elf;
	size_t biased = 0, i, n = 0;

	object_open_sources(o);
	if (o->dwarf)
		dwarf_bounds(o->dwarf, b);
	if (o->debug_symtab)
		symtab_bounds(o->debug_symtab, b);
	for (; biased < b->n; biased++)
		b->v[biased] -= o->debug_bias;
	if (o->go_table)
		gopclntab_bounds(o->go_table, b);
	if (o->symtab)
		symtab_bounds(o->symtab, b);
	if (o->mini_symtab)
		symtab_bounds(o->mini_symtab, b);
	if (o->plt)
		plt_bounds(o->plt, b);
	if (o->dynsym)
		symtab_bounds(o->dynsym, b);
	bounds_add(b, 0);
	for (i = 0; i < f->nexec; i++) {
		bounds_add(b, f->exec[i].low);
		bounds_add(b, f->exec[i].high);
	}
	if (b->n)
		qsort(b->v, b->n, sizeof(*b->v), u64_cmp);
	for (i = 0; i < b->n; i++)
		if (!n || b->v[n - 1] != b->v[i])
			b->v[n++] = b->v[i];
	b->n = n;
}

static bool same(struct sym_answer a, struct sym_answer b)
{
	return a.location == b.location && a.source == b.source && a.reason == b.reason;
}

/* What may be better next time is not kept. */
static bool is_complete(const struct object *o, const struct sym_answer *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i].reason == SYM_DWO_MISSING || v[i].reason == SYM_ALT_MISSING ||
		    v[i].reason == SYM_DAMAGED || v[i].reason == SYM_MEMORY_LIMIT)
			return false;
	return !o->trouble.len;
}

/* All of them, unless their names and places take more memory than there may be. */
static int answer_all(struct object *o, const uint64_t *v, size_t n,
		      struct sym_answer *out, struct err *e)
{
	size_t i, part;

	for (i = 0; i < n; i += part) {
		part = n - i < ANSWERS_STEP ? n - i : ANSWERS_STEP;
		object_resolve(o, v + i, part, out + i);
		if (object_bytes(o) + intern_bytes(&o->strings) +
			    answers_bytes(&o->answers) >
		    o->max_bytes)
			return err_set(e, EFBIG, "over the limit of memory");
	}
	return 0;
}

static int make_index(struct object *o, struct buf *out, struct err *e)
{
	struct symindex_parts p = {.key = key_of(o), .object = o};
	struct sym_answer *answers = NULL;
	struct bounds b = {0};
	size_t i;
	int r;

	find_bounds(o, &b);
	answers = xcalloc(b.n + 1, sizeof(*answers));
	r = answer_all(o, b.v, b.n, answers, e);
	if (!r && !is_complete(o, answers, b.n))
		r = err_set(e, ENODATA, "debug information is not complete");
	if (!r) {
		for (i = 0; i < b.n; i++) {
			if (p.n && same(answers[p.n - 1], answers[i]))
				continue;
			answers[p.n] = answers[i];
			b.v[p.n++] = b.v[i];
		}
		p.elf = o->bin.elf ? o->bin.elf : o->debug.elf;
		p.quality = files_quality(o);
		p.starts = b.v;
		p.answers = answers;
		p.nlocations = o->answers.nlocations;
		p.nfunctions = o->answers.nfunctions;
		p.nstrings = o->strings.n;
		r = symindex_write(&p, out, e);
	}
	free(answers);
	free(b.v);
	return r;
}

/*
 * What was made of these files says what they say. Of others of the same build, the better one
 * counts; without a binary no other can be made, so that an equal one does.
 */
static bool is_as_good(const struct object *o, const struct symindex *x)
{
	struct symindex_key key = key_of(o), have = symindex_key(x);
	enum symindex_quality files = files_quality(o), index = symindex_quality(x);

	return o->index_alone || have.files == key.files || index > files ||
	       (!o->bin.elf && index == files);
}

void object_find_index(struct object *o)
{
	struct symindex_key key = key_of(o);
	struct symindex *x;
	struct err e;
	bool good;

	if (!o->paths->cache || key.build_id_n < 2 || o->index || o->kernel)
		return;
	if (symcache_load(o->paths->cache, &key, o->index_doubted, &x, &e)) {
		if (e.code == EBADMSG && !o->index_damage)
			o->index_damage = xasprintf("%s: not used", e.msg);
		return;
	}
	good = is_as_good(o, x);
	if (!o->bin.elf) {
		found_file_release(&o->bin);
		o->bin.elf = symindex_elf(x);
		o->bin.path = xasprintf("index in %s", o->paths->cache);
		o->index_alone = good;
	}
	if (good) {
		o->index = x;
		o->taken = (struct taken){
			xcalloc((size_t)symindex_nlocations(x) + 1, sizeof(uint32_t)),
			xcalloc((size_t)symindex_nfunctions(x) + 1, sizeof(uint32_t)),
			xcalloc((size_t)symindex_nstrings(x) + 1, sizeof(uint32_t)),
		};
		o->index_lines = symindex_quality(x) == SYMINDEX_LINES;
	} else {
		symindex_free(x);
	}
}

void object_drop_index(struct object *o)
{
	symindex_free(o->index);
	free(o->taken.locations);
	free(o->taken.functions);
	free(o->taken.strings);
	o->index = NULL;
	o->taken = (struct taken){0};
}

bool object_leave_index(struct object *o)
{
	/* what is damaged in a whole one was so when it was written */
	if (o->index_doubted)
		return false;
	o->index_doubted = true;
	if (!o->index_alone) {
		object_drop_index(o);
		return true;
	}
	if (!o->index_damage)
		o->index_damage = xasprintf("%s: damaged index: used where it is whole",
					    o->bin.path);
	return false;
}

void object_reconsider_index(struct object *o)
{
	object_drop_index(o);
	o->index_alone = o->index_lines = false;
	object_find_index(o);
}

/* The index as bytes, of all that the files have. */
static int build(const struct object *o, struct buf *b, struct err *e)
{
	struct sym_paths paths = *o->paths;
	struct object *whole;
	int r;

	paths.cache = NULL; /* its answers come from the files */
	whole = object_new(&paths, o->path, o->build_id);
	whole->threads = o->threads;
	r = object_state(whole) == SYM_OK && whole->bin.elf
		    ? make_index(whole, b, e)
		    : err_set(e, ESTALE, "the files are gone");
	object_free(whole);
	return r;
}

/* Of what an index cannot be made. */
static int refuse(const struct object *o, const struct symindex_key *key, struct err *e)
{
	if (!o->bin.elf || o->index_alone)
		return err_set(e, ENODATA, "the binary itself is needed for an index");
	if (o->kernel)
		return err_set(e, ENODATA, "none is made of the kernel");
	if (key->build_id_n < 2)
		return err_set(e, ENODATA, "no build id to keep an index by");
	return 0;
}

/* With the lock on it. */
static int build_and_store(const struct object *o, const struct symindex_key *key,
			   struct err *e)
{
	struct buf b = BUF_INIT(SYMINDEX_MAX);
	int r = build(o, &b, e);

	if (!r)
		r = symcache_store(o->paths->cache, key, b.data, b.len, e);
	else if (r == -ENODATA || r == -EFBIG)
		symcache_set_in_vain(o->paths->cache, key);
	buf_release(&b);
	return r;
}

int object_build_index(struct object *o, struct err *e)
{
	struct symindex_key key = key_of(o);
	int r = refuse(o, &key, e), fd;

	if (!r)
		r = symcache_lock(o->paths->cache, &key, true, &fd, e);
	if (r)
		return r;
	object_find_index(o);
	if (!o->index || !symindex_is_whole(o->index) ||
	    symindex_quality(o->index) <= files_quality(o))
		r = build_and_store(o, &key, e);
	symcache_unlock(o->paths->cache, &key, fd);
	return r;
}

bool object_need_index(struct object *o)
{
	struct symindex_key key = key_of(o);
	const char *cache = o->paths->cache;
	struct err e = {0};
	int fd, r;

	object_find_index(o);
	if (o->index || o->index_failed || !cache || refuse(o, &key, &e) ||
	    symcache_is_in_vain(cache, &key))
		return o->index;
	o->index_failed = true;
	r = symcache_lock(cache, &key, false, &fd, &e);
	if (!r) {
		/* who had the lock until now may have made it */
		object_find_index(o);
		if (!o->index)
			r = build_and_store(o, &key, &e);
		symcache_unlock(cache, &key, fd);
		object_find_index(o);
	}
	if (r && r != -EWOULDBLOCK && r != -ENODATA && r != -EFBIG && !o->index_trouble)
		o->index_trouble = xstrdup(e.msg);
	return o->index;
}

int object_export_index(struct object *o, const char *dir, struct err *e)
{
	struct symindex_key key = key_of(o);
	struct buf b = BUF_INIT(SYMINDEX_MAX);
	struct str file;
	int r = 0;

	object_find_index(o);
	if (o->index && !symindex_is_whole(o->index) && object_leave_index(o))
		object_find_index(o);
	if (o->index && !symindex_is_whole(o->index)) {
		r = err_set(e, ENODATA, "damaged index");
	} else if (o->index) {
		file = symindex_file(o->index);
		key = symindex_key(o->index);
		r = symcache_store(dir, &key, file.p, file.n, e);
	} else {
		r = refuse(o, &key, e);
		if (!r)
			r = build(o, &b, e);
		if (!r)
			r = symcache_store(dir, &key, b.data, b.len, e);
	}
	buf_release(&b);
	return r;
}

const char *object_index_damage(const struct object *o)
{
	return o->index_damage ? o->index_damage : "";
}

const char *object_index_trouble(const struct object *o)
{
	return o->index_trouble ? o->index_trouble : "";
}

static bool take_string(struct object *o, uint32_t *id)
{
	uint32_t *ours;
	struct str s;

	if (*id >= symindex_nstrings(o->index))
		return false;
	ours = &o->taken.strings[*id];
	if (!*ours) {
		if (!symindex_string(o->index, *id, &s))
			return false;
		*ours = intern_put(&o->strings, s.p, s.n) + 1;
	}
	*id = *ours - 1;
	return true;
}

/* `id` is good: symindex_location() has seen to that. */
static bool take_function(struct object *o, uint32_t *id)
{
	uint32_t *ours = &o->taken.functions[*id];
	struct sym_function f;

	if (!*ours) {
		if (!symindex_function(o->index, *id, &f) || !take_string(o, &f.name) ||
		    !take_string(o, &f.system))
			return false;
		*ours = answers_function(&o->answers, f) + 1;
	}
	*id = *ours - 1;
	return true;
}

/* One location of the index, whose caller is ours already. */
static bool take_one(struct object *o, uint32_t id, uint32_t *caller)
{
	struct sym_location l;

	if (!symindex_location(o->index, id, &l) || !take_function(o, &l.function) ||
	    !take_string(o, &l.file))
		return false;
	l.caller = *caller;
	*caller = answers_add_location(&o->answers, l);
	o->taken.locations[id] = *caller + 1;
	return true;
}

/* Copy a location of the index with its callers, outermost first. */
static uint32_t take_location(struct object *o, uint32_t id)
{
	uint32_t chain[DWARF_FRAMES_MAX], caller = SYM_NONE;
	struct sym_location l;
	size_t n = 0;

	while (id != SYM_NONE && n < DWARF_FRAMES_MAX) {
		if (o->taken.locations[id]) {
			caller = o->taken.locations[id] - 1;
			break;
		}
		if (!symindex_location(o->index, id, &l))
			return SYM_NONE;
		chain[n++] = id;
		id = l.caller;
	}
	while (n-- > 0)
		if (!take_one(o, chain[n], &caller))
			return SYM_NONE;
	return caller;
}

struct sym_answer object_answer_by_index(struct object *o, uint64_t vaddr)
{
	struct sym_answer a = symindex_find(o->index, vaddr);

	if (a.location != SYM_NONE) {
		a.location = take_location(o, a.location);
		if (a.location == SYM_NONE)
			a.reason = SYM_DAMAGED;
	}
	return a;
}
