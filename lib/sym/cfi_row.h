/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the rules of call frame information to an unwind row.
 *
 * Expressions are taken by their form: that of linkers' lazy PLT, of a stack pointer kept in
 * memory (gcc where it realigns the stack, OpenSSL's assembler) and of the kernel's signal
 * frame. Where a row cannot hold the rule for x86-64's frame pointer, it is UNWIND_FP_UNDEFINED:
 * the stack goes on as long as nobody needs it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/row.h"
#include "lib/sym/cfi.h"

/* Registers of EM_X86_64 and EM_AARCH64; false: another machine. */
bool cfi_machine_of(uint16_t machine, struct cfi_machine *out);

/* rule, cfa and fp of a row; its pc is 0. */
struct unwind_row cfi_row(uint16_t machine, const struct cfi *c,
			  const struct cfi_state *s);
