/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of call frame information: DWARF 5, 6.4.2 and 7.24, with GNU's own. */
#include "lib/sym/cfi.h"

enum {
	CFA_ADVANCE = 1, /* the three with an operand in the low six bits */
	CFA_OFFSET = 2,
	CFA_RESTORE = 3,
};

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Where a register's rule is kept; NULL for those that do not matter. */
static struct cfi_rule *rule_of(struct cfi_run *r, uint64_t reg)
{
	if (reg == r->cfi->s.machine.fp)
		return &r->state.fp;
	if (reg == r->cfi->s.machine.ra)
		return &r->state.ra;
	return NULL;
}

static void set_kind(struct cfi_run *r, uint64_t reg, enum cfi_kind kind)
{
	struct cfi_rule *rule = rule_of(r, reg);

	if (rule)
		*rule = (struct cfi_rule){.kind = kind};
}

/* Factored offsets are multiplied without a care for overflow: hostile ones stay nonsense. */
static int64_t factored(const struct cfi_run *r, uint64_t n)
{
	return (int64_t)(n * (uint64_t)r->cfi->cie.data_align);
}

static void set_at_cfa(struct cfi_run *r, uint64_t reg, uint64_t n)
{
	struct cfi_rule *rule = rule_of(r, reg);

	if (rule)
		*rule = (struct cfi_rule){.kind = CFI_AT_CFA, .offset = factored(r, n)};
}

static void set_expr(struct cfi_run *r, struct cfi_rule *rule)
{
	uint64_t n = cursor_uleb(&r->c);
	const uint8_t *p = r->c.p;

	if (cursor_skip(&r->c, n) && rule)
		*rule = (struct cfi_rule){.kind = CFI_EXPR, .expr = p, .expr_n = n};
}

static void restore(struct cfi_run *r, uint64_t reg)
{
	struct cfi_rule *rule = rule_of(r, reg);

	if (rule)
		*rule = rule == &r->state.fp ? r->cfi->cie.initial.fp
					     : r->cfi->cie.initial.ra;
}

static void def_cfa(struct cfi_run *r, uint64_t reg, int64_t offset)
{
	r->state.cfa = (struct cfi_rule){.kind = CFI_REG, .reg = reg, .offset = offset};
}

/* Changes one half of the CFA rule: there has to be one of that kind. */
static bool change_cfa(struct cfi_run *r, uint64_t reg, int64_t offset)
{
	if (r->state.cfa.kind != CFI_REG)
		return false;
	def_cfa(r, reg, offset);
	return true;
}

static bool remember(struct cfi_run *r)
{
	if (r->depth == CFI_REMEMBER_MAX)
		return false;
	r->remembered[r->depth++] = r->state;
	return true;
}

static bool recall(struct cfi_run *r)
{
	if (!r->depth)
		return false;
	r->state = r->remembered[--r->depth];
	return true;
}

/* Those that say something of a register. */
static bool run_register(struct cfi_run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg = cursor_uleb(c);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_at_cfa(r, reg, cursor_uleb(c));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		set_at_cfa(r, reg, cursor_sleb(c));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_at_cfa(r, reg, -cursor_uleb(c));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(r, reg);
		return true;
	case CFA_UNDEFINED:
		set_kind(r, reg, CFI_UNDEFINED);
		return true;
	case CFA_SAME_VALUE:
		set_kind(r, reg, CFI_SAME);
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		cursor_skip_leb(c);
		set_kind(r, reg, CFI_OTHER);
		return true;
	case CFA_EXPRESSION:
		set_expr(r, rule_of(r, reg));
		return true;
	case CFA_VAL_EXPRESSION:
		set_expr(r, NULL);
		set_kind(r, reg, CFI_OTHER);
		return true;
	}
	return false;
}

