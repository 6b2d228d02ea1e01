/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object's files offer: debug information, tables of symbols, Go's own.
 */
#include <errno.h>
#include <string.h>

#include "lib/sym/object_internal.h"

#define LARGE_BYTES                                                                      \
	(8u << 20) /* of .debug_info as it is in the file: some tenths of a second */

/*
 * Each source has a part of the memory to itself. Whether it fits in then depends on nothing but
 * its own size, and what more memory lets in is never in the way of what less memory had.
 */
#define SHARES 8
#define SHARE_EXPORTS 1 /* with the linkage table */
#define SHARE_SYMBOLS 2
#define SHARE_GO 2 /* of Go programs; else debug information's, as all the rest is */

/* What is opened now may take so much. */
static void allow(struct object *o, unsigned shares)
{
	uint64_t bytes = o->max_bytes / SHARES * shares;

	o->allowed = object_bytes(o) + bytes;
	o->budget.max = o->budget.used + bytes;
}

/* A source that could not be opened: *over says so if that is for want of memory. */
static void note(struct object *o, const char *path, const struct err *e, bool *over)
{
	*over |= e->code == EFBIG;
	object_add_trouble(o, path, e->msg);
}

/* Else the source opened last has to go. */
static bool fits(struct object *o, const char *path, bool *over)
{
	struct err e;

	if (object_bytes(o) <= o->allowed)
		return true;
	err_set(&e, EFBIG, "tables are over the limit of memory");
	note(o, path, &e, over);
	return false;
}

static void open_symtab(struct object *o, struct elf_file *f, enum symtab_kind kind,
			const char *path, struct symtab **out)
{
	bool full = kind == SYMTAB_FULL;
	struct err e;

	if (symtab_open(f, kind, out, &e)) {
		if (e.code == EFBIG)
			note(o, path, &e, &o->over.symbols);
	} else if (!fits(o, path, &o->over.symbols)) {
		symtab_free(*out);
		*out = NULL;
		elf_forget(f, full ? ".symtab" : ".dynsym");
		elf_forget(f, full ? ".strtab" : ".dynstr");
	}
}

/* .gnu_debugdata: symbols that are in the file, but packed. */
static void open_mini(struct object *o)
{
	bool *over = &o->over.symbols;
	struct err e;
	int r = elf_open_debugdata(o->bin.elf, &o->mini, &e);

	if (r == -ENODATA)
		return;
	if (r) {
		note(o, o->bin.path, &e, over);
		return;
	}
	elf_set_budget(o->mini, &o->budget);
	if (!fits(o, o->bin.path, over))
		return;
	if (symtab_open(o->mini, SYMTAB_FULL, &o->mini_symtab, &e))
		note(o, o->bin.path, &e, over);
}

static void open_exports(struct object *o)
{
	struct err ignored;

	allow(o, SHARE_EXPORTS);
	open_symtab(o, o->bin.elf, SYMTAB_DYNAMIC, o->bin.path, &o->dynsym);
	plt_open(o->bin.elf, &o->plt, &ignored);
}

static void open_symbols(struct object *o)
{
	struct elf_file *bin = o->bin.elf;

	if (bin)
		open_exports(o);
	allow(o, SHARE_SYMBOLS);
	if (bin)
		open_symtab(o, bin, SYMTAB_FULL, o->bin.path, &o->symtab);
	if (o->debug.elf && !o->symtab)
		open_symtab(o, o->debug.elf, SYMTAB_FULL, o->debug.path,
			    &o->debug_symtab);
	if (bin && !o->symtab && !o->debug_symtab)
		open_mini(o);
}

static void open_go(struct object *o)
{
	struct err e;

	allow(o, SHARE_GO);
	if (gopclntab_open(o->bin.elf, &o->go_table, &e)) {
		if (e.code != ENODATA)
			note(o, o->bin.path, &e, &o->over.go);
	} else if (!fits(o, o->bin.path, &o->over.go)) {
		gopclntab_free(o->go_table);
		o->go_table = NULL;
	}
}

static struct elf_file *find_dwo(void *context, const char *dir, const char *name)
{
	struct object *o = context;
	struct elf_file *f =
		debugfile_dwo(o->paths, o->debug.elf ? o->debug.path : o->bin.path, dir,
			      name, &o->tried);

	if (f)
		elf_set_budget(f, &o->budget);
	return f;
}

static void find_others(struct object *o, struct elf_file *f, const char *path)
{
	if (!o->alt.elf && debugfile_alt(o->paths, f, path, &o->alt) != FOUND_FILE)
		object_note_trouble(o, &o->alt);
	o->dwp = debugfile_dwp(path);
	if (!o->dwp && o->bin.elf && o->debug.elf)
		o->dwp = debugfile_dwp(o->bin.path);
	if (o->alt.elf)
		elf_set_budget(o->alt.elf, &o->budget);
	if (o->dwp)
		elf_set_budget(o->dwp, &o->budget);
}

static void open_dwarf(struct object *o)
{
	struct elf_file *f = o->debug.elf ? o->debug.elf : o->bin.elf;
	const char *path = o->debug.elf ? o->debug.path : o->bin.path;
	unsigned shares = SHARES - SHARE_EXPORTS - SHARE_SYMBOLS - (o->go ? SHARE_GO : 0);
	struct dwarf_more more = {
		.find_dwo = find_dwo,
		.context = o,
		.threads = o->threads,
		.table_max = o->max_bytes / SHARES * shares / 8 * 3,
	};
	uint64_t left;
	struct err e;

	if (!elf_has_debug(f, "info"))
		return;
	allow(o, shares);
	find_others(o, f, path);
	more.alt = o->alt.elf;
	more.dwp = o->dwp;
	if (dwarf_open(f, &more, &o->strings, &o->dwarf, &e)) {
		note(o, path, &e, &o->over.dwarf);
		/* what was read of it before is of no use */
		elf_forget(f, ".debug_");
		elf_forget(f, ".zdebug_");
		return;
	}
	/* tables that are kept, as much again for the one at work, and the rest for split units */
	left = o->budget.max - o->budget.used;
	dwarf_limit_tables(o->dwarf, left / 8 * 3);
	o->budget.max -= left / 8 * 6;
}

/* Read what the files offer; again after object_trim(). */
void object_open_sources(struct object *o)
{
	struct elf_file *bin = o->bin.elf;

	if (o->opened)
		return;
	o->opened = true;
	/* of data that may have to go */
	symnames_free(o->names);
	o->names = NULL;
	if (bin)
		elf_set_budget(bin, &o->budget);
	if (o->debug.elf)
		elf_set_budget(o->debug.elf, &o->budget);
	open_symbols(o);
	if (bin && o->go)
		open_go(o);
	open_dwarf(o);
}

static bool has_much(const struct elf_file *f)
{
	size_t i;

	for (i = 0; f && i < f->nsections; i++)
		if (f->sections[i].size >= LARGE_BYTES &&
		    (!strcmp(f->sections[i].name, ".debug_info") ||
		     !strcmp(f->sections[i].name, ".zdebug_info")))
			return true;
	return false;
}

bool object_is_large(const struct object *o)
{
	return has_much(o->bin.elf) || has_much(o->debug.elf);
}
