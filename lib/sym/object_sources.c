/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object's files offer: debug information, tables of symbols, Go's own.
 */
#include <errno.h>
#include <string.h>

#include "lib/sym/object_internal.h"

#define LARGE_BYTES                                                                      \
	(8u << 20) /* of .debug_info as it is in the file: some tenths of a second */

/* A source that could not be opened: one that takes too much memory is a reason of its own. */
static void note(struct object *o, const char *path, const struct err *e)
{
	o->over_memory |= e->code == EFBIG;
	object_add_trouble(o, path, e->msg);
}

/* Does all that is open fit into memory as allowed? Else the source opened last has to go. */
static bool fits(struct object *o, const char *path)
{
	struct err e;

	if (object_bytes(o) <= o->budget.max)
		return true;
	err_set(&e, EFBIG, "tables are over the limit of memory");
	note(o, path, &e);
	return false;
}

static void open_symtab(struct object *o, struct elf_file *f, enum symtab_kind kind,
			const char *path, struct symtab **out)
{
	struct err e;

	if (symtab_open(f, kind, out, &e)) {
		if (e.code == EFBIG)
			note(o, path, &e);
	} else if (!fits(o, path)) {
		symtab_free(*out);
		*out = NULL;
	}
}

/* .gnu_debugdata: symbols that are in the file, but packed. */
static void open_mini(struct object *o)
{
	struct err e;
	int r = elf_open_debugdata(o->bin.elf, &o->mini, &e);

	if (r == -ENODATA)
		return;
	if (r) {
		note(o, o->bin.path, &e);
		return;
	}
	elf_set_budget(o->mini, &o->budget);
	if (!fits(o, o->bin.path))
		return;
	if (symtab_open(o->mini, SYMTAB_FULL, &o->mini_symtab, &e))
		note(o, o->bin.path, &e);
}

static void open_symbols(struct object *o)
{
	struct elf_file *bin = o->bin.elf;
	struct err e;

	if (bin)
		open_symtab(o, bin, SYMTAB_FULL, o->bin.path, &o->symtab);
	if (o->debug.elf && !o->symtab)
		open_symtab(o, o->debug.elf, SYMTAB_FULL, o->debug.path,
			    &o->debug_symtab);
	if (!bin)
		return;
	if (!o->symtab && !o->debug_symtab)
		open_mini(o);
	plt_open(bin, &o->plt, &e);
	open_symtab(o, bin, SYMTAB_DYNAMIC, o->bin.path, &o->dynsym);
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
	struct dwarf_more more = {
		.find_dwo = find_dwo,
		.context = o,
		.threads = o->threads,
		.table_max = o->budget.max,
	};
	uint64_t used;
	struct err e;

	if (!elf_has_debug(f, "info"))
		return;
	find_others(o, f, path);
	more.alt = o->alt.elf;
	more.dwp = o->dwp;
	if (dwarf_open(f, &more, &o->strings, &o->dwarf, &e)) {
		note(o, path, &e);
		elf_suspend(f); /* what was read of it before is of no use */
		return;
	}
	used = o->budget.used < o->budget.max ? o->budget.used : o->budget.max;
	dwarf_limit_tables(o->dwarf, (o->budget.max - used) / 4 * 3);
}

/* Read what the files offer; again after object_trim(). */
void object_open_sources(struct object *o)
{
	struct elf_file *bin = o->bin.elf;
	struct err e;

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
	open_dwarf(o);
	if (bin && o->go) {
		if (!gopclntab_open(bin, &o->go_table, &e)) {
			if (!fits(o, o->bin.path)) {
				gopclntab_free(o->go_table);
				o->go_table = NULL;
			}
		} else if (e.code != ENODATA) {
			note(o, o->bin.path, &e);
		}
	}
	open_symbols(o);
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
