/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object's files offer: debug information, tables of symbols, Go's own.
 */
#include <errno.h>
#include <string.h>

#include "lib/sym/object_internal.h"

#define LARGE_BYTES                                                                      \
	(8u << 20) /* of .debug_info as it is in the file: some tenths of a second */

static void open_symbols(struct object *o)
{
	struct elf_file *bin = o->bin.elf;
	struct err e;

	if (bin)
		symtab_open(bin, SYMTAB_FULL, &o->symtab, &e);
	if (o->debug.elf && !o->symtab)
		symtab_open(o->debug.elf, SYMTAB_FULL, &o->debug_symtab, &e);
	if (!bin)
		return;
	if (!o->symtab && !o->debug_symtab &&
	    elf_open_debugdata(bin, &o->mini, &e) != -ENODATA &&
	    (!o->mini || symtab_open(o->mini, SYMTAB_FULL, &o->mini_symtab, &e)))
		object_add_trouble(o, o->bin.path, e.msg);
	plt_open(bin, &o->plt, &e);
	symtab_open(bin, SYMTAB_DYNAMIC, &o->dynsym, &e);
}

static struct elf_file *find_dwo(void *context, const char *dir, const char *name)
{
	struct object *o = context;

	return debugfile_dwo(o->paths, o->debug.elf ? o->debug.path : o->bin.path, dir,
			     name, &o->tried);
}

static void open_dwarf(struct object *o)
{
	struct elf_file *f = o->debug.elf ? o->debug.elf : o->bin.elf;
	const char *path = o->debug.elf ? o->debug.path : o->bin.path;
	struct dwarf_more more = {
		.find_dwo = find_dwo, .context = o, .threads = o->threads};
	struct err e;

	if (!elf_has_debug(f, "info"))
		return;
	if (!o->alt.elf && debugfile_alt(o->paths, f, path, &o->alt) != FOUND_FILE)
		object_note_trouble(o, &o->alt);
	o->dwp = debugfile_dwp(path);
	if (!o->dwp && o->bin.elf && o->debug.elf)
		o->dwp = debugfile_dwp(o->bin.path);
	more.alt = o->alt.elf;
	more.dwp = o->dwp;
	if (dwarf_open(f, &more, &o->strings, &o->dwarf, &e))
		object_add_trouble(o, path, e.msg);
}

/* Read what the files offer; again after object_trim(). */
void object_open_sources(struct object *o)
{
	struct elf_file *bin = o->bin.elf;
	struct err e;

	if (o->opened)
		return;
	o->opened = true;
	open_dwarf(o);
	if (bin && o->go && gopclntab_open(bin, &o->go_table, &e) && e.code != ENODATA)
		object_add_trouble(o, o->bin.path, e.msg);
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
