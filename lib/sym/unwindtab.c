/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/unwindtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cfi_row.h"
#include "lib/sym/unwindtab_amend.h"

#define PAGE 4096u
#define PADDING 16 /* bytes: functions begin at multiples of it */

enum { EH_FRAME, DEBUG_FRAME, SOURCES };

/* The code of an FDE. */
struct span {
	uint32_t low, high; /* as in rows */
	uint64_t where; /* its offset in the section, times SOURCES, + which section */
};

struct build {
	struct elf_file *f;
	const struct unwind_limits *lim;
	uint64_t base; /* address of pc 0 */
	struct cfi cfi[SOURCES];
	uint8_t *loaded; /* .eh_frame when it is no section */
	uint64_t max_fdes;
	struct span *spans;
	size_t nspans, spans_cap;
	struct unwind_table t;
	size_t rows_cap;
};

static int check_file(const struct elf_file *f, struct err *e)
{
	bool big = f->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	struct cfi_machine m;

	if (!f->is64)
		return err_set(e, ENOEXEC, "a 32-bit file");
	if (big)
		return err_set(e, ENOEXEC, "a big-endian file");
	if (!cfi_machine_of(f->machine, &m))
		return err_set(e, ENOEXEC, "neither x86-64 nor AArch64 (machine %u)",
			       f->machine);
	if ((f->type != ET_EXEC && f->type != ET_DYN) || !f->nsegments)
		return err_set(e, ENOEXEC, "not something that is loaded");
	return 0;
}

uint64_t unwind_base(const struct elf_file *f)
{
	uint64_t base = UINT64_MAX;
	size_t i;

	for (i = 0; i < f->nsegments; i++)
		if (f->segments[i].vaddr < base)
			base = f->segments[i].vaddr;
	return base & -(uint64_t)PAGE;
}

static int find_segments(struct build *b, struct err *e)
{
	const struct elf_file *f = b->f;
	struct unwind_table *t = &b->t;
	size_t i;

	b->base = unwind_base(f);
	for (i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (!s->exec || !s->filesz)
			continue;
		if (t->nsegments == UNWIND_SEGMENTS_MAX)
			return err_set(e, ENOEXEC, "more than %d executable segments",
				       UNWIND_SEGMENTS_MAX);
		t->segments[t->nsegments++] =
			(struct unwind_segment){s->offset, s->filesz, s->vaddr - b->base};
	}
	if (!t->nsegments)
		return err_set(e, ENODATA, "no code");
	return 0;
}

static uint64_t section_addr(struct elf_file *f, const char *name)
{
	const struct elf_section *s = elf_section(f, name);

	return s ? s->addr : 0;
}

static void use_section(struct build *b, int source, const uint8_t *p, size_t n,
			uint64_t addr)
{
	struct cfi_section s = {
		.data = p,
		.n = n,
		.addr = addr,
		.text = section_addr(b->f, ".text"),
		.got = section_addr(b->f, ".got"),
		.eh = source == EH_FRAME,
		.terminated = source == EH_FRAME && b->loaded,
		.swap = b->f->swap,
	};

	cfi_machine_of(b->f->machine, &s.machine);
	cfi_init(&b->cfi[source], &s);
}

/*
 * .eh_frame by way of .eh_frame_hdr (Linux Standard Base, 10.6.2), for files without section
 * headers. How long it is is not said: it ends with a zero length or, where the linker left
 * that out, after as many FDEs as the header counts.
 */
