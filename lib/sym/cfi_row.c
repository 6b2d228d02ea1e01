/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/cfi_row.h"

#include <elf.h>
#include <string.h>

enum { /* DWARF 5, 7.7.1 */
       OP_DEREF = 0x06,
       OP_AND = 0x1a,
       OP_PLUS = 0x22,
       OP_PLUS_UCONST = 0x23,
       OP_SHL = 0x24,
       OP_GE = 0x2a,
       OP_LIT0 = 0x30,
       OP_BREG0 = 0x70,
};

/* Of x86-64's struct rt_sigframe seen from rsp in the handler's return: uc_mcontext.rsp. */
#define SIGFRAME_RSP 160

#define X86_RIP 16

/* A row being made: what it has so far, and the register that its CFA starts from. */
struct draft {
	struct unwind_row row;
	uint16_t base;
	bool based; /* CFA = base + row.cfa, or found in memory at such a place */
	bool plain; /* the former */
};

bool cfi_machine_of(uint16_t machine, struct cfi_machine *out)
{
	if (machine == EM_X86_64)
		*out = (struct cfi_machine){.sp = 7, .fp = 6, .ra = X86_RIP};
	else if (machine == EM_AARCH64)
		*out = (struct cfi_machine){.sp = 31, .fp = 29, .ra = 30};
	else
		return false;
	return true;
}

static struct unwind_row row_of(enum unwind_cfa cfa, enum unwind_saved saved)
{
	return (struct unwind_row){.rule = cfa | saved << 4};
}

/* Bytes in units of 8 if they are such, and between low and high. */
static bool units(int64_t bytes, int low, int high, int *out)
{
	if (bytes % 8 || bytes / 8 < low || bytes / 8 > high)
		return false;
	*out = (int)(bytes / 8);
	return true;
}

/* The rule's expression, empty if it has none. */
static struct cursor expr_of(const struct cfi_rule *rule, bool swap)
{
	return cursor_at(rule->expr ? rule->expr : (const uint8_t *)"", rule->expr_n, 0,
			 swap);
}

static bool take_op(struct cursor *c, uint8_t op)
{
	return cursor_u8(c) == op && !c->bad;
}

/* breg: a register and an offset. */
static bool take_breg(struct cursor *c, uint16_t *reg, int64_t *offset)
{
	uint8_t op = cursor_u8(c);

	if (op < OP_BREG0 || op > OP_BREG0 + 31)
		return false;
	*reg = op - OP_BREG0;
	*offset = cursor_sleb(c);
	return !c->bad;
}

/*
 * What GNU ld writes for its lazy PLT, whose entries of 16 bytes push 8 bytes on their way:
 * sp + 8 + ((((pc + 0) & 15) >= N) << 3).
 */
static bool match_plt(const struct cfi_machine *m, struct cursor c, struct draft *d)
{
	int64_t offset, zero;
	uint16_t sp, pc;
	uint8_t n;
	int cfa;

	if (!take_breg(&c, &sp, &offset) || sp != m->sp || !take_breg(&c, &pc, &zero) ||
	    pc != X86_RIP || zero || !take_op(&c, OP_LIT0 + 15) || !take_op(&c, OP_AND))
		return false;
	n = cursor_u8(&c) - OP_LIT0;
	if (n > 15 || !take_op(&c, OP_GE) || !take_op(&c, OP_LIT0 + 3) ||
	    !take_op(&c, OP_SHL) || !take_op(&c, OP_PLUS) || cursor_left(&c) ||
	    !units(offset, INT16_MIN, INT16_MAX, &cfa))
		return false;
	d->row.cfa = (int16_t)cfa;
	d->row.fp = (int8_t)n;
	d->row.rule = UNWIND_PLT;
	return true;
}

/* *(sp or fp + offset), + a constant if there is one. */
static bool match_deref(const struct cfi_machine *m, struct cursor c, struct draft *d)
{
	int64_t offset;
	uint64_t more = 0;
	int off, add;

	if (!take_breg(&c, &d->base, &offset) || (d->base != m->sp && d->base != m->fp) ||
	    !take_op(&c, OP_DEREF))
		return false;
	if (cursor_left(&c)) {
		if (!take_op(&c, OP_PLUS_UCONST))
			return false;
		more = cursor_uleb(&c);
	}
	if (c.bad || cursor_left(&c) || more > 15 * 8 ||
	    !units(offset, -2048, 2047, &off) || !units((int64_t)more, 0, 15, &add))
		return false;
	d->row.cfa = (int16_t)(off * 16 + add);
	d->row.rule = d->base == m->sp ? UNWIND_DEREF_SP : UNWIND_DEREF_FP;
	d->based = true;
	return true;
}

