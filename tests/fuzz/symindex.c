/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: an index of symbols. Checksums are put right, or nothing else would be tried. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/symindex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct symindex *x, uint64_t vaddr)
{
	struct sym_answer a = symindex_find(x, vaddr);
	struct sym_location l;
	struct sym_function f;
	struct str name, system, file;
	uint32_t id = a.location;

	while (id != SYM_NONE && symindex_location(x, id, &l)) {
		if (!symindex_function(x, l.function, &f) ||
		    (l.caller != SYM_NONE && l.caller >= id))
			abort();
		if (symindex_string(x, f.name, &name) &&
		    symindex_string(x, f.system, &system) &&
		    symindex_string(x, l.file, &file) &&
		    (uint64_t)name.n + system.n + file.n > 3 * symindex_bytes(x))
			abort();
		id = l.caller;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p = xmemdup(data, size ? size : 1);
	struct symindex *x;
	struct elf_file *f;
	struct err e;
	uint32_t i;
	uint64_t vaddr;

	/* an odd last byte: damage stays what it is */
	if (!size || !(data[size - 1] & 1))
		symindex_seal(p, size);
	if (symindex_parse(p, size, &x, &e))
		return 0;
	f = symindex_elf(x);
	for (i = 0; i < f->nsegments; i++)
		elf_vaddr(f, f->segments[i].offset + 1, &vaddr);
	elf_free(f);
	for (i = 0; i < 4096; i += 7)
		look(x, 0x1000 + i);
	for (i = 0; i < 64; i++)
		look(x, 1ull << i);
	symindex_free(x);
	return 0;
}
