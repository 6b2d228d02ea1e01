/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information without the ELF around it. Input: a byte (bit 0: AArch64, bit 1: the
 * first section is .debug_frame too, bit 2: no section headers), a 16-bit little-endian size and
 * so many bytes of .eh_frame at 0x3000; the rest is .debug_frame. Code lies at [0x1000, 0x2000).
 *
 * Then the rows are used on a stack made of the same bytes.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/sym/unwindstack.h"
#include "tests/symbolize/elfmake.h"

#define EH_ADDR 0x3000
#define ROWS_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lookup(void *ctx, uint64_t addr, struct unwind_place *out)
{
	out->table = ctx;
	out->pc = (uint32_t)addr;
	return addr < 0x10000;
}

static void check(struct unwind_table *t, const uint8_t *data, size_t size)
{
	struct unwind_copy copy = {data, size, 0x7000};
	struct unwind_regs r = {.sp = 0x7000, .exact = true, .has_fp = true};
	uint64_t frames[UNWIND_FRAMES_MAX];
	enum unwound why;
	uint32_t pc;
	size_t i;

	if (!t->nrows || t->nrows > ROWS_MAX)
		abort();
	for (i = 1; i < t->nrows; i++)
		if (t->rows[i - 1].pc >= t->rows[i].pc)
			abort();
	for (pc = TEXT_ADDR; pc < TEXT_ADDR + TEXT_SIZE; pc += 0x40) {
		r.pc = r.lr = pc;
		r.fp = 0x7000 + (pc & 0xff);
		i = unwind_stack(t->machine, &r, &copy, lookup, t, frames,
				 UNWIND_FRAMES_MAX, &why);
		if (!i || i > UNWIND_FRAMES_MAX || why > UNWOUND_UNSUPPORTED)
			abort();
	}
}

static struct elf_file *make(uint8_t flags, const uint8_t *eh, size_t eh_n,
			     const uint8_t *debug, size_t debug_n)
{
	struct elfmake m = elfmake_new();
	bool bare = flags & 4;
	unsigned first;

	m.machine = flags & 1 ? EM_AARCH64 : EM_X86_64;
	m.entry = TEXT_ADDR + 0x100;
	elfmake_segment(&m, 0x400, TEXT_ADDR, TEXT_SIZE, TEXT_SIZE, PF_R | PF_X, 1);
	first = elfmake_section(&m,
				bare	    ? ".other"
				: flags & 2 ? ".debug_frame"
					    : ".eh_frame",
				SHT_PROGBITS, 0, EH_ADDR, eh, eh_n);
	elfmake_section(&m, ".debug_frame", SHT_PROGBITS, 0, 0, debug, debug_n);
	if (bare) {
		elfmake_segment(&m, m.sh[first].sh_offset, EH_ADDR, eh_n, eh_n, PF_R, 1);
		m.ph[m.nph] = m.ph[m.nph - 1];
		m.ph[m.nph++].p_type = PT_GNU_EH_FRAME;
	}
	return elfmake_open(&m, ET_DYN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_limits lim = {.max_rows = ROWS_MAX};
	struct unwind_table t;
	struct elf_file *f;
	struct err e;
	size_t n;

	if (size < 3)
		return 0;
	n = data[1] | data[2] << 8;
	if (n > size - 3)
		n = size - 3;
	f = make(data[0], data + 3, n, data + 3 + n, size - 3 - n);
	if (f && !unwind_table_build(f, &lim, &t, &e)) {
		check(&t, data, size);
		unwind_table_release(&t);
	}
	elf_free(f);
	return 0;
}
