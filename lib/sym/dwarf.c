/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/dwarf.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

/* Steps (entries, attributes, rows, ranges) that a byte of debug information may cost. */
#define WORK_PER_BYTE 16
#define WORK_MIN (1u << 20)

#define TABLES_MAX (2ull << 30) /* bytes; more than any real file needs */
#define CANDIDATES_MAX 64	/* units that may claim one address */
#define ROWS_BACK_MAX 64	/* how far to look for an earlier row with a line */

static int load(struct dwarf *dw, const char *name, struct dw_section *s, struct err *e)
{
	return elf_debug_data(dw->file, name, &s->p, &s->n, e);
}

void dw_give_work(struct dwarf *dw, uint64_t bytes)
{
	dw->work = dw->work_full = WORK_MIN + bytes * WORK_PER_BYTE;
	/* a range takes at least 3 bytes of a list, or an entry of its own */
	dw->ranges_left = (dw->info.n + dw->ranges.n + dw->rnglists.n) / 2 + 1024;
}

int dwarf_open(struct elf_file *f, const struct dwarf_more *more, struct intern *strings,
	       struct dwarf **out, struct err *e)
{
	static const struct dwarf_more none;
	struct dwarf *dw = xcalloc(1, sizeof(*dw));
	uint64_t bytes;
	int r;

	dw->file = f;
	dw->more = more ? *more : none;
	dw->strings = strings;
	dw->swap = f->swap;
	dw->threads = dw->more.threads ? dw->more.threads : 1;
	dw->table_max = dw->more.table_max ? dw->more.table_max : TABLES_MAX;
	if (!elf_has_debug(f, "info"))
		r = err_set(e, ENODATA, "no debug information");
	else if ((r = load(dw, "info", &dw->info, e)) ||
		 (r = load(dw, "abbrev", &dw->abbrev, e)) ||
		 (r = load(dw, "str", &dw->str, e)) ||
		 (r = load(dw, "line_str", &dw->line_str, e)) ||
		 (r = load(dw, "str_offsets", &dw->str_offsets, e)) ||
		 (r = load(dw, "addr", &dw->addr, e)) ||
		 (r = load(dw, "line", &dw->line, e)) ||
		 (r = load(dw, "ranges", &dw->ranges, e)) ||
		 (r = load(dw, "rnglists", &dw->rnglists, e)))
		;
	else if (dw->more.alt)
		r = dwarf_open(dw->more.alt, NULL, strings, &dw->alt, e);
	if (r) {
		dwarf_free(dw);
		return r;
	}
	bytes = dw->info.n + dw->abbrev.n + dw->str.n + dw->line_str.n +
		dw->str_offsets.n + dw->addr.n + dw->line.n + dw->ranges.n +
		dw->rnglists.n;
	dw_give_work(dw, bytes);
	dw_scan_units(dw);
	*out = dw;
	return 0;
}

void dwarf_free(struct dwarf *dw)
{
	size_t i;

	if (!dw)
		return;
	dwarf_free(dw->alt);
	for (i = 0; i < dw->nunits; i++) {
		dw_table_free(dw->units[i].table);
		dwarf_free(dw->units[i].split);
	}
	elf_free(dw->own_file);
	for (i = 0; i < dw->nabbrevs; i++)
		dw_abbrevs_free(dw->abbrevs[i]);
	free(dw->units);
	free(dw->claims);
	free(dw->abbrevs);
	free(dw->functions);
	u64map_release(&dw->by_origin);
	free(dw);
}

/* An address and a unit that claims it. */
struct pair {
	uint32_t unit, addr;
};

struct pairs {
	struct pair *v;
	size_t n, cap;
};

/* What one unit knows of an address, and how much that is worth. */
struct match {
	uint32_t unit;	  /* DWARF_NONE: nothing yet */
	uint32_t stretch; /* DWARF_NONE: no function */
	uint32_t row;	  /* DWARF_NONE: no line */
	uint32_t seq_first;
	uint32_t size; /* of the function's range */
};

