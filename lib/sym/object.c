/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/object.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/demangle.h"
#include "lib/sym/object_internal.h"

#define ANY_MEMORY (1ull << 60) /* bytes; sums of it fit */

const char *sym_source_name(enum sym_source s)
{
	static const char *const names[] = {"dwarf",	 "gopclntab", "symtab",
					    "debugdata", "plt",	      "dynsym"};

	return names[s];
}

const char *sym_reason_name(enum sym_reason r)
{
	static const char *const names[] = {
		[SYM_OK] = "ok",
		[SYM_NO_FILE] = "no-file",
		[SYM_UNUSABLE_FILE] = "unusable-file",
		[SYM_BUILD_ID_MISMATCH] = "build-id-mismatch",
		[SYM_NO_SEGMENT] = "no-segment",
		[SYM_AMBIGUOUS_SEGMENT] = "ambiguous-segment",
		[SYM_NEED_BINARY] = "need-binary",
		[SYM_NO_SYMBOLS] = "no-symbols",
		[SYM_NO_FUNCTION] = "no-function",
		[SYM_DWO_MISSING] = "dwo-missing",
		[SYM_ALT_MISSING] = "alt-missing",
		[SYM_DAMAGED] = "damaged",
		[SYM_MEMORY_LIMIT] = "memory-limit",
	};

	return names[r];
}

void object_add_trouble(struct object *o, const char *path, const char *what)
{
	if (o->trouble.len)
		buf_puts(&o->trouble, "; ");
	buf_printf(&o->trouble, "%s: %s", path, what);
}

void object_note_trouble(struct object *o, const struct found_file *f)
{
	if (f->why.code)
		object_add_trouble(o, f->path, f->why.msg);
}

/* A debug file whose executable segments have kept their place can stand in for the binary. */
static bool can_place(const struct elf_file *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->nsegments; i++) {
		if (!f->segments[i].exec)
			continue;
		n++;
		if (!f->segments[i].filesz)
			return false;
	}
	return n;
}

static void find_debug(struct object *o)
{
	struct elf_file *bin = o->bin.elf;
	enum found found;

	if (bin && elf_has_debug(bin, "info"))
		return;
	found = debugfile_debug(o->paths, bin, o->bin.path, &o->id, &o->debug);
	if (found != FOUND_FILE)
		object_note_trouble(o, &o->debug);
}

enum found object_fetch(struct object *o, enum debuginfod_kind kind,
			const struct build_id *id, bool module, struct found_file *into)
{
	struct found_file f = {.log = into->log};
	enum found found = debugfile_fetch(o->paths, kind, id, module, &f);

	if (found == FOUND_FILE) {
		found_file_release(into);
		*into = f;
	} else {
		object_note_trouble(o, &f);
		found_file_release(&f);
	}
	return found;
}

/* What is missing, from debuginfod; found: how it went with the binary. */
static enum found fetch_files(struct object *o, enum found found)
{
	enum found bin = FOUND_NOTHING, debug = FOUND_NOTHING;
	struct build_id id;

	if (!o->bin.elf || o->index_alone)
		bin = object_fetch(o, DEBUGINFOD_EXECUTABLE, &o->id, false, &o->bin);
	id = build_id_of(o->bin.elf, &o->id);
	if (!object_has_lines(o))
		debug = object_fetch(o, DEBUGINFOD_DEBUGINFO, &id, false, &o->debug);
	if (bin == FOUND_FILE || debug == FOUND_FILE)
		object_reconsider_index(o);
	return bin == FOUND_NOTHING ? found : bin;
}

/*
 * The binary, failing that its debug file, failing both the index. What an index has need not be
 * fetched.
 */
static void find_files(struct object *o)
{
	enum found found = debugfile_binary(o->paths, o->path, &o->id, &o->bin);

	if (found != FOUND_FILE)
		object_note_trouble(o, &o->bin);
	find_debug(o);
	if (!o->bin.elf || !object_has_lines(o))
		object_find_index(o);
	if (o->paths->debuginfod && !object_has_lines(o))
		found = fetch_files(o, found);
	if (o->bin.elf && o->debug.elf && o->bin.elf->nsegments &&
	    o->debug.elf->nsegments)
		o->debug_bias =
			o->debug.elf->segments[0].vaddr - o->bin.elf->segments[0].vaddr;
	if (o->bin.elf || o->debug.elf)
		o->state = SYM_OK;
	else if (found == FOUND_MISMATCH)
		o->state = SYM_BUILD_ID_MISMATCH;
	else
		o->state = found == FOUND_UNUSABLE ? SYM_UNUSABLE_FILE : SYM_NO_FILE;
}

