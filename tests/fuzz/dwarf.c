/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information without the ELF around it. Input: a 16-bit little-endian size and that
 * many bytes for each section of the list below, in order; what is missing is empty. Code lies
 * at [0x1000, 0x2000).
 */
#include <stdint.h>

#include "lib/sym/dwarf.h"
#include "tests/symbolize/elfmake.h"

#define ADDRESSES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const sections[] = {
	".debug_abbrev",
	".debug_info",
	".debug_line",
	".debug_str",
	".debug_line_str",
	".debug_ranges",
	".debug_rnglists",
	".debug_addr",
	".debug_str_offsets",
	/* a package of split units, in the same file */
	".debug_cu_index",
	".debug_info.dwo",
	".debug_abbrev.dwo",
	".debug_str.dwo",
	".debug_str_offsets.dwo",
	".debug_rnglists.dwo",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elfmake m = elfmake_new();
	uint64_t addrs[ADDRESSES];
	struct dwarf_result r;
	struct dwarf_more more = {0};
	struct intern strings;
	struct elf_file *f;
	struct dwarf *dw = NULL;
	struct err e;
	size_t i, n;

	for (i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		n = size >= 2 ? data[0] | data[1] << 8 : 0;
		data += size >= 2 ? 2 : size;
		size -= size >= 2 ? 2 : size;
		if (n > size)
			n = size;
		elfmake_section(&m, sections[i], SHT_PROGBITS, 0, 0, data, n);
		data += n;
		size -= n;
	}
	for (i = 0; i < ADDRESSES; i++)
		addrs[i] = TEXT_ADDR + i * (TEXT_SIZE / ADDRESSES);
	f = elfmake_open(&m, ET_DYN);
	intern_init(&strings);
	more.dwp = f;
	if (f && !dwarf_open(f, &more, &strings, &dw, &e)) {
		dwarf_lookup(dw, addrs, ADDRESSES, &r);
		for (i = 0; i < r.nframes; i++)
			if (r.frames[i].file >= strings.n ||
			    (r.frames[i].function != DWARF_NONE &&
			     r.frames[i].function >= dwarf_nfunctions(dw)))
				abort();
		dwarf_result_release(&r);
	}
	dwarf_free(dw);
	elf_free(f);
	intern_release(&strings);
	return 0;
}
