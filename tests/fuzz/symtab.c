/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a table of symbols, and the allocator that it names. Input: a 16-bit little-endian size, that many bytes of names,
 * then the symbols, of a 64-bit file. Code lies at [0x1000, 0x2000).
 */
#include <stdint.h>

#include "lib/sym/allocfind.h"
#include "lib/sym/symtab.h"
#include "tests/symbolize/elfmake.h"

#define STEP 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct elf_file *f, enum symtab_kind kind)
{
	struct bounds b = {0};
	struct symtab *t;
	struct symbol s;
	struct err e;
	uint64_t at;

	if (symtab_open(f, kind, &t, &e))
		return;
	for (at = TEXT_ADDR - STEP; at < TEXT_ADDR + TEXT_SIZE + STEP; at += STEP)
		if (symtab_find(t, at, &s) &&
		    (!s.name[0] || s.addr > at || (s.size && at - s.addr >= s.size)))
			abort();
	symtab_bounds(t, &b);
	if (b.n != 2 * symtab_count(t))
		abort();
	free(b.v);
	symtab_free(t);
}

/* Functions of an allocator: sorted, each once, where the file has code. */
static void look_for_allocator(struct elf_file *f)
{
	struct alloc_places p;
	uint32_t i;

	alloc_find(f, &p);
	if (p.n > ALLOC_FUNCTIONS_MAX)
		abort();
	for (i = 0; i < p.n; i++)
		if (p.v[i].addr < TEXT_ADDR || p.v[i].addr >= TEXT_ADDR + TEXT_SIZE ||
		    p.v[i].op == ALLOC_NOTHING || (i && p.v[i].addr <= p.v[i - 1].addr))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elfmake m = elfmake_new();
	struct elf_file *f;
	unsigned names, v[2], i;
	size_t n = size >= 2 ? data[0] | data[1] << 8 : 0;

	data += size >= 2 ? 2 : size;
	size -= size >= 2 ? 2 : size;
	if (n > size)
		n = size;
	names = elfmake_section(&m, ".strtab", SHT_STRTAB, 0, 0, data, n);
	v[0] = elfmake_section(&m, ".symtab", SHT_SYMTAB, 0, 0, data + n, size - n);
	v[1] = elfmake_section(&m, ".dynsym", SHT_DYNSYM, 0, 0, data + n, size - n);
	for (i = 0; i < 2; i++)
		m.sh[v[i]].sh_link = names;
	elfmake_segment(&m, 0x400, TEXT_ADDR, TEXT_SIZE, TEXT_SIZE, PF_R | PF_X, 0x400);
	f = elfmake_open(&m, ET_DYN);
	if (f) {
		look(f, SYMTAB_FULL);
		look(f, SYMTAB_DYNAMIC);
		look_for_allocator(f);
	}
	elf_free(f);
	return 0;
}
