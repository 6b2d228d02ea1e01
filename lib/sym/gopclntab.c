/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/gopclntab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/gopclntab_internal.h"

#define PCDATA_INLINE_INDEX 2
#define FUNCDATA_INLINE_TREE_1_2 4 /* Go 1.13 to 1.15 */
#define FUNCDATA_INLINE_TREE 3
#define FUNCTIONS_MAX (1u << 28)

/* One record of a function: where its parts are in the table. */
struct function {
	uint64_t entry;
	uint64_t name, pcfile, pcln, unit, start_line; /* as written there */
	uint64_t inline_index; /* offset in the tables of values by address, 0 = none */
	uint64_t tree;	       /* address of the inline tree, 0 = none */
};

static unsigned entry_size(const struct gopclntab *t)
{
	return t->layout >= GO_1_18 ? 4 : t->ptr;
}

uint64_t gopclntab_entry(const struct gopclntab *t, size_t i)
{
	unsigned size = entry_size(t);
	uint64_t v = 0;

	go_get(t, t->functab + 2ull * size * i, size, &v);
	return v + t->text;
}

size_t gopclntab_count(const struct gopclntab *t)
{
	return t->nfunctions;
}

bool gopclntab_lacks_memory(const struct gopclntab *t)
{
	return t->lacks_tree;
}

uint64_t gopclntab_bytes(const struct gopclntab *t)
{
	return t->n + t->trees_n;
}

/* Go 1.2 to 1.15: counts from the table's start, the list of files behind the functions. */
static bool header_1_2(struct gopclntab *t)
{
	uint64_t files;

	if (!go_get(t, 8, t->ptr, &t->nfunctions) || t->nfunctions > FUNCTIONS_MAX)
		return false;
	t->functab = 8 + t->ptr;
	if (!go_get(t, t->functab + (2 * t->nfunctions + 1) * t->ptr, 4, &files))
		return false;
	t->files = files;
	/* before there was build information, the trees were other ones */
	t->has_trees = elf_section(t->file, ".go.buildinfo");
	return true;
}

static bool header_1_16(struct gopclntab *t)
{
	unsigned at = 8 + 2 * t->ptr; /* behind the numbers of functions and files */

	if (t->layout >= GO_1_18) {
		if (!go_get(t, at, t->ptr, &t->text))
			return false;
		at += t->ptr;
	}
	if (!go_get(t, 8, t->ptr, &t->nfunctions) || t->nfunctions > FUNCTIONS_MAX ||
	    !go_get(t, at, t->ptr, &t->names) ||
	    !go_get(t, at + t->ptr, t->ptr, &t->units) ||
	    !go_get(t, at + 2 * t->ptr, t->ptr, &t->files) ||
	    !go_get(t, at + 3 * t->ptr, t->ptr, &t->pcs) ||
	    !go_get(t, at + 4 * t->ptr, t->ptr, &t->functab))
		return false;
	if (t->names > t->n || t->units > t->n || t->files > t->n || t->pcs > t->n ||
	    t->functab > t->n)
		return false;
	t->functions = t->functab;
	t->has_trees = t->layout == GO_1_16;
	return true;
}

static int read_header(struct gopclntab *t, struct err *e)
{
	uint64_t high, end;
	bool ok;

	if (!go_is_header(t->p, t->n, t->file->swap, &t->layout))
		return err_set(e, EBADMSG, "unknown table of Go functions");
	t->quantum = t->p[6];
	t->ptr = t->p[7];
	if (t->ptr != (t->file->is64 ? 8 : 4))
		return err_set(e, EBADMSG, "table of Go functions for another machine");
	ok = t->layout == GO_1_2 ? header_1_2(t) : header_1_16(t);
	ok = ok && t->nfunctions &&
	     go_get(t, t->functab + 2ull * entry_size(t) * t->nfunctions, entry_size(t),
		    &end);
	if (ok && t->layout >= GO_1_18)
		go_find_moduledata(t);
	if (ok && t->layout >= GO_1_18 && !t->text)
		return err_set(e, EBADMSG, "where Go's code starts is not to be found");
	/* the text's start is wrong, or lost, if the functions are not where code is */
	if (!ok || !elf_is_code(t->file, gopclntab_entry(t, 0), &high) ||
	    !elf_is_code(t->file, gopclntab_entry(t, t->nfunctions) - 1, &high))
		return err_set(e, EBADMSG, "damaged table of Go functions");
	return 0;
}

static int over_limit(struct err *e)
{
	return err_set(e, EFBIG, "table of Go functions is over the limit");
}

