/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfioracle FILE COUNT SEED: builds the unwind table of the file and compares it with libdw's
 * dwarf_cfi_addrframe() at COUNT addresses of its code. Both rules are worked out with made-up
 * registers and memory, so that it is values that are compared, not forms. Prints each mismatch
 * (at most 20) and a line of figures; exit status 1 if there was one.
 *
 * A row that says "unsupported" must be one that a row cannot hold.
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/sym/elf.h"
#include "lib/sym/unwindtab.h"

#define STACK_MAX 16
#define SHOWN_MAX 20

static uint64_t state;

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t next_random(void) /* splitmix64 */
{
	return mix(state += 0x9e3779b97f4a7c15u);
}

/* The registers' values, and what is in memory. */
static uint64_t reg_value(uint64_t reg)
{
	return 0x7ffd00000000 + reg * 0x123456780;
}

static uint64_t memory(uint64_t addr)
{
	return mix(addr) & 0x7ffffffffff8;
}

/* What a rule comes to. */
struct value {
	enum { SAME, UNDEFINED, AT, ODD } kind;
	uint64_t v; /* AT: its address; the CFA: its value */
};

struct frame {
	struct value cfa, fp, ra;
	bool end, signal;
};

struct oracle {
	int fd;
	Elf *elf;
	Dwarf *dw;
	Dwarf_CFI *eh, *debug;
	unsigned machine, sp, fp, ra;
	uint64_t base; /* of the table's pcs */
	uint64_t entry;
};

static bool run_op(const Dwarf_Op *op, uint64_t pc, uint64_t cfa, uint64_t *st,
		   unsigned *n)
{
	uint64_t a = *n > 0 ? st[*n - 1] : 0, b = *n > 1 ? st[*n - 2] : 0;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		st[(*n)++] = op->atom - DW_OP_lit0;
	} else if (op->atom == DW_OP_bregx) {
		st[(*n)++] = reg_value(op->number) + op->number2;
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		unsigned reg = op->atom - DW_OP_breg0;

		st[(*n)++] = (reg == 16 ? pc : reg_value(reg)) + op->number;
	} else if (op->atom == DW_OP_call_frame_cfa) {
		st[(*n)++] = cfa;
	} else if (*n < 1) {
		return false;
	} else if (op->atom == DW_OP_plus_uconst) {
		st[*n - 1] = a + op->number;
	} else if (op->atom == DW_OP_deref) {
		st[*n - 1] = memory(a);
	} else if (*n < 2) {
		return false;
	} else {
		(*n)--;
		switch (op->atom) {
		case DW_OP_plus:
			st[*n - 1] = b + a;
			break;
		case DW_OP_and:
			st[*n - 1] = b & a;
			break;
		case DW_OP_ge:
			st[*n - 1] = (int64_t)b >= (int64_t)a;
			break;
		case DW_OP_shl:
			st[*n - 1] = b << (a & 63);
			break;
		default:
			return false;
		}
	}
	return true;
}

static struct value run_ops(const Dwarf_Op *ops, size_t nops, uint64_t pc, uint64_t cfa)
{
	uint64_t st[STACK_MAX];
	unsigned n = 0;
	size_t i;

	for (i = 0; i < nops; i++)
		if (n == STACK_MAX || !run_op(&ops[i], pc, cfa, st, &n))
			return (struct value){ODD, 0};
	return n ? (struct value){AT, st[n - 1]} : (struct value){ODD, 0};
}

static struct value saved_register(Dwarf_Frame *fr, unsigned reg, uint64_t pc,
				   uint64_t cfa)
{
	Dwarf_Op mem[3], *ops;
	size_t nops;

	if (dwarf_frame_register(fr, (int)reg, mem, &ops, &nops))
		return (struct value){ODD, 0};
	if (!nops)
		return (struct value){ops ? UNDEFINED : SAME, 0};
	return run_ops(ops, nops, pc, cfa);
}

static bool ask(const struct oracle *o, uint64_t pc, Dwarf_Frame **fr, uint64_t *start,
		uint64_t *end)
{
	if ((!o->eh || dwarf_cfi_addrframe(o->eh, pc, fr)) &&
	    (!o->debug || dwarf_cfi_addrframe(o->debug, pc, fr)))
		return false;
	return dwarf_frame_info(*fr, start, end, NULL) >= 0;
}

static bool oracle_frame(const struct oracle *o, uint64_t pc, struct frame *out)
{
	uint64_t start, end;
	Dwarf_Frame *fr;
	Dwarf_Op *ops;
	size_t nops;

	if (!ask(o, pc, &fr, &start, &end))
		return false;
	dwarf_frame_info(fr, NULL, NULL, &out->signal);
	if (dwarf_frame_cfa(fr, &ops, &nops))
		out->cfa = (struct value){ODD, 0};
	else
		out->cfa = run_ops(ops, nops, pc, 0);
	out->fp = saved_register(fr, o->fp, pc, out->cfa.v);
	out->ra = saved_register(fr, o->ra, pc, out->cfa.v);
	out->end = out->ra.kind == UNDEFINED;
	free(fr);
	return true;
}

