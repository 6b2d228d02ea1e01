/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: an index of symbols. The checksum is put right, or nothing else would be tried. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"
#include "lib/sym/symindex.h"

#define CHECKED_FROM 12
#define CHECKED_TO 128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct symindex *x, uint64_t vaddr)
{
	struct sym_answer a = symindex_find(x, vaddr);
	struct sym_location l;
	struct sym_function f;
	uint32_t id = a.location;

	while (id != SYM_NONE && symindex_location(x, id, &l)) {
		if (!symindex_function(x, l.function, &f) ||
		    (l.caller != SYM_NONE && l.caller >= id))
			abort();
		if (symindex_string(x, f.name).n + symindex_string(x, f.system).n +
			    symindex_string(x, l.file).n >
		    3 * symindex_bytes(x))
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
	uint32_t crc, i;
	uint64_t vaddr;

	if (size >= CHECKED_TO) {
		crc = unpack_crc32(0, p + CHECKED_FROM, CHECKED_TO - CHECKED_FROM);
		memcpy(p + 8, &crc, sizeof(crc));
	}
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
