/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that no call frame information gives. Not for use outside unwindtab*.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/sym/elf.h"
#include "lib/sym/unwindtab.h"

/* Index of the first row after pc. */
size_t unwind_table_after(const struct unwind_table *t, uint32_t pc);

/* UNWIND_END for the entry routine. base: the address of pc 0. */
void unwind_amend_entry(struct elf_file *f, uint64_t base, struct unwind_table *t);

/* UNWIND_SIGNAL in arm64's vDSO, which has no call frame information. */
void unwind_amend_sigreturn(struct elf_file *f, uint64_t base, struct unwind_table *t);

/*
 * Two of Go's functions (runtime/asm_GOARCH.s, sys_linux_GOARCH.s), found by their symbols. rt0_go
 * sets its own stack up, which its rows do not say: UNWIND_END. Signal handlers return to sigreturn,
 * and are looked up one byte before: UNWIND_SIGNAL.
 */
void unwind_amend_go(struct elf_file *f, uint64_t base, struct unwind_table *t);