static bool run_cfa(struct cfi_run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cursor_uleb(c);
		def_cfa(r, reg, (int64_t)cursor_uleb(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = cursor_uleb(c);
		def_cfa(r, reg, factored(r, cursor_sleb(c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		return change_cfa(r, cursor_uleb(c), r->state.cfa.offset);
	case CFA_DEF_CFA_OFFSET:
		return change_cfa(r, r->state.cfa.reg, (int64_t)cursor_uleb(c));
	case CFA_DEF_CFA_OFFSET_SF:
		return change_cfa(r, r->state.cfa.reg, factored(r, cursor_sleb(c)));
	case CFA_DEF_CFA_EXPRESSION:
		set_expr(r, &r->state.cfa);
		return true;
	case CFA_REMEMBER_STATE:
		return remember(r);
	case CFA_RESTORE_STATE:
		return recall(r);
	case CFA_NOP:
	case CFA_AARCH64_NEGATE_RA_STATE: /* signature bits are taken off in any case */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return true;
	case CFA_GNU_ARGS_SIZE:
		cursor_skip_leb(c);
		return true;
	}
	return run_register(r, op);
}

/* One instruction. False: not understood. *loc moves on when it says so. */
static bool run_one(struct cfi_run *r, uint64_t *loc)
{
	uint8_t op = cursor_u8(&r->c);
	uint64_t steps;

	switch (op >> 6) {
	case CFA_OFFSET:
		set_at_cfa(r, op & 0x3f, cursor_uleb(&r->c));
		return true;
	case CFA_RESTORE:
		restore(r, op & 0x3f);
		return true;
	case CFA_ADVANCE:
		steps = op & 0x3f;
		break;
	default:
		if (op == CFA_SET_LOC) {
			*loc = cfi_pointer(&r->cfi->s, &r->c, r->cfi->cie.encoding, 0);
			return *loc >= r->loc;
		}
		if (op != CFA_ADVANCE1 && op != CFA_ADVANCE2 && op != CFA_ADVANCE4)
			return run_cfa(r, op);
		steps = cursor_uint(&r->c, op == CFA_ADVANCE1	? 1
					   : op == CFA_ADVANCE2 ? 2
								: 4);
		break;
	}
	return !__builtin_mul_overflow(steps, r->cfi->cie.code_align, &steps) &&
	       !__builtin_add_overflow(r->loc, steps, loc);
}

void cfi_run_init(struct cfi_run *r, const struct cfi *c, const struct cfi_fde *fde)
{
	r->cfi = c;
	r->state = c->cie.initial;
	r->c = cursor_at(fde->insns, fde->insns_n, 0, c->s.swap);
	r->loc = fde->start;
	r->end = fde->end;
	r->depth = 0;
	if (!c->cie.usable) {
		r->state.cfa = (struct cfi_rule){.kind = CFI_OTHER};
		r->c.p = r->c.end;
	}
}

bool cfi_run_next(struct cfi_run *r, uint64_t *low, uint64_t *high)
{
	uint64_t loc = r->loc;

	if (r->loc >= r->end)
		return false;
	*low = r->loc;
	while (loc == r->loc) {
		if (r->c.p == r->c.end) {
			loc = r->end;
		} else if (!run_one(r, &loc) || r->c.bad) {
			/* what came before it in the same place is not sure either */
			r->state = (struct cfi_state){.cfa.kind = CFI_OTHER};
			r->c.p = r->c.end;
			loc = r->end;
		}
	}
	*high = loc < r->end ? loc : r->end;
	r->loc = *high;
	return true;
}

bool cfi_run_initial(struct cfi *c, const uint8_t *insns, size_t n)
{
	struct cfi_run r = {.cfi = c, .c = cursor_at(insns, n, 0, c->s.swap)};
	uint64_t loc = 0;

	r.state.cfa.kind = CFI_OTHER;
	if (n > CFI_CIE_INSNS_MAX)
		return false;
	while (r.c.p < r.c.end)
		if (!run_one(&r, &loc) || r.c.bad || loc)
			return false;
	c->cie.initial = r.state;
	return true;
}