/* Could a row hold this? Told apart by values: near to sp or fp, and in units of 8. */
static bool near(uint64_t v, uint64_t from, int64_t range)
{
	int64_t d = (int64_t)(v - from);

	return !(d % 8) && d >= -range && d < range;
}

static bool near_base(const struct oracle *o, uint64_t v, int64_t range)
{
	return near(v, reg_value(o->sp), range) || near(v, reg_value(o->fp), range);
}

static bool is_holdable(const struct oracle *o, const struct frame *f)
{
	if (f->end || f->signal)
		return true;
	if (f->cfa.kind != AT || !near_base(o, f->cfa.v, 32768 * 8))
		return false;
	if (o->machine == EM_X86_64)
		return f->ra.kind == AT && f->ra.v == f->cfa.v - 8;
	if (f->ra.kind == SAME)
		return true;
	if (f->ra.kind != AT || f->fp.kind == UNDEFINED)
		return false;
	if (f->fp.kind == SAME)
		return near(f->ra.v, f->cfa.v, 1024) || near_base(o, f->ra.v, 1024);
	return f->ra.v == f->fp.v + 8 &&
	       (near(f->fp.v, f->cfa.v, 1024) || near_base(o, f->fp.v, 1024));
}

static void row_cfa(const struct oracle *o, const struct unwind_row *row, uint64_t pc,
		    struct frame *out, uint64_t *base)
{
	uint64_t sp = reg_value(o->sp), fp = reg_value(o->fp);

	out->cfa = (struct value){AT, 0};
	*base = sp;
	switch (row->rule & 15) {
	case UNWIND_SP:
		out->cfa.v = sp + row->cfa * 8;
		break;
	case UNWIND_PLT:
		out->cfa.v = sp + row->cfa * 8 + ((pc & 15) >= (uint64_t)row->fp) * 8;
		break;
	case UNWIND_DEREF_SP:
		out->cfa.v = memory(sp + (row->cfa >> 4) * 8) + (row->cfa & 15) * 8;
		break;
	case UNWIND_FP:
		*base = fp;
		out->cfa.v = fp + row->cfa * 8;
		break;
	case UNWIND_DEREF_FP:
		*base = fp;
		out->cfa.v = memory(fp + (row->cfa >> 4) * 8) + (row->cfa & 15) * 8;
		break;
	default:
		out->cfa.kind = ODD;
	}
}

static void row_frame(const struct oracle *o, const struct unwind_row *row, uint64_t pc,
		      struct frame *out)
{
	bool arm = o->machine == EM_AARCH64;
	uint64_t base, cfa;

	*out = (struct frame){.end = (row->rule & 15) == UNWIND_END,
			      .signal = (row->rule & 15) == UNWIND_SIGNAL};
	row_cfa(o, row, pc, out, &base);
	cfa = out->cfa.v;
	if (!arm)
		out->ra = (struct value){AT, cfa - 8};
	switch (row->rule >> 4) {
	case UNWIND_FP_UNDEFINED:
		out->fp.kind = UNDEFINED;
		break;
	case UNWIND_FP_AT_CFA:
	case UNWIND_FP_AT_BASE:
		if (row->rule >> 4 == UNWIND_FP_AT_CFA)
			base = cfa;
		out->fp = (struct value){AT, base + row->fp * 8};
		if (arm)
			out->ra = (struct value){AT, base + row->fp * 8 + 8};
		break;
	case UNWIND_RA_AT_CFA:
	case UNWIND_RA_AT_BASE:
		if (row->rule >> 4 == UNWIND_RA_AT_CFA)
			base = cfa;
		out->ra = (struct value){AT, base + row->fp * 8};
		break;
	}
}

static bool same_value(struct value a, struct value b)
{
	return a.kind == b.kind && (a.kind != AT || a.v == b.v);
}

/*
 * A frame pointer of which a row says "not to be used": one that is lost, or saved where no row
 * that has its CFA from sp (or fp) can say.
 */
static bool fp_is_lost(const struct oracle *o, const struct frame *f, bool from_fp)
{
	uint64_t base = reg_value(from_fp ? o->fp : o->sp);

	if (f->fp.kind != AT)
		return f->fp.kind == UNDEFINED || f->fp.kind == ODD;
	if (o->machine == EM_AARCH64)
		return f->ra.kind == SAME;
	return !near(f->fp.v, f->cfa.v, 1024) && !near(f->fp.v, base, 1024);
}