int gopclntab_open(struct elf_file *f, struct gopclntab **out, struct err *e)
{
	struct gopclntab *t;
	uint64_t addr = 0, n = 0, room = elf_room(f);
	int r = go_find_table(f, &addr, &n, e);

	if (r)
		return r;
	if (n > room)
		return over_limit(e);
	t = xcalloc(1, sizeof(*t));
	t->file = f;
	t->addr = addr;
	r = elf_load(f, addr, n ? n : room + 1, &t->p, &t->n, e);
	if (!r && t->n > room)
		r = over_limit(e);
	t->room = room - (r ? 0 : t->n);
	if (!r) {
		go_relocate(f, addr, t->p, t->n);
		r = read_header(t, e);
	}
	if (r)
		gopclntab_free(t);
	else
		*out = t;
	return r;
}

void gopclntab_free(struct gopclntab *t)
{
	if (!t)
		return;
	free(t->p);
	free(t->trees);
	free(t);
}

static const char *string_at(const struct gopclntab *t, uint64_t off)
{
	if (off >= t->n || !memchr(t->p + off, 0, t->n - off))
		return "";
	return (const char *)t->p + off;
}

/*
 * A table of values by address: pairs of LEB128 numbers, the change of the value (zigzag) and
 * the length in instructions for which it holds. A change of 0 ends it, but for the first.
 */
static bool value_at(const struct gopclntab *t, uint64_t off, uint64_t entry, uint64_t pc,
		     int32_t *value)
{
	struct cursor c = cursor_at(t->p, t->n, t->pcs + off, t->file->swap);
	uint64_t at = entry;
	uint32_t v = UINT32_MAX, change;
	bool first = true;

	if (!off || off > t->n)
		return false;
	for (;; first = false) {
		change = cursor_uleb(&c);
		if (c.bad || (!change && !first))
			return false;
		v += change & 1 ? ~(change >> 1) : change >> 1;
		at += cursor_uleb(&c) * t->quantum;
		if (c.bad)
			return false;
		if (pc < at) {
			*value = (int32_t)v;
			return true;
		}
	}
}

static const char *file_at(const struct gopclntab *t, const struct function *f,
			   uint64_t pc)
{
	uint64_t off;
	int32_t no;

	if (!value_at(t, f->pcfile, f->entry, pc, &no) || no < 0)
		return "";
	if (t->layout == GO_1_2)
		return go_get(t, t->files + 4ull * no, 4, &off) ? string_at(t, off) : "";
	if (!go_get(t, t->units + 4 * (f->unit + no), 4, &off) || off == UINT32_MAX)
		return "";
	return string_at(t, t->files + off);
}

static uint64_t tree_address(const struct gopclntab *t, uint64_t off, uint64_t npcdata,
			     uint64_t nfuncdata)
{
	unsigned size = entry_size(t);
	uint64_t which = t->layout == GO_1_2 ? FUNCDATA_INLINE_TREE_1_2
					     : FUNCDATA_INLINE_TREE,
		 v;

	if (nfuncdata <= which)
		return 0;
	off += 4 * npcdata;
	off += -(t->addr + off) & (size - 1);
	if (!go_get(t, off + which * size, size, &v))
		return 0;
	if (t->layout < GO_1_18)
		return v;
	return v == UINT32_MAX ? 0 : t->gofunc + v;
}

/* The record at `off`: its entry again, 32-bit fields, four bytes, then two lists. */
static bool read_function(const struct gopclntab *t, size_t i, struct function *f)
{
	unsigned size = entry_size(t);
	uint64_t off, at, npcdata, nfuncdata, v;

	*f = (struct function){.entry = gopclntab_entry(t, i)};
	if (!go_get(t, t->functab + 2ull * size * i + size, size, &off))
		return false;
	off += t->functions + size;
	if (off > t->n || !go_get(t, off, 4, &f->name) ||
	    !go_get(t, off + 16, 4, &f->pcfile) || !go_get(t, off + 20, 4, &f->pcln) ||
	    !go_get(t, off + 24, 4, &npcdata))
		return false;
	at = off + 28;
	if (t->layout >= GO_1_16 && !go_get(t, at, 4, &f->unit))
		return false;
	at += t->layout >= GO_1_16 ? 4 : 0;
	if (t->layout >= GO_1_20 && !go_get(t, at, 4, &f->start_line))
		return false;
	at += t->layout >= GO_1_20 ? 4 : 0;
	if (!go_get(t, at + 3, 1, &nfuncdata))
		return false;
	at += 4;
	if (t->has_trees && npcdata > PCDATA_INLINE_INDEX &&
	    go_get(t, at + 4ull * PCDATA_INLINE_INDEX, 4, &v)) {
		f->inline_index = v;
		f->tree = tree_address(t, at, npcdata, nfuncdata);
	}
	return true;
}

