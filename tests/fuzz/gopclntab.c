/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's tables. Input: a byte of flags (1: no section is named after the table), then for the
 * table, the inline trees, the data with moduledata and the relocations a 16-bit little-endian
 * size and that many bytes.
 */
#include <stdint.h>
#include <stdlib.h>

#include "lib/sym/gopclntab.h"
#include "tests/symbolize/gomake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(struct elfmake *m, const char *name, uint32_t type, uint64_t addr,
		 const uint8_t **p, size_t *n)
{
	size_t k = *n >= 2 ? (*p)[0] | (*p)[1] << 8 : 0;
	struct buf b = BUF_INIT(1 << 16);

	*p += *n >= 2 ? 2 : *n;
	*n -= *n >= 2 ? 2 : *n;
	if (k > *n)
		k = *n;
	buf_put(&b, *p, k);
	gomake_add(m, name, addr, &b, type);
	*p += k;
	*n -= k;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elfmake m = elfmake_new();
	struct go_frame v[GO_FRAMES_MAX];
	struct gopclntab *t = NULL;
	struct elf_file *f;
	const char *rest;
	struct err e;
	uint64_t addr;
	size_t i, n;
	bool named = size && !(*data & 1);

	data += size > 0;
	size -= size > 0;
	take(&m, named ? ".gopclntab" : ".data.rel.ro", SHT_PROGBITS, GO_TABLE, &data,
	     &size);
	take(&m, ".rodata", SHT_PROGBITS, GO_TREES, &data, &size);
	take(&m, ".data", SHT_PROGBITS, GO_DATA, &data, &size);
	take(&m, ".rela.dyn", SHT_RELA, 0x40000, &data, &size);
	elfmake_section(&m, ".go.buildinfo", SHT_PROGBITS, SHF_ALLOC, 0x50000, "x", 1);
	f = elfmake_open(&m, ET_DYN);
	if (f && !gopclntab_open(f, &t, &e)) {
		for (addr = TEXT_ADDR - 1; addr < TEXT_ADDR + 0x80; addr++) {
			n = gopclntab_find(t, addr, v);
			if (n > GO_FRAMES_MAX)
				abort();
			for (i = 0; i < n; i++)
				if (go_name_split(v[i].name, &rest) > strlen(v[i].name) ||
				    strlen(v[i].file) >= GO_TABLE)
					abort();
		}
	}
	gopclntab_free(t);
	elf_free(f);
	return 0;
}
