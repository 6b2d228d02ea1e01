/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Unwind rows: what a compiler's call frame information (DWARF 5, 6.4) says of a run of
 * instructions, cut down to what stacks need: where the caller's frame begins (CFA), where the
 * frame pointer was saved, and where the return address is. Written by lib/sym/unwindtab.c, read
 * by the BPF program and by user space when it unwinds copied stacks.
 */
#pragma once

#ifdef __bpf__
#include "bpf/kernel.h"
#else
#include <linux/types.h>
#endif

/*
 * How to find the CFA: low nibble of the rule. sp and fp are those of the frame itself. The cfa
 * member of a row is in units of 8 bytes.
 */
enum unwind_cfa {
	UNWIND_NONE,   /* no information from here on: a gap between functions */
	UNWIND_SP,     /* CFA = sp + cfa */
	UNWIND_FP,     /* CFA = fp + cfa */
	UNWIND_PLT,    /* x86-64 lazy PLT: CFA = sp + cfa, 8 more if (pc & 15) >= fp */
	UNWIND_SIGNAL, /* the kernel's signal frame: registers are in its ucontext */
	UNWIND_END,    /* the return address is undefined: this is the outermost frame */
	UNWIND_UNSUPPORTED, /* there is a rule, but not one that a row can hold */
	UNWIND_DEREF_SP, /* CFA = *(sp + (cfa >> 4)) + (cfa & 15), both in units of 8 */
	UNWIND_DEREF_FP, /* CFA = *(fp + (cfa >> 4)) + (cfa & 15) */
};

/*
 * Where the caller's frame pointer is, and on arm64 the return address; on x86-64 that is at
 * CFA - 8. High nibble of the rule, shifted down. The fp member is in units of 8 bytes. The
 * base is the register that the CFA rule names: sp or fp. From there arm64's frame records
 * are near, when big frames put them far from the CFA.
 */
enum unwind_saved {
	UNWIND_FP_SAME, /* still in its register; arm64: so is the return address, in lr */
	UNWIND_FP_AT_CFA, /* at CFA + fp; arm64: and the return address at CFA + fp + 8 */
	UNWIND_FP_UNDEFINED, /* not to be used from here on; arm64: return address in lr */
	UNWIND_RA_AT_CFA, /* arm64: fp still in its register, return address at CFA + fp */
	UNWIND_FP_AT_BASE, /* at base + fp; arm64: and the return address at base + fp + 8 */
	UNWIND_RA_AT_BASE, /* arm64: fp still in its register, return address at base + fp */
};

struct unwind_row {
	__u32 pc;  /* first address: from the file's lowest loaded page */
	__s16 cfa; /* units of 8 bytes */
	__s8 fp;   /* units of 8 bytes */
	__u8 rule; /* enum unwind_cfa | enum unwind_saved << 4 */
};