static int load_eh_frame(struct build *b, struct err *e)
{
	uint64_t hdr = b->f->eh_frame_hdr.low, at;
	uint8_t *p, at_encoding, count_encoding;
	struct cfi_section s;
	struct cursor c;
	size_t n;
	int r = elf_load(b->f, hdr, 64, &p, &n, e);

	if (r)
		return r;
	s = (struct cfi_section){.data = p, .n = n, .addr = hdr, .got = hdr};
	c = cursor_at(p, n, 0, b->f->swap);
	r = cursor_u8(&c) == 1 ? 0 : -1; /* version */
	at_encoding = cursor_u8(&c);
	count_encoding = cursor_u8(&c);
	cursor_u8(&c);
	at = cfi_pointer(&s, &c, at_encoding, 0);
	if (!c.bad && count_encoding != 0xff)
		b->max_fdes = cfi_pointer(&s, &c, count_encoding, 0);
	free(p);
	if (r || c.bad)
		return err_set(e, EBADMSG, "bad header of .eh_frame");
	r = elf_load(b->f, at, ELF_SECTION_MAX, &b->loaded, &n, e);
	if (!r)
		use_section(b, EH_FRAME, b->loaded, n, at);
	return r;
}

static int find_eh_frame(struct build *b, struct err *e)
{
	struct elf_section *s = elf_section(b->f, ".eh_frame");
	const uint8_t *p;
	size_t n;
	int r;

	b->max_fdes = UINT64_MAX;
	if (!s && b->f->eh_frame_hdr.high)
		return load_eh_frame(b, e);
	r = elf_data(b->f, s, &p, &n, e);
	if (!r)
		use_section(b, EH_FRAME, p, n, s ? s->addr : 0);
	return r;
}

/* Only code that can run: linkers leave the FDEs of functions they dropped, at made-up places. */
static int add_span(struct build *b, const struct cfi_fde *fde, uint64_t where,
		    struct err *e)
{
	uint64_t high, last = b->base + UINT32_MAX;

	if (fde->start < b->base || fde->start >= last ||
	    !elf_is_code(b->f, fde->start, &high))
		return 0;
	if (b->nspans >= b->lim->max_rows)
		return err_set(e, E2BIG, "more than %zu functions", b->lim->max_rows);
	if (high > fde->end)
		high = fde->end;
	if (high > last)
		high = last;
	XGROW(b->spans, b->nspans, b->spans_cap);
	b->spans[b->nspans++] = (struct span){(uint32_t)(fde->start - b->base),
					      (uint32_t)(high - b->base), where};
	return 0;
}

static int collect(struct build *b, int source, uint64_t max_fdes, struct err *e)
{
	struct cfi_fde fde;
	size_t offset;
	uint64_t i;
	int r = 1;

	for (i = 0; r > 0 && i < max_fdes; i++) {
		r = cfi_next(&b->cfi[source], &offset, &fde, e);
		if (r > 0 && add_span(b, &fde, offset * SOURCES + source, e))
			r = -e->code;
	}
	return r < 0 ? r : 0;
}

static int span_cmp(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->where > y->where) - (x->where < y->where);
}

static void sort_spans(struct span *s, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (span_cmp(&s[i - 1], &s[i]) > 0)
			break;
	if (i < n)
		qsort(s, n, sizeof(*s), span_cmp);
}

/* Make each begin after the one before and end where the next begins. */
static size_t part_spans(struct span *s, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (!kept || s[i].low != s[kept - 1].low)
			s[kept++] = s[i];
	for (i = 1; i < kept; i++)
		if (s[i - 1].high > s[i].low)
			s[i - 1].high = s[i].low;
	return kept;
}

/* Is there anything of [low, high) in n sorted, parted spans? */
static bool overlaps(const struct span *s, size_t n, const struct span *x)
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s[mid].high <= x->low)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && s[lo].low < x->high;
}

/* .debug_frame's are for code that .eh_frame says nothing of. */
static int collect_all(struct build *b, struct err *e)
{
	size_t n, i, kept;
	int r = collect(b, EH_FRAME, b->max_fdes, e);

	if (r)
		return r;
	sort_spans(b->spans, b->nspans);
	n = kept = b->nspans = part_spans(b->spans, b->nspans);
	r = collect(b, DEBUG_FRAME, UINT64_MAX, e);
	if (r && (r != -EBADMSG || !b->nspans))
		return r;
	for (i = n; i < b->nspans; i++)
		if (!overlaps(b->spans, n, &b->spans[i]))
			b->spans[kept++] = b->spans[i];
	if (kept > n) {
		sort_spans(b->spans, kept);
		kept = part_spans(b->spans, kept);
	}
	b->nspans = kept;
	return 0;
}

