/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds a copied piece of a stack by the rules that the BPF unwinder has (bpf/unwind.h): by
 * row, by frame pointer where there is none. For stacks that were copied because no table was
 * ready.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/sym/unwindtab.h"

#define UNWIND_FRAMES_MAX 512

struct unwind_regs {
	uint64_t pc, sp, fp, lr; /* lr: arm64 only */
	bool exact;		 /* pc is where it was interrupted, not behind a call */
	bool has_fp, has_lr;
};

struct unwind_copy {
	const uint8_t *data;
	size_t n;
	uint64_t addr; /* of data */
};

/* Where an address is. */
struct unwind_place {
	const struct unwind_table *table; /* NULL: code without one */
	uint32_t pc;			  /* as in the table's rows */
};

/* False: no code is known at addr. */
typedef bool unwind_lookup_fn(void *ctx, uint64_t addr, struct unwind_place *out);

enum unwound {
	UNWOUND_COMPLETE,
	UNWOUND_DEPTH,	     /* too many frames */
	UNWOUND_FAULT,	     /* goes on outside of the copy */
	UNWOUND_NO_MAPPING,  /* no code known there */
	UNWOUND_NO_ROW,	     /* no rule for that address, nor a frame pointer */
	UNWOUND_UNSUPPORTED, /* a rule that rows cannot hold */
};

/*
 * Fill frames with at most max addresses, the first one that of regs; returns how many there
 * are, why there are no more in *why, and in *regs those of the last. machine: EM_X86_64 or
 * EM_AARCH64, whose code it is.
 */
size_t unwind_stack(uint16_t machine, struct unwind_regs *regs,
		    const struct unwind_copy *copy, unwind_lookup_fn *lookup, void *ctx,
		    uint64_t *frames, size_t max, enum unwound *why);