static bool agrees(const struct oracle *o, const struct unwind_row *row,
		   const struct frame *want, uint64_t pc)
{
	unsigned rule = row->rule & 15;
	bool from_fp = rule == UNWIND_FP || rule == UNWIND_DEREF_FP;
	struct frame got;

	if (rule == UNWIND_UNSUPPORTED)
		return !is_holdable(o, want);
	row_frame(o, row, pc, &got);
	if (got.end || got.signal)
		return got.signal ? want->signal : want->end && !want->signal;
	if (want->end || !same_value(got.cfa, want->cfa) || !same_value(got.ra, want->ra))
		return false;
	return same_value(got.fp, want->fp) ||
	       (got.fp.kind == UNDEFINED && fp_is_lost(o, want, from_fp));
}

/* A row where libdw has nothing: right in the padding before the next function alone. */
static bool is_padding(const struct oracle *o, uint64_t pc)
{
	uint64_t start, end, i;
	Dwarf_Frame *fr;

	for (i = 1; i <= 16; i++)
		if (ask(o, pc + i, &fr, &start, &end)) {
			free(fr);
			return true;
		}
	return false;
}

static bool check(const struct oracle *o, const struct unwind_table *t, uint64_t pc,
		  size_t *framed)
{
	const struct unwind_row *row = unwind_table_find(t, (uint32_t)(pc - o->base));
	struct frame want = {0};
	bool has = oracle_frame(o, pc, &want);

	*framed += has;
	if (has && row)
		return agrees(o, row, &want, pc);
	/* the entry routine has a row in any case, from its very beginning */
	if (row && (row->rule & 15) == UNWIND_END && row->pc + o->base == o->entry)
		return true;
	return has == !!row || (row && is_padding(o, pc));
}

/* A file without code has none: 0. */
static uint64_t random_pc(const struct elf_file *f)
{
	uint64_t all = 0, at;
	size_t i;

	for (i = 0; i < f->nexec; i++)
		all += f->exec[i].high - f->exec[i].low;
	if (!all)
		return 0;
	at = next_random() % all;
	for (i = 0; at >= f->exec[i].high - f->exec[i].low; i++)
		at -= f->exec[i].high - f->exec[i].low;
	return f->exec[i].low + at;
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static int oracle_open(struct oracle *o, const struct elf_file *f, const char *path)
{
	size_t i;

	elf_version(EV_CURRENT);
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	o->elf = elf_begin(o->fd, ELF_C_READ_MMAP, NULL);
	o->dw = dwarf_begin_elf(o->elf, DWARF_C_READ, NULL);
	o->eh = dwarf_getcfi_elf(o->elf);
	o->debug = o->dw ? dwarf_getcfi(o->dw) : NULL;
	o->machine = f->machine;
	o->entry = f->entry;
	o->sp = f->machine == EM_X86_64 ? 7 : 31;
	o->fp = f->machine == EM_X86_64 ? 6 : 29;
	o->ra = f->machine == EM_X86_64 ? 16 : 30;
	o->base = UINT64_MAX;
	for (i = 0; i < f->nsegments; i++)
		if (f->segments[i].vaddr < o->base)
			o->base = f->segments[i].vaddr;
	o->base &= ~(uint64_t)4095;
	return o->eh || o->debug ? 0 : -1;
}

static void oracle_close(struct oracle *o)
{
	dwarf_cfi_end(o->eh);
	dwarf_end(o->dw);
	elf_end(o->elf);
	close(o->fd);
}

static int compare(const struct elf_file *f, const char *path,
		   const struct unwind_table *t, uint64_t count)
{
	struct oracle o = {0};
	size_t bad = 0, framed = 0;
	uint64_t i, pc;

	if (oracle_open(&o, f, path)) {
		fprintf(stderr, "cfioracle: %s: libdw finds no frames\n", path);
		oracle_close(&o);
		return 2;
	}
	for (i = 0; i < count; i++) {
		pc = random_pc(f);
		if (check(&o, t, pc, &framed))
			continue;
		if (++bad <= SHOWN_MAX)
			printf("mismatch at 0x%" PRIx64 "\n", pc);
	}
	oracle_close(&o);
	printf("compared %" PRIu64 " framed %zu mismatches %zu\n", count, framed, bad);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct unwind_limits lim = {.max_rows = 1 << 23};
	struct unwind_table t;
	struct elf_file *f;
	uint64_t count;
	double ms;
	long kib;
	struct err e;
	int r;

	if (argc != 4 || num_parse_u64(argv[2], &count) || num_parse_u64(argv[3], &state))
		return 2;
	kib = peak_kib();
	ms = now_ms();
	r = elf_open(NULL, argv[1], &f, &e);
	if (!r)
		r = unwind_table_build(f, &lim, &t, &e);
	ms = now_ms() - ms;
	if (r) {
		fprintf(stderr, "cfioracle: %s: %s\n", argv[1], e.msg);
		return 2;
	}
	printf("rows %zu unsupported %zu CPU-ms %.1f peak-KiB %ld\n", t.nrows,
	       t.nunsupported, ms, peak_kib() - kib);
	r = count ? compare(f, argv[1], &t, count) : 0;
	unwind_table_release(&t);
	elf_free(f);
	return r;
}
