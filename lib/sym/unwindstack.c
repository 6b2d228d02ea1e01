/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/unwindstack.h"

#include <elf.h>

#include "lib/sym/cursor.h"

/* Bytes that a frame may be above the one it called, for its frame pointer to be believed. */
#define FP_REACH (1 << 20)

#define GO_ON (-1)

/* Where the kernel's signal frame has the registers, from sp in the handler's return. */
struct signal_frame {
	uint16_t pc, sp, fp, lr;
};

/* rt_sigframe: uc.uc_mcontext after 40 bytes of ucontext; siginfo is before it on arm64. */
static const struct signal_frame x86_signal = {.pc = 168, .sp = 160, .fp = 120};
static const struct signal_frame arm_signal = {
	.pc = 568, .sp = 560, .fp = 544, .lr = 552};

struct walk {
	struct unwind_regs at;
	const struct unwind_copy *copy;
	unwind_lookup_fn *lookup;
	void *ctx;
	size_t n; /* frames so far */
	bool arm;
};

static bool read_word(const struct walk *w, uint64_t addr, uint64_t *out)
{
	uint64_t off = addr - w->copy->addr;
	struct cursor c;

	if (off >= w->copy->n)
		return false;
	c = cursor_at(w->copy->data, w->copy->n, off,
		      __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
	*out = cursor_u64(&c);
	return !c.bad;
}

/* A return address without the bits that sign it. */
static uint64_t code_address(const struct walk *w, uint64_t addr)
{
	return w->arm ? addr & 0xffffffffffff : addr;
}

static int to_caller(struct walk *w, uint64_t pc, uint64_t sp)
{
	pc = code_address(w, pc);
	if (!pc)
		return UNWOUND_COMPLETE;
	w->at.pc = pc;
	w->at.sp = sp;
	w->at.exact = w->at.has_lr = false;
	return GO_ON;
}

static int by_frame_pointer(struct walk *w)
{
	uint64_t at = w->at.fp, fp, pc;
	struct unwind_place p;
	int r;

	if (!w->at.has_fp || at & 7)
		return UNWOUND_NO_ROW;
	if (!at)
		return w->n > 1 ? UNWOUND_COMPLETE : UNWOUND_NO_ROW;
	if (!read_word(w, at, &fp) || !read_word(w, at + 8, &pc))
		return at >= w->at.sp && at - w->at.sp <= FP_REACH ? UNWOUND_FAULT
								   : UNWOUND_NO_ROW;
	/* below sp, as when a program changes stacks: only if it leads to code */
	if ((at < w->at.sp || at - w->at.sp > FP_REACH) &&
	    !w->lookup(w->ctx, code_address(w, pc) - 1, &p))
		return pc ? UNWOUND_NO_ROW : UNWOUND_COMPLETE;
	r = to_caller(w, pc, at + 16);
	w->at.fp = fp;
	return r;
}

static int by_signal_frame(struct walk *w)
{
	const struct signal_frame *s = w->arm ? &arm_signal : &x86_signal;
	struct unwind_regs to = {.exact = true, .has_fp = true, .has_lr = true};
	uint64_t sp = w->at.sp;

	if (!read_word(w, sp + s->pc, &to.pc) || !read_word(w, sp + s->sp, &to.sp) ||
	    !read_word(w, sp + s->fp, &to.fp) ||
	    (w->arm && !read_word(w, sp + s->lr, &to.lr)))
		return UNWOUND_FAULT;
	w->at = to;
	return GO_ON;
}

/* The CFA, and the register that its rule names. */
static int find_cfa(const struct walk *w, const struct unwind_row *row, uint64_t *base,
		    uint64_t *cfa)
{
	unsigned rule = row->rule & 15;
	bool from_fp = rule == UNWIND_FP || rule == UNWIND_DEREF_FP;

	if (from_fp && !w->at.has_fp)
		return UNWOUND_UNSUPPORTED;
	*base = from_fp ? w->at.fp : w->at.sp;
	switch (rule) {
	case UNWIND_SP:
	case UNWIND_FP:
		*cfa = *base + row->cfa * 8;
		return GO_ON;
	case UNWIND_PLT:
		*cfa = *base + row->cfa * 8 + ((int)(w->at.pc & 15) >= row->fp ? 8 : 0);
		return GO_ON;
	case UNWIND_DEREF_SP:
	case UNWIND_DEREF_FP:
		if (!read_word(w, *base + (row->cfa >> 4) * 8, cfa))
			return UNWOUND_FAULT;
		*cfa += (row->cfa & 15) * 8;
		return GO_ON;
	}
	return UNWOUND_UNSUPPORTED;
}

/* The caller's frame pointer and the return address, once the CFA is known. */
static int by_saved(struct walk *w, const struct unwind_row *row, uint64_t base,
		    uint64_t cfa)
{
	unsigned saved = (row->rule & 15) == UNWIND_PLT ? UNWIND_FP_SAME : row->rule >> 4;
	bool at_base = saved == UNWIND_FP_AT_BASE || saved == UNWIND_RA_AT_BASE;
	bool fp_saved = saved == UNWIND_FP_AT_CFA || saved == UNWIND_FP_AT_BASE;
	bool ra_saved = saved == UNWIND_RA_AT_CFA || saved == UNWIND_RA_AT_BASE;
	uint64_t at = (at_base ? base : cfa) + row->fp * 8, fp = w->at.fp, pc = w->at.lr;

	if (saved > UNWIND_RA_AT_BASE || (ra_saved && !w->arm))
		return UNWOUND_UNSUPPORTED;
	if (fp_saved && !read_word(w, at, &fp))
		return UNWOUND_FAULT;
	if (!w->arm)
		at = cfa - 8;
	else if (fp_saved)
		at += 8;
	if (w->arm && !fp_saved && !ra_saved) {
		if (!w->at.has_lr)
			return UNWOUND_UNSUPPORTED;
	} else if (!read_word(w, at, &pc)) {
		return UNWOUND_FAULT;
	}
	w->at.fp = fp;
	if (fp_saved)
		w->at.has_fp = true;
	else if (saved == UNWIND_FP_UNDEFINED)
		w->at.has_fp = false;
	return to_caller(w, pc, cfa);
}

/* To the caller of the frame. */
static int step(struct walk *w)
{
	const struct unwind_row *row = NULL;
	uint64_t base, cfa;
	struct unwind_place p;
	int r;

	if (!w->lookup(w->ctx, w->at.pc - !w->at.exact, &p))
		return UNWOUND_NO_MAPPING;
	if (p.table)
		row = unwind_table_find(p.table, p.pc);
	if (!row)
		return by_frame_pointer(w);
	if ((row->rule & 15) == UNWIND_END)
		return UNWOUND_COMPLETE;
	if ((row->rule & 15) == UNWIND_SIGNAL)
		return by_signal_frame(w);
	r = find_cfa(w, row, &base, &cfa);
	return r == GO_ON ? by_saved(w, row, base, cfa) : r;
}

size_t unwind_stack(uint16_t machine, struct unwind_regs *regs,
		    const struct unwind_copy *copy, unwind_lookup_fn *lookup, void *ctx,
		    uint64_t *frames, size_t max, enum unwound *why)
{
	struct walk w = {.at = *regs,
			 .copy = copy,
			 .lookup = lookup,
			 .ctx = ctx,
			 .arm = machine == EM_AARCH64};
	int r = GO_ON;

	while (r == GO_ON) {
		if (w.n >= max) {
			r = UNWOUND_DEPTH;
			break;
		}
		frames[w.n++] = w.at.pc;
		r = step(&w);
	}
	*regs = w.at;
	*why = r;
	return w.n;
}