static int pair_cmp(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Linear merge of sorted addresses with sorted claims. */
static void pair_up(const struct dwarf *dw, const uint64_t *addrs, size_t n,
		    struct pairs *out)
{
	struct dw_claim active[CANDIDATES_MAX];
	size_t nactive = 0, i, k, kept, next = 0;

	for (i = 0; i < n; i++) {
		for (k = kept = 0; k < nactive; k++)
			if (active[k].high > addrs[i])
				active[kept++] = active[k];
		nactive = kept;
		for (; next < dw->nclaims && dw->claims[next].low <= addrs[i]; next++)
			if (dw->claims[next].high > addrs[i] && nactive < CANDIDATES_MAX)
				active[nactive++] = dw->claims[next];
		for (k = 0; k < nactive; k++) {
			XGROW(out->v, out->n, out->cap);
			out->v[out->n++] = (struct pair){active[k].unit, i};
		}
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), pair_cmp);
}

/* Index of the last stretch that starts at or before addr; DWARF_NONE. */
static uint32_t find_stretch(const struct dw_table *t, uint64_t addr)
{
	size_t lo = 0, hi = t->nstretches, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->stretches[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || t->stretches[lo - 1].node == DWARF_NONE)
		return DWARF_NONE;
	return lo - 1;
}