static struct elf_file *main_file(const struct object *o)
{
	return o->bin.elf ? o->bin.elf : o->debug.elf;
}

static void note_cut(struct object *o, const struct found_file *f)
{
	if (f->elf && f->elf->cut)
		object_add_trouble(o, f->path, "cut short");
}

static bool is_go(struct elf_file *f)
{
	return f && (f->go_build_id || elf_section(f, ".go.buildinfo") ||
		     elf_section(f, ".gopclntab"));
}

struct object *object_new(const struct sym_paths *paths, const char *path,
			  const char *build_id)
{
	struct object *o = xcalloc(1, sizeof(*o));

	o->paths = paths;
	o->path = xstrdup(path);
	o->build_id = xstrdup(build_id);
	o->id = build_id_parse(o->build_id);
	o->max_bytes = paths->max_memory ? paths->max_memory : ANY_MEMORY;
	intern_init(&o->strings);
	answers_init(&o->answers);
	buf_init(&o->trouble, 1 << 16);
	buf_init(&o->tried, 1 << 16);
	o->bin.log = o->debug.log = o->alt.log = &o->tried;
	buf_init(&o->scratch, DEMANGLED_MAX);
	buf_init(&o->scratch2, DEMANGLED_MAX);
	o->kernel = object_is_kernel(path);
	if (o->kernel)
		object_find_kernel(o);
	else
		find_files(o);
	note_cut(o, &o->bin);
	note_cut(o, &o->debug);
	o->verified = main_file(o) && o->build_id[0];
	o->go = is_go(o->bin.elf) || is_go(o->debug.elf);
	return o;
}

void object_free(struct object *o)
{
	if (!o)
		return;
	object_trim(o);
	found_file_release(&o->bin);
	found_file_release(&o->debug);
	found_file_release(&o->alt);
	intern_release(&o->strings);
	answers_release(&o->answers);
	buf_release(&o->trouble);
	buf_release(&o->tried);
	buf_release(&o->scratch);
	buf_release(&o->scratch2);
	free(o->path);
	free(o->build_id);
	free(o->index_damage);
	free(o->index_trouble);
	free(o);
}

void object_set_threads(struct object *o, unsigned threads)
{
	o->threads = threads;
}

void object_set_last(struct object *o)
{
	o->last = true;
}

enum sym_reason object_state(const struct object *o)
{
	return o->state;
}

bool object_is_verified(const struct object *o)
{
	return o->verified;
}

const char *object_path(const struct object *o)
{
	return o->bin.elf ? o->bin.path : o->debug.elf ? o->debug.path : NULL;
}

const char *object_debug_path(const struct object *o)
{
	return o->debug.elf ? o->debug.path : NULL;
}

const char *object_trouble(const struct object *o)
{
	struct buf *b = (struct buf *)&o->trouble; /* only puts the NUL in place */

	return b->len ? buf_str(b) : "";
}

bool object_tried(const struct object *o, size_t *at, const char **path,
		  const char **result)
{
	const char *text = (const char *)o->tried.data;

	if (*at >= o->tried.len)
		return false;
	*path = text + *at;
	*result = *path + strlen(*path) + 1;
	*at = *result + strlen(*result) + 1 - text;
	return true;
}

bool object_has_lines(const struct object *o)
{
	if (o->index_lines)
		return true;
	return (o->bin.elf && elf_has_debug(o->bin.elf, "info")) ||
	       (o->debug.elf && elf_has_debug(o->debug.elf, "info"));
}

/*
 * Is `at` where a mapping of the segment starts, with pages of any size up to its alignment?
 */
static bool is_page_of(const struct elf_segment *s, uint64_t at)
{
	uint64_t page;

	for (page = 4096; page <= s->align; page *= 2)
		if (at == (s->vaddr & ~(page - 1)))
			return true;
	return false;
}

