/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: .eh_frame (Linux Standard Base, 10.6) and .debug_frame (DWARF 5, 6.4)
 * of 64-bit files, as far as unwinding needs it: the rules for the CFA, the frame pointer and
 * the return address. What other registers do is skipped.
 *
 * Input is hostile. Time and memory are linear in its size: a CIE's own instructions are limited
 * because each FDE may make us run them again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/sym/cursor.h"

#define CFI_REMEMBER_MAX 8    /* states remembered at once; compilers need 1 */
#define CFI_CIE_INSNS_MAX 128 /* bytes of a CIE's instructions; compilers write 5 */

/* DWARF numbers of the registers that matter. */
struct cfi_machine {
	uint16_t sp, fp, ra;
};

struct cfi_section {
	const uint8_t *data;
	size_t n;
	uint64_t addr;	    /* of data, for pc-relative pointers */
	uint64_t text, got; /* bases of text- and data-relative pointers */
	bool eh;	    /* .eh_frame, not .debug_frame */
	bool terminated;    /* nothing follows the first zero length */
	bool swap;
	struct cfi_machine machine;
};

enum cfi_kind {
	CFI_SAME,      /* registers: unchanged */
	CFI_UNDEFINED, /* registers: gone */
	CFI_AT_CFA,    /* registers: saved at CFA + offset */
	CFI_REG,       /* CFA: reg + offset */
	CFI_EXPR,      /* CFA: value of expr; registers: saved at that address */
	CFI_OTHER,     /* anything else */
};

struct cfi_rule {
	uint8_t kind;
	uint64_t reg;
	int64_t offset; /* bytes */
	const uint8_t *expr;
	size_t expr_n;
};

struct cfi_state {
	struct cfi_rule cfa, fp, ra;
};

struct cfi_cie {
	size_t offset; /* in the section; SIZE_MAX: none */
	bool placed;   /* FDEs' addresses can be read */
	bool usable;   /* and so can their rules */
	bool signal;   /* 'S': a signal frame */
	bool sized;    /* 'z': FDEs have sized augmentation data */
	uint8_t encoding;
	uint64_t code_align;
	int64_t data_align;
	struct cfi_state initial;
};

struct cfi_fde {
	uint64_t start, end; /* addresses in the file */
	const uint8_t *insns;
	size_t insns_n;
};

struct cfi {
	struct cfi_section s;
	size_t next; /* where cfi_next() is */
	struct cfi_cie cie;
};

void cfi_init(struct cfi *c, const struct cfi_section *s);

/*
 * The next FDE's offset and the code it is for, in the section's order. 1, 0 at the end,
 * -EBADMSG when the section cannot be followed any more. FDEs that make no sense are passed over.
 */
int cfi_next(struct cfi *c, size_t *offset, struct cfi_fde *fde, struct err *e);

/* The FDE at an offset that cfi_next() gave, with its CIE in c->cie. */
bool cfi_fde_at(struct cfi *c, size_t offset, struct cfi_fde *fde);

/*
 * A pointer in one of the DW_EH_PE encodings; func is the function's start where one can be
 * relative to that. Indirect and omitted ones are an error.
 */
uint64_t cfi_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding,
		     uint64_t func);

/* Runs an FDE's instructions. */
struct cfi_run {
	struct cfi_state state; /* holds for the range last given */
	struct cursor c;
	const struct cfi *cfi;
	uint64_t loc, end;
	unsigned depth;
	struct cfi_state remembered[CFI_REMEMBER_MAX];
};

/* c->cie must be the FDE's, and stay so. */
void cfi_run_init(struct cfi_run *r, const struct cfi *c, const struct cfi_fde *fde);

/*
 * The next range of addresses with one state, in order, none empty. After an instruction that
 * cannot be understood the rest of the code has the CFA rule CFI_OTHER.
 */
bool cfi_run_next(struct cfi_run *r, uint64_t *low, uint64_t *high);

/* The state that a CIE's instructions lead to. */
bool cfi_run_initial(struct cfi *c, const uint8_t *insns, size_t n);
