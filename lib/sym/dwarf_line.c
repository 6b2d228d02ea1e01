/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line number programs, versions 2 to 5, decoded whole into sorted sequences of rows.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

#define SEQS_BACK_MAX 16
#define PATH_PARTS_MAX (1u << 16) /* bytes of one path */
#define BYTES_A_ROW 16		  /* of a program, about: less growing of tables */

struct program {
	struct cursor c;
	const struct dw_unit *u;
	struct dw_lines *l;
	uint8_t off_size, addr_size, min_inst, max_ops, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *lengths; /* of the standard opcodes, opcode_base - 1 of them */
	/* registers */
	uint64_t addr;
	uint32_t op_index, file, line;
	uint16_t column;
	size_t first; /* row that the open sequence starts with */
	bool sorted;  /* the open sequence's rows have rising addresses */
};

static void add_dir(struct dw_lines *l, struct dw_text t)
{
	XGROW(l->dirs, l->ndirs, l->dirs_cap);
	l->dirs[l->ndirs++] = t;
}

static void add_file(struct dw_lines *l, struct dw_text name, uint64_t dir)
{
	XGROW(l->files, l->nfiles, l->files_cap);
	l->files[l->nfiles++] = (struct dw_file){
		.name = name, .dir = dir <= UINT32_MAX ? dir : UINT32_MAX};
}

static struct dw_text short_text(const char *p, size_t n)
{
	return (struct dw_text){p, n <= PATH_PARTS_MAX ? n : 0};
}

/* Versions 2 to 4: entries 1, 2, …; directory 0 is the compilation directory. */
static bool old_tables(struct dwarf *dw, struct cursor *c, struct dw_lines *l)
{
	struct dw_text none = {"", 0};
	const char *p;
	size_t n;

	add_dir(l, none);
	add_file(l, none, 0);
	while (p = cursor_str(c, &n), n && !c->bad && dw_work(dw, 1))
		add_dir(l, short_text(p, n));
	while (p = cursor_str(c, &n), n && !c->bad && dw_work(dw, 1)) {
		add_file(l, short_text(p, n), cursor_uleb(c));
		cursor_skip_leb(c);
		cursor_skip_leb(c);
	}
	return !c->bad;
}

/* Version 5: a list of (content, form), then entries of that form from 0 on. */
static bool new_table(struct dwarf *dw, struct cursor *c, const struct dw_unit *shape,
		      struct dw_lines *l, bool files)
{
	struct dw_attr formats[256];
	unsigned nformats = cursor_u8(c), i;
	uint64_t count, dir;
	struct dw_value v;
	struct dw_text name;
	bool alt_missing;

	for (i = 0; i < nformats; i++) {
		uint64_t content = cursor_uleb(c), form = cursor_uleb(c);

		formats[i] = (struct dw_attr){
			.name = content <= UINT16_MAX ? content : 0,
			.form = form <= UINT16_MAX ? form : 0,
		};
	}
	count = cursor_uleb(c);
	for (; count && !c->bad && dw_work(dw, 1 + nformats); count--) {
		name = (struct dw_text){"", 0};
		dir = 0;
		for (i = 0; i < nformats; i++) {
			if (!dw_read(c, shape, &formats[i], &v))
				return false;
			if (formats[i].name == DW_LNCT_path)
				dw_string(dw, shape, &v, &name, &alt_missing);
			else if (formats[i].name == DW_LNCT_directory_index)
				dir = v.u;
		}
		name = short_text(name.p, name.n);
		if (files)
			add_file(l, name, dir);
		else
			add_dir(l, name);
	}
	return !c->bad && !count;
}

