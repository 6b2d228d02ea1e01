/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel and its modules as objects: which file is theirs, and where it lay.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/object_internal.h"

#define CORE "[kernel.kallsyms]"

bool object_is_kernel(const char *path)
{
	size_t n = strlen(path);

	if (!strncmp(path, CORE, strlen(CORE)))
		return path[strlen(CORE)];
	return n > 2 && path[0] == '[' && strchr(path, ']') == path + n - 1 &&
	       strcmp(path, "[vdso]") != 0;
}

/* The mapping starts at a symbol of vmlinux, which is linked for another place than it runs at. */
static bool find_base(struct object *o, bool core)
{
	bool found = !core && o->bin.elf->type == ET_REL;

	if (core)
		found = symtab_address(o->bin.elf, o->path + strlen(CORE),
				       &o->kernel_base);
	else
		o->kernel_base = ELF_MODULE_BASE;
	elf_suspend(o->bin.elf);
	return found;
}

void object_find_kernel(struct object *o)
{
	bool core = !strncmp(o->path, CORE, strlen(CORE));
	char *module = core ? NULL : xstrndup(o->path + 1, strlen(o->path) - 2);
	enum found found = debugfile_kernel(o->paths, module, &o->id, &o->bin), got;

	/* that of a kernel is large, but without lines there is nothing to be had from it */
	if (o->paths->debuginfod &&
	    (found != FOUND_FILE || !elf_has_debug(o->bin.elf, "info"))) {
		got = object_fetch(o, DEBUGINFOD_DEBUGINFO, &o->id, module, &o->bin);
		if (got == FOUND_FILE || found == FOUND_NOTHING)
			found = got;
	}
	free(module);
	if (found == FOUND_FILE)
		o->state = find_base(o, core) ? SYM_OK : SYM_NO_SYMBOLS;
	else if (found == FOUND_MISMATCH)
		o->state = SYM_BUILD_ID_MISMATCH;
	else
		o->state = found == FOUND_UNUSABLE ? SYM_UNUSABLE_FILE : SYM_NO_FILE;
	if (found != FOUND_FILE)
		object_note_trouble(o, &o->bin);
}

enum sym_reason object_kernel_vaddr(const struct object *o, uint64_t start,
				    uint64_t limit, uint64_t offset, uint64_t addr,
				    uint64_t *vaddr)
{
	uint64_t v = addr - start + o->kernel_base, high;

	if (o->state)
		return o->state;
	/* perf writes the place of the symbol into the offset, too */
	if (addr < start || addr >= limit || (offset && offset != start) ||
	    !elf_is_code(o->bin.elf, v, &high))
		return SYM_NO_SEGMENT;
	*vaddr = v;
	return SYM_OK;
}

static bool covers(struct object *o, const char *name, uint64_t vaddr)
{
	struct err ignored;

	if (!o->names && symnames_open(o->bin.elf, &o->names, &ignored))
		return false;
	return symnames_cover(o->names, name, vaddr);
}

bool object_is_called(struct object *o, const struct sym_answer *a, uint64_t vaddr,
		      const char *name)
{
	struct sym_location l = {.caller = a->location};
	struct sym_function f;

	while (l.caller != SYM_NONE)
		l = object_location(o, l.caller);
	f = object_function(o, l.function);
	return !strcmp(object_string(o, f.system).p, name) ||
	       !strcmp(object_string(o, f.name).p, name) ||
	       (o->bin.elf && covers(o, name, vaddr));
}