/*
 * Only a debug file, whose offsets are lost. What can be trusted: a program that is not
 * position independent lies at its own addresses; and a mapping whose offset is the address of
 * the one executable segment tells that offsets and addresses are the same in this file.
 */
static enum sym_reason vaddr_from_debug(const struct elf_file *f, uint64_t start,
					uint64_t offset, uint64_t addr, uint64_t *vaddr)
{
	const struct elf_segment *s = NULL;
	uint64_t v = addr - start + offset;
	size_t i, n = 0;

	for (i = 0; i < f->nsegments; i++)
		if (f->segments[i].exec && ++n)
			s = &f->segments[i];
	if (n != 1)
		return SYM_NEED_BINARY;
	if (f->type == ET_EXEC && is_page_of(s, start))
		v = addr;
	else if (f->type != ET_DYN || !is_page_of(s, offset))
		return SYM_NEED_BINARY;
	if (v < s->vaddr || v - s->vaddr >= s->memsz)
		return SYM_NO_SEGMENT;
	*vaddr = v;
	return SYM_OK;
}

enum sym_reason object_vaddr(const struct object *o, uint64_t start, uint64_t limit,
			     uint64_t offset, uint64_t addr, uint64_t *vaddr)
{
	const struct elf_file *f = main_file(o);
	uint64_t in_file = addr - start + offset;
	int r;

	if (o->kernel)
		return object_kernel_vaddr(o, start, limit, offset, addr, vaddr);
	if (!f)
		return o->state;
	if (!start && !offset && (!limit || limit == UINT64_MAX)) {
		*vaddr = addr;
		return SYM_OK;
	}
	if (addr < start || (limit && addr >= limit) || in_file < offset)
		return SYM_NO_SEGMENT;
	if (!o->bin.elf && !can_place(f))
		return vaddr_from_debug(f, start, offset, addr, vaddr);
	r = elf_vaddr(f, in_file, vaddr);
	return !r ? SYM_OK : r == -ENOTUNIQ ? SYM_AMBIGUOUS_SEGMENT : SYM_NO_SEGMENT;
}