static bool read_header(struct dwarf *dw, const struct dw_unit *u, struct program *g)
{
	struct cursor *c = &g->c;
	struct dw_unit shape =
		*u; /* strings by index are the unit's, sizes the table's */
	uint64_t n, header_n;
	const uint8_t *program;
	bool ok;

	*c = dw_cursor(dw, dw->line, u->stmt_list);
	g->off_size = 4;
	g->addr_size = u->addr_size;
	n = cursor_u32(c);
	if (n == 0xffffffff) {
		g->off_size = 8;
		n = cursor_u64(c);
	}
	if (c->bad || n > cursor_left(c))
		return false;
	c->end = c->p + n;
	g->l->version = cursor_u16(c);
	if (g->l->version < 2 || g->l->version > 5)
		return false;
	if (g->l->version >= 5) {
		g->addr_size = cursor_u8(c);
		cursor_u8(c); /* segment selector size */
	}
	header_n = cursor_uint(c, g->off_size);
	if (c->bad || header_n > cursor_left(c))
		return false;
	program = c->p + header_n;
	g->min_inst = cursor_u8(c);
	g->max_ops = g->l->version >= 4 ? cursor_u8(c) : 1;
	cursor_u8(c); /* default_is_stmt: rows that are no statement count as well */
	g->line_base = cursor_u8(c);
	g->line_range = cursor_u8(c);
	g->opcode_base = cursor_u8(c);
	g->lengths = c->p;
	if (!g->opcode_base || !cursor_skip(c, g->opcode_base - 1))
		return false;
	shape.off_size = g->off_size;
	shape.addr_size = g->addr_size;
	shape.version = g->l->version;
	if (g->l->version >= 5)
		ok = new_table(dw, c, &shape, g->l, false) &&
		     new_table(dw, c, &shape, g->l, true);
	else
		ok = old_tables(dw, c, g->l);
	c->p = program;
	c->bad = false;
	return ok && g->line_range && g->max_ops;
}

static void reset(struct program *g)
{
	g->addr = 0;
	g->op_index = 0;
	g->file = 1;
	g->line = 1;
	g->column = 0;
	g->first = g->l->nrows;
	g->sorted = true;
}

static void advance(struct program *g, uint64_t ops)
{
	if (g->max_ops == 1) {
		g->addr += ops * g->min_inst;
		return;
	}
	g->addr += g->min_inst * ((g->op_index + ops) / g->max_ops);
	g->op_index = (g->op_index + ops) % g->max_ops;
}

static void emit(struct program *g)
{
	struct dw_lines *l = g->l;

	if (l->nrows > g->first && l->rows[l->nrows - 1].addr >= g->addr) {
		if (l->rows[l->nrows - 1].addr > g->addr)
			g->sorted = false;
		else
			l->nrows--; /* of several rows at one address the last one counts */
	}
	XGROW(l->rows, l->nrows, l->rows_cap);
	l->rows[l->nrows] =
		(struct dw_row){g->addr, g->file, g->line, g->column, l->nrows};
	l->nrows++;
}