static bool is_x86_sigframe(const struct cfi_rule *cfa, struct cursor c)
{
	uint16_t reg;
	int64_t offset;

	return cfa->kind == CFI_EXPR && take_breg(&c, &reg, &offset) && reg == 7 &&
	       offset == SIGFRAME_RSP && take_op(&c, OP_DEREF) && !cursor_left(&c);
}

static bool find_cfa(uint16_t machine, const struct cfi_machine *m,
		     const struct cfi_rule *cfa, struct cursor expr, struct draft *d)
{
	int n;

	if (cfa->kind == CFI_EXPR)
		return match_deref(m, expr, d) ||
		       (machine == EM_X86_64 && match_plt(m, expr, d));
	if (cfa->kind != CFI_REG || (cfa->reg != m->sp && cfa->reg != m->fp) ||
	    !units(cfa->offset, INT16_MIN, INT16_MAX, &n))
		return false;
	d->row.cfa = (int16_t)n;
	d->row.rule = cfa->reg == m->sp ? UNWIND_SP : UNWIND_FP;
	d->base = (uint16_t)cfa->reg;
	d->based = d->plain = true;
	return true;
}

/*
 * Where a register was saved, as an offset in the row's fp from the CFA or, failing that, from
 * the base.
 */
static bool find_saved(const struct cfi_rule *rule, bool swap, struct draft *d,
		       enum unwind_saved at_cfa, enum unwind_saved at_base)
{
	struct cursor expr = expr_of(rule, swap);
	enum unwind_saved saved = at_base;
	int64_t offset = 0;
	uint16_t reg;
	int n;

	if (rule->kind == CFI_AT_CFA && units(rule->offset, INT8_MIN, INT8_MAX, &n)) {
		saved = at_cfa;
	} else if (rule->kind == CFI_AT_CFA && d->plain) {
		offset = (int64_t)((uint64_t)rule->offset + d->row.cfa * 8);
	} else if (rule->kind != CFI_EXPR || !d->based ||
		   !take_breg(&expr, &reg, &offset) || reg != d->base ||
		   cursor_left(&expr)) {
		return false;
	}
	if (saved == at_base && !units(offset, INT8_MIN, INT8_MAX, &n))
		return false;
	d->row.fp = (int8_t)n;
	d->row.rule |= saved << 4;
	return true;
}

static struct unwind_row x86_row(const struct cfi_state *s, bool swap, struct draft *d)
{
	if (s->ra.kind != CFI_AT_CFA || s->ra.offset != -8)
		return row_of(UNWIND_UNSUPPORTED, 0);
	if ((d->row.rule & 15) == UNWIND_PLT) { /* its fp member is taken */
		if (s->fp.kind != CFI_SAME)
			return row_of(UNWIND_UNSUPPORTED, 0);
	} else if (s->fp.kind != CFI_SAME &&
		   !find_saved(&s->fp, swap, d, UNWIND_FP_AT_CFA, UNWIND_FP_AT_BASE)) {
		d->row.rule |= UNWIND_FP_UNDEFINED << 4;
	}
	return d->row;
}

/* The frame record: fp, and the return address above it. One without the other is rare. */
static struct unwind_row arm_row(const struct cfi_state *s, bool swap, struct draft *d)
{
	if (s->ra.kind == CFI_SAME) {
		if (s->fp.kind != CFI_SAME)
			d->row.rule |= UNWIND_FP_UNDEFINED << 4;
		return d->row;
	}
	if (s->fp.kind == CFI_SAME) {
		if (find_saved(&s->ra, swap, d, UNWIND_RA_AT_CFA, UNWIND_RA_AT_BASE))
			return d->row;
	} else if (s->fp.kind == CFI_AT_CFA && s->ra.kind == CFI_AT_CFA &&
		   s->ra.offset == (int64_t)((uint64_t)s->fp.offset + 8)) {
		if (find_saved(&s->fp, swap, d, UNWIND_FP_AT_CFA, UNWIND_FP_AT_BASE))
			return d->row;
	}
	return row_of(UNWIND_UNSUPPORTED, 0);
}

struct unwind_row cfi_row(uint16_t machine, const struct cfi *c,
			  const struct cfi_state *s)
{
	const struct cfi_machine *m = &c->s.machine;
	struct cursor expr = expr_of(&s->cfa, c->s.swap);
	struct draft d = {0};

	if (c->cie.signal && (machine == EM_AARCH64 || is_x86_sigframe(&s->cfa, expr)))
		return row_of(UNWIND_SIGNAL, 0);
	if (s->ra.kind == CFI_UNDEFINED)
		return row_of(UNWIND_END, 0);
	if (!find_cfa(machine, m, &s->cfa, expr, &d))
		return row_of(UNWIND_UNSUPPORTED, 0);
	return machine == EM_X86_64 ? x86_row(s, c->s.swap, &d)
				    : arm_row(s, c->s.swap, &d);
}