static int add_row(struct build *b, uint64_t pc, struct unwind_row row, struct err *e)
{
	struct unwind_table *t = &b->t;
	const struct unwind_row *last = t->nrows ? &t->rows[t->nrows - 1] : NULL;

	if (last && last->rule == row.rule && last->cfa == row.cfa && last->fp == row.fp)
		return 0;
	if (t->nrows >= b->lim->max_rows)
		return err_set(e, E2BIG, "more than %zu rows", b->lim->max_rows);
	XGROW(t->rows, t->nrows, b->rows_cap);
	row.pc = (uint32_t)pc;
	t->rows[t->nrows++] = row;
	t->nunsupported += (row.rule & 15) == UNWIND_UNSUPPORTED;
	return 0;
}

static int add_rows(struct build *b, const struct span *s, struct cfi_run *run,
		    struct err *e)
{
	struct cfi *c = &b->cfi[s->where % SOURCES];
	uint64_t low, high, end = b->base + s->high;
	struct cfi_fde fde;
	int r = 0;

	if (!cfi_fde_at(c, s->where / SOURCES, &fde))
		return 0;
	fde.end = end;
	cfi_run_init(run, c, &fde);
	while (!r && cfi_run_next(run, &low, &high))
		r = add_row(b, low - b->base, cfi_row(b->f->machine, c, &run->state), e);
	return r;
}

static int make_rows(struct build *b, struct err *e)
{
	static const struct unwind_row none;
	struct cfi_run *run = xmalloc(sizeof(*run));
	size_t i;
	int r = 0;

	for (i = 0; !r && i < b->nspans; i++) {
		const struct span *s = &b->spans[i];

		r = add_rows(b, s, run, e);
		if (!r && (i + 1 == b->nspans || s[1].low - s->high >= PADDING))
			r = add_row(b, s->high, none, e);
	}
	free(run);
	return r;
}

static int build(struct build *b, struct err *e)
{
	const uint8_t *p;
	size_t n;
	int r = find_segments(b, e);

	if (!r)
		r = find_eh_frame(b, e);
	if (r)
		return r;
	r = elf_debug_data(b->f, "frame", &p, &n, e);
	if (r && !b->cfi[EH_FRAME].s.n)
		return r;
	use_section(b, DEBUG_FRAME, p, r ? 0 : n, 0);
	r = collect_all(b, e);
	if (!r)
		r = make_rows(b, e);
	if (!r && b->t.nrows + 2 <= b->lim->max_rows)
		unwind_amend_sigreturn(b->f, b->base, &b->t);
	if (!r && !b->t.nrows)
		r = err_set(e, ENODATA, "no unwind information");
	return r;
}

int unwind_table_build(struct elf_file *f, const struct unwind_limits *lim,
		       struct unwind_table *out, struct err *e)
{
	struct build b = {.f = f, .lim = lim, .t.machine = f->machine};
	int r = check_file(f, e);

	if (!r)
		r = build(&b, e);
	free(b.spans);
	free(b.loaded);
	if (r) {
		unwind_table_release(&b.t);
		return r;
	}
	if (b.t.nrows + 2 <= lim->max_rows)
		unwind_amend_entry(f, b.base, &b.t);
	if (b.t.nrows + 4 <= lim->max_rows)
		unwind_amend_go(f, b.base, &b.t);
	b.t.rows = xreallocarray(b.t.rows, b.t.nrows, sizeof(*b.t.rows));
	*out = b.t;
	return 0;
}

size_t unwind_table_after(const struct unwind_table *t, uint32_t pc)
{
	size_t lo = 0, hi = t->nrows, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->rows[mid].pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void unwind_table_release(struct unwind_table *t)
{
	free(t->rows);
	*t = (struct unwind_table){0};
}

const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint32_t pc)
{
	size_t next = unwind_table_after(t, pc);

	if (!next || (t->rows[next - 1].rule & 15) == UNWIND_NONE)
		return NULL;
	return &t->rows[next - 1];
}