/* Which function has the address; false: none of Go's. */
static bool find_function(const struct gopclntab *t, uint64_t addr, struct function *f)
{
	size_t lo = 0, hi = t->nfunctions, mid;

	if (addr < gopclntab_entry(t, 0) || addr >= gopclntab_entry(t, hi))
		return false;
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (gopclntab_entry(t, mid) <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return read_function(t, lo, f) && f->entry <= addr;
}

/* Bytes of an inline tree, from the table itself or from the segment that holds the trees. */
static const uint8_t *tree_bytes(struct gopclntab *t, uint64_t addr, size_t n)
{
	const struct elf_segment *s = t->file->segments;
	struct err ignored;

	if (addr >= t->addr && addr - t->addr < t->n && n <= t->n - (addr - t->addr))
		return t->p + (addr - t->addr);
	if (!t->trees_tried) {
		t->trees_tried = true;
		while (s < t->file->segments + t->file->nsegments &&
		       (addr < s->vaddr || addr - s->vaddr >= s->filesz))
			s++;
		if (s == t->file->segments + t->file->nsegments ||
		    elf_load(t->file, s->vaddr, t->room + 1, &t->trees, &t->trees_n,
			     &ignored))
			return NULL;
		if (t->trees_n > t->room) {
			free(t->trees);
			t->trees = NULL;
			t->trees_n = 0;
			t->over_memory = true;
			return NULL;
		}
		t->trees_addr = s->vaddr;
	}
	if (addr < t->trees_addr || addr - t->trees_addr >= t->trees_n ||
	    n > t->trees_n - (addr - t->trees_addr))
		return NULL;
	return t->trees + (addr - t->trees_addr);
}

struct call { /* a record of an inline tree: what was inlined, and where from */
	const char *name;
	uint64_t parent_pc;
	uint32_t start_line;
};

static bool read_call(struct gopclntab *t, const struct function *f, int32_t index,
		      struct call *out)
{
	size_t size = t->layout >= GO_1_20 ? 16 : 20;
	const uint8_t *p = tree_bytes(t, f->tree + size * index, size);
	struct cursor c;

	t->lacks_tree = !p && t->over_memory;
	if (!p)
		return false;
	c = cursor_at(p, size, t->layout >= GO_1_20 ? 4 : 12, t->file->swap);
	out->name = string_at(t, t->names + cursor_u32(&c));
	out->parent_pc = f->entry + cursor_u32(&c);
	out->start_line = t->layout >= GO_1_20 ? cursor_u32(&c) : 0;
	return out->name[0];
}

size_t gopclntab_find(struct gopclntab *t, uint64_t addr, struct go_frame *v)
{
	struct function f;
	struct call call;
	const char *name;
	int32_t line = 0, index;
	uint64_t pc = addr;
	size_t n = 0;

	t->lacks_tree = false;
	if (!find_function(t, addr, &f))
		return 0;
	name = string_at(t, t->names + f.name);
	if (!name[0] || (f.pcln && !value_at(t, f.pcln, f.entry, addr, &line)))
		return 0;
	while (n < GO_FRAMES_MAX) {
		if (!f.pcln || !value_at(t, f.pcln, f.entry, pc, &line) || line < 0)
			line = 0;
		v[n++] = (struct go_frame){name, file_at(t, &f, pc), line, f.start_line};
		if (!f.tree || !value_at(t, f.inline_index, f.entry, pc, &index) ||
		    index < 0 || !read_call(t, &f, index, &call))
			return n;
		v[n - 1].name = call.name;
		v[n - 1].start_line = call.start_line;
		pc = call.parent_pc;
	}
	/* a tree that runs in circles: only the function itself is certain */
	v[0].name = name;
	v[0].start_line = f.start_line;
	return 1;
}

/* The ends of the stretches that have one value. */
static void value_bounds(const struct gopclntab *t, uint64_t off, uint64_t at,
			 struct bounds *b)
{
	struct cursor c = cursor_at(t->p, t->n, t->pcs + off, t->file->swap);
	bool first = true;

	if (!off || off > t->n)
		return;
	for (;; first = false) {
		if ((!cursor_uleb(&c) && !first) || c.bad)
			return;
		at += cursor_uleb(&c) * t->quantum;
		if (c.bad)
			return;
		bounds_add(b, at);
	}
}

void gopclntab_bounds(const struct gopclntab *t, struct bounds *b)
{
	struct function f;
	size_t i;

	for (i = 0; i < t->nfunctions; i++) {
		bounds_add(b, gopclntab_entry(t, i));
		if (!read_function(t, i, &f))
			continue;
		value_bounds(t, f.pcfile, f.entry, b);
		value_bounds(t, f.pcln, f.entry, b);
		value_bounds(t, f.inline_index, f.entry, b);
	}
	bounds_add(b, gopclntab_entry(t, t->nfunctions));
}

size_t go_name_split(const char *name, const char **rest)
{
	const char *open = strchr(name, '['), *close = strrchr(name, ']');

	if (!open || !close || close < open) {
		*rest = "";
		return strlen(name);
	}
	*rest = close + 1;
	return open - name;
}