static int row_cmp(const void *a, const void *b)
{
	const struct dw_row *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void end_sequence(struct dwarf *dw, struct program *g)
{
	struct dw_lines *l = g->l;
	size_t n = l->nrows - g->first;
	uint64_t high = g->addr, low;

	if (n && !g->sorted)
		qsort(l->rows + g->first, n, sizeof(*l->rows), row_cmp);
	low = n ? l->rows[g->first].addr : 0;
	if (!n || !dw_keep(dw, low, &high) || l->nrows > UINT32_MAX) {
		l->nrows = g->first;
	} else {
		XGROW(l->seqs, l->nseqs, l->seqs_cap);
		l->seqs[l->nseqs++] = (struct dw_seq){low, high, g->first, n};
	}
	reset(g);
}

static bool extended(struct dwarf *dw, struct program *g)
{
	struct cursor *c = &g->c, body;
	uint64_t n = cursor_uleb(c);
	const char *name;
	size_t name_n;

	if (c->bad || !n || n > cursor_left(c))
		return false;
	body = *c;
	body.end = c->p + n;
	c->p += n;
	switch (cursor_u8(&body)) {
	case DW_LNE_end_sequence:
		end_sequence(dw, g);
		break;
	case DW_LNE_set_address:
		if (n - 1 > 8 || n == 1)
			return false;
		g->addr = cursor_uint(&body, n - 1);
		g->op_index = 0;
		break;
	case DW_LNE_define_file:
		name = cursor_str(&body, &name_n);
		add_file(g->l, short_text(name, name_n), cursor_uleb(&body));
		break;
	}
	return !body.bad;
}

static void standard(struct program *g, unsigned op)
{
	struct cursor *c = &g->c;
	uint64_t v;
	unsigned i;

	switch (op) {
	case DW_LNS_copy:
		emit(g);
		break;
	case DW_LNS_advance_pc:
		advance(g, cursor_uleb(c));
		break;
	case DW_LNS_advance_line:
		g->line += (uint32_t)cursor_sleb(c);
		break;
	case DW_LNS_set_file:
		v = cursor_uleb(c);
		g->file = v <= UINT32_MAX ? v : UINT32_MAX;
		break;
	case DW_LNS_set_column:
		v = cursor_uleb(c);
		g->column = v <= UINT16_MAX ? v : 0;
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_const_add_pc:
		advance(g, (255 - g->opcode_base) / g->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		g->addr += cursor_u16(c);
		g->op_index = 0;
		break;
	default: /* DW_LNS_set_isa and newer ones: operands are LEB128 */
		for (i = g->lengths[op - 1]; i; i--)
			cursor_skip_leb(c);
	}
}

static bool run(struct dwarf *dw, struct program *g)
{
	unsigned op;

	reset(g);
	XRESERVE(g->l->rows, g->l->rows_cap, cursor_left(&g->c) / BYTES_A_ROW);
	while (g->c.p < g->c.end) {
		if (g->l->nrows > dw->table_max / sizeof(*g->l->rows)) {
			g->l->over_memory = true;
			return false;
		}
		if (!dw_work(dw, 1))
			return false;
		op = cursor_u8(&g->c);
		if (op >= g->opcode_base) {
			op -= g->opcode_base;
			advance(g, op / g->line_range);
			g->line += g->line_base + (int)(op % g->line_range);
			emit(g);
		} else if (!op) {
			if (!extended(dw, g))
				return false;
		} else {
			standard(g, op);
		}
	}
	return !g->c.bad;
}

static int seq_cmp(const void *a, const void *b)
{
	const struct dw_seq *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

bool dw_read_lines(struct dwarf *dw, struct dw_unit *u, struct dw_lines *l)
{
	struct program g = {.u = u, .l = l};
	bool ok;

	if (!u->has_stmt)
		return true;
	ok = read_header(dw, u, &g) && run(dw, &g);
	l->nrows = l->nseqs ? l->nrows : 0;
	if (l->nseqs)
		qsort(l->seqs, l->nseqs, sizeof(*l->seqs), seq_cmp);
	return ok;
}

void dw_lines_release(struct dw_lines *l)
{
	free(l->dirs);
	free(l->files);
	free(l->rows);
	free(l->seqs);
	*l = (struct dw_lines){0};
}

const struct dw_seq *dw_find_seq(const struct dw_lines *l, uint64_t addr)
{
	const struct dw_seq *best = NULL, *s;
	size_t lo = 0, hi = l->nseqs, mid;
	unsigned back;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (l->seqs[mid].low <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/*
	 * Overlaps are damage or folded code. As with functions the smallest one counts, then
	 * the first, so that both choices fall on the same copy.
	 */
	for (back = 0; lo && back < SEQS_BACK_MAX; lo--, back++) {
		s = &l->seqs[lo - 1];
		if (addr < s->high &&
		    (!best || s->high - s->low <= best->high - best->low))
			best = s;
	}
	return best;
}

/* Append a part of a path. */
static size_t join(char *out, size_t n, struct dw_text t)
{
	if (t.n && n)
		out[n++] = '/';
	memcpy(out + n, t.p, t.n);
	return n + t.n;
}

/* "//" and "/./" become "/", wherever parts were joined too. */
static size_t tidy(char *path, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		bool after = k && path[k - 1] == '/';

		if (after && path[i] == '/')
			continue;
		if (after && path[i] == '.' && i + 1 < n && path[i + 1] == '/')
			continue; /* and the next slash goes by the rule above */
		path[k++] = path[i];
	}
	return k;
}

static bool absolute(struct dw_text t)
{
	return t.n && t.p[0] == '/';
}

uint32_t dw_file_id(struct dwarf *dw, const struct dw_unit *u, struct dw_lines *l,
		    uint64_t file)
{
	struct dw_text none = {"", 0}, dir = none, comp = u->comp_dir;
	struct dw_file *f;
	char *path;
	size_t n = 0;

	if (file >= l->nfiles || !l->files[file].name.n)
		return 0;
	f = &l->files[file];
	if (f->id)
		return f->id;
	if (!absolute(f->name)) {
		if (f->dir < l->ndirs)
			dir = l->dirs[f->dir];
		/*
		 * In version 5 directory 0 is the compilation directory itself: joining them
		 * would double a relative one.
		 */
		if (absolute(dir) || (l->version >= 5 && !f->dir))
			comp = none;
		if (comp.n > PATH_PARTS_MAX)
			comp = none;
	} else {
		comp = none;
	}
	path = xmalloc((size_t)comp.n + dir.n + f->name.n + 3);
	n = join(path, n, comp);
	n = join(path, n, dir);
	n = join(path, n, f->name);
	n = tidy(path, n);
	f->id = intern_put(dw->strings, path, n);
	free(path);
	return f->id;
}