static int u64_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The addresses that have no answer yet, sorted, each once. */
static size_t unanswered(const struct object *o, const uint64_t *vaddrs, size_t n,
			 uint64_t *out)
{
	struct sym_answer ignored;
	size_t i, k = 0, kept = 0;

	for (i = 0; i < n; i++)
		if (!answers_get(&o->answers, vaddrs[i], &ignored))
			out[k++] = vaddrs[i];
	/* profiles that were merged have them in order already */
	for (i = 1; i < k && out[i - 1] <= out[i]; i++)
		;
	if (i < k)
		qsort(out, k, sizeof(*out), u64_cmp);
	for (i = 0; i < k; i++)
		if (!kept || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

/*
 * By index, which is made if there is to be one, and again if it turns out to be damaged. How many
 * of them; the others are to be answered by the files themselves.
 */
static size_t resolve_by_index(struct object *o, const uint64_t *vaddrs, size_t n)
{
	size_t i = 0, most = o->index ? symindex_nlocations(o->index) : 0;
	struct sym_answer a;

	answers_reserve(&o->answers, n, most < 4 * n ? most : 4 * n);

	while (i < n && (o->index || object_need_index(o))) {
		a = object_answer_by_index(o, vaddrs[i]);
		if (a.reason == SYM_DAMAGED && object_leave_index(o))
			continue;
		answers_put(&o->answers, vaddrs[i++], a);
	}
	return i;
}

/* What was mapped may have been anything then. */
static bool have_changed(struct object *o)
{
	struct elf_file *files[] = {o->bin.elf, o->debug.elf, o->alt.elf, o->dwp};
	bool changed = false;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		changed |= files[i] && files[i]->mapped && elf_has_changed(files[i]);
	if (changed)
		object_add_trouble(o, object_path(o), "changed while in use");
	return changed;
}

static void resolve_new(struct object *o, const uint64_t *vaddrs, size_t n)
{
	static const struct dwarf_answer lost = {.unit = true, .damaged = true};
	struct dwarf_result res = {0};
	uint64_t *biased = NULL;
	bool changed = false;
	size_t i;

	object_open_sources(o);
	if (o->dwarf) {
		biased = xmalloc(n * sizeof(*biased));
		for (i = 0; i < n; i++)
			biased[i] = vaddrs[i] + o->debug_bias;
		if (o->last)
			dwarf_keep_no_tables(o->dwarf);
		if (biased[0] <= biased[n - 1]) /* else the difference is nonsense */
			dwarf_lookup(o->dwarf, biased, n, &res);
		changed = have_changed(o);
	}
	for (i = 0; i < n; i++) {
		const struct dwarf_answer *d = changed	     ? &lost
					       : res.answers ? &res.answers[i]
							     : NULL;
		const struct dwarf_frame *v = d && d->n ? res.frames + d->first : NULL;

		answers_put(&o->answers, vaddrs[i], object_answer(o, vaddrs[i], d, v));
	}
	dwarf_result_release(&res);
	free(biased);
}

void object_resolve(struct object *o, const uint64_t *vaddrs, size_t n,
		    struct sym_answer *out)
{
	uint64_t *fresh = xmalloc((n ? n : 1) * sizeof(*fresh));
	size_t i, k = unanswered(o, vaddrs, n, fresh), done;

	if (k && o->state == SYM_OK) {
		done = resolve_by_index(o, fresh, k);
		if (done < k)
			resolve_new(o, fresh + done, k - done);
	}
	for (i = 0; i < n; i++)
		if (!answers_get(&o->answers, vaddrs[i], &out[i]))
			out[i] = (struct sym_answer){.location = SYM_NONE,
						     .reason = o->state};
	free(fresh);
	if (o->last)
		object_trim(o);
	o->last = false;
}

struct sym_location object_location(const struct object *o, uint32_t location)
{
	return o->answers.locations[location];
}

struct sym_function object_function(const struct object *o, uint32_t function)
{
	return o->answers.functions[function];
}

size_t object_nfunctions(const struct object *o)
{
	return o->answers.nfunctions;
}

struct str object_string(const struct object *o, uint32_t string)
{
	return intern_str(&o->strings, string);
}

uint64_t object_bytes(const struct object *o)
{
	return (o->index ? symindex_bytes(o->index) : 0) + o->budget.used +
	       (o->bin.elf ? elf_file_bytes(o->bin.elf) : 0) +
	       (o->dwarf ? dwarf_table_bytes(o->dwarf) : 0) +
	       (o->go_table ? gopclntab_bytes(o->go_table) : 0) +
	       (o->symtab ? symtab_bytes(o->symtab) : 0) +
	       (o->debug_symtab ? symtab_bytes(o->debug_symtab) : 0) +
	       (o->mini_symtab ? symtab_bytes(o->mini_symtab) : 0) +
	       (o->dynsym ? symtab_bytes(o->dynsym) : 0) +
	       (o->names ? symnames_bytes(o->names) : 0) + (o->mini ? o->mini->size : 0);
}

bool object_is_open(const struct object *o)
{
	return o->index || (o->bin.elf && o->bin.elf->fd >= 0) ||
	       (o->debug.elf && o->debug.elf->fd >= 0);
}

void object_trim(struct object *o)
{
	object_drop_index(o);
	object_forget_memos(o);
	dwarf_free(o->dwarf);
	elf_free(o->dwp);
	gopclntab_free(o->go_table);
	symtab_free(o->symtab);
	symtab_free(o->debug_symtab);
	symtab_free(o->mini_symtab);
	symtab_free(o->dynsym);
	symnames_free(o->names);
	plt_free(o->plt);
	elf_free(o->mini);
	o->dwarf = NULL;
	o->dwp = NULL;
	o->go_table = NULL;
	o->symtab = o->debug_symtab = o->mini_symtab = o->dynsym = NULL;
	o->names = NULL;
	o->plt = NULL;
	o->mini = NULL;
	o->opened = false;
	memset(&o->over, 0, sizeof(o->over));
	if (o->bin.elf)
		elf_suspend(o->bin.elf);
	if (o->debug.elf)
		elf_suspend(o->debug.elf);
	if (o->alt.elf)
		elf_suspend(o->alt.elf);
}