static uint32_t find_row(const struct dw_lines *l, const struct dw_seq *s, uint64_t addr)
{
	size_t lo = s->first, hi = (size_t)s->first + s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (l->rows[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > s->first ? lo - 1 : DWARF_NONE;
}

static struct match match_in(const struct dw_table *t, uint32_t unit, uint64_t addr)
{
	struct match m = {.unit = unit, .row = DWARF_NONE};
	const struct dw_seq *s = dw_find_seq(&t->lines, addr);

	m.stretch = find_stretch(t, addr);
	if (m.stretch != DWARF_NONE)
		m.size = t->stretches[m.stretch].sub_size;
	if (s) {
		m.row = find_row(&t->lines, s, addr);
		m.seq_first = s->first;
	}
	return m;
}

static int worth(const struct match *m)
{
	if (m->unit == DWARF_NONE)
		return -1;
	return (m->stretch != DWARF_NONE ? 2 : 0) + (m->row != DWARF_NONE ? 1 : 0);
}

/* Units come in order of offset: among equals the first one stays. */
static bool is_better(const struct match *a, const struct match *b)
{
	if (worth(a) != worth(b))
		return worth(a) > worth(b);
	return a->size < b->size;
}

/*
 * The row for an address, or where that has line 0 (code no line is to blame for) the nearest
 * earlier one of the same file within the innermost function's range.
 */
static const struct dw_row *row_with_line(const struct dw_table *t, const struct match *m,
					  bool *earlier)
{
	const struct dw_row *row = &t->lines.rows[m->row], *at = row;
	const struct dw_stretch *st;
	uint64_t low;
	unsigned i;

	if (row->line || m->stretch == DWARF_NONE)
		return row;
	st = &t->stretches[m->stretch];
	low = st->start - st->back;
	for (i = 0; i < ROWS_BACK_MAX && at > &t->lines.rows[m->seq_first]; i++) {
		at--;
		if (at->addr < low)
			break;
		if (at->line && at->file == row->file) {
			*earlier = true;
			return at;
		}
	}
	return row;
}

static void add_frame(struct dwarf_result *res, struct dwarf_answer *a,
		      struct dwarf_frame f)
{
	XGROW(res->frames, res->nframes, res->frames_cap);
	res->frames[res->nframes++] = f;
	a->n++;
}

static void answer(struct dwarf *dw, const struct match *m, struct dwarf_result *res,
		   struct dwarf_answer *a)
{
	struct dwarf_frame f = {.function = DWARF_NONE};
	const struct dw_row *row;
	struct dw_unit *u;
	struct dw_table *t;
	uint32_t node;

	*a = (struct dwarf_answer){.first = res->nframes, .unit = true};
	u = &dw->units[m->unit];
	t = u->table;
	a->dwo_missing = u->dwo && !u->dwo_too_big;
	a->damaged = u->damaged;
	a->dwo_too_big = u->dwo_too_big;
	a->over_memory = u->over_memory;
	if (m->row != DWARF_NONE) {
		row = row_with_line(t, m, &a->earlier_line);
		f.file = dw_file_id(dw, u, &t->lines, row->file);
		f.line = row->line;
		f.column = row->line ? row->column : 0;
	}
	if (m->stretch == DWARF_NONE) {
		if (m->row != DWARF_NONE)
			add_frame(res, a, f);
		return;
	}
	node = t->stretches[m->stretch].node;
	while (node != DWARF_NONE && a->n < DWARF_FRAMES_MAX) {
		const struct dw_node *nd = &t->nodes[node];

		f.function = dw_node_function(dw, u, t, node);
		add_frame(res, a, f);
		/* the place of a call belongs to the caller, and counts in the concrete unit */
		f.file = dw_file_id(dw, u, &t->lines, nd->call_file);
		f.line = nd->call_line;
		f.column = nd->call_column;
		node = nd->parent;
	}
}

struct lookup {
	struct dwarf *dw;
	const uint64_t *addrs;
	struct pairs pairs;
	size_t next; /* pair */
	struct match *best;
	struct dwarf_result *res;
};

/* The answers of one unit, where it has the best so far. */
static void ask_unit(void *arg, uint32_t unit)
{
	struct lookup *l = arg;
	struct match m;
	uint32_t addr;

	for (; l->next < l->pairs.n && l->pairs.v[l->next].unit == unit; l->next++) {
		addr = l->pairs.v[l->next].addr;
		m = match_in(l->dw->units[unit].table, unit, l->addrs[addr]);
		if (!is_better(&m, &l->best[addr]))
			continue;
		l->best[addr] = m;
		answer(l->dw, &m, l->res, &l->res->answers[addr]);
	}
}

static void ask_units(struct lookup *l)
{
	const struct pairs *pairs = &l->pairs;
	uint32_t *units = xcalloc(pairs->n + 1, sizeof(*units));
	size_t i, n = 0;

	for (i = 0; i < pairs->n; i++)
		if (!n || units[n - 1] != pairs->v[i].unit)
			units[n++] = pairs->v[i].unit;
	dw_decode(l->dw, units, n, ask_unit, l);
	free(units);
}

void dwarf_lookup(struct dwarf *dw, const uint64_t *addrs, size_t n,
		  struct dwarf_result *res)
{
	struct lookup l = {.dw = dw, .addrs = addrs, .res = res};
	size_t i;

	*res = (struct dwarf_result){.answers =
					     xcalloc(n ? n : 1, sizeof(*res->answers))};
	dw->work = dw->work_full;
	if (dw->alt)
		dw->alt->work = dw->alt->work_full;
	pair_up(dw, addrs, n, &l.pairs);
	l.best = xcalloc(n ? n : 1, sizeof(*l.best));
	for (i = 0; i < n; i++)
		l.best[i].unit = DWARF_NONE;
	ask_units(&l);
	free(l.pairs.v);
	free(l.best);
}

void dwarf_result_release(struct dwarf_result *res)
{
	free(res->answers);
	free(res->frames);
	*res = (struct dwarf_result){0};
}

const struct dwarf_function *dwarf_function(const struct dwarf *dw, uint32_t function)
{
	return &dw->functions[function];
}

size_t dwarf_nfunctions(const struct dwarf *dw)
{
	return dw->nfunctions;
}

void dwarf_limit_tables(struct dwarf *dw, uint64_t max)
{
	dw->table_max = max;
}

void dwarf_keep_no_tables(struct dwarf *dw)
{
	dw->forget = true;
}

size_t dwarf_table_bytes(const struct dwarf *dw)
{
	return dw->table_bytes;
}

size_t dwarf_ndamaged(const struct dwarf *dw)
{
	return dw->ndamaged;
}
