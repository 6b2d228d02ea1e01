/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: no wider than it, largest change first. */
#include <inttypes.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"
#include "tools/diff/report.h"

#define NAME_COLUMNS_MIN 16

struct text {
	const struct report *r;
	const struct part *p;
	const char *unit, *unit_out;
	size_t columns;
	struct buf *out;
};

static const struct amount *measure(const struct report *r, const struct diff_row *row)
{
	return r->by_cum ? &row->cum : &row->flat;
}

static const char *value(const struct text *t, int64_t v, char text[UNITS_TEXT_MAX])
{
	return units_format(v, t->unit, t->unit_out, text);
}

/* "+1.20s": a change always says its direction. */
static void put_change(const struct text *t, const struct amount *a, int width,
		       struct buf *line)
{
	char v[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX + 1];

	value(t, a->new - a->base, v);
	snprintf(text, sizeof(text), "%s%s", a->new > a->base ? "+" : "", v);
	buf_printf(line, "%*s", width, text);
}

static double percent(const struct amount *a, int64_t total)
{
	return total > 0 ? ((double)a->new - (double)a->base) / (double)total * 100 : 0;
}

/* A line of the heading: cut where it is too wide. */
static void end_line(const struct text *t, struct buf *line)
{
	name_cut(t->out, buf_str(line), line->len, t->columns);
	buf_putc(t->out, '\n');
	buf_clear(line);
}

static void put_side(const struct text *t, enum side side, struct buf *line)
{
	const struct header *h = &t->p->pair->side[side]->h;
	size_t n = t->p->pair->profiles[side];
	char text[UNITS_TEXT_MAX];

	buf_printf(line, "%s %zu profile%s", side == SIDE_BASE ? "base" : ", new", n,
		   n == 1 ? "" : "s");
	if (h->duration_ns > 0)
		buf_printf(line, " of %s",
			   units_format(h->duration_ns, "nanoseconds", "auto", text));
}

static void put_head(const struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	struct str type = store_str(c->p->store, c->p->h.types[c->column].type);
	double factor = t->p->combined.factor[c->column];
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	char text[UNITS_TEXT_MAX];
	bool mean = type_is_gauge(c->p, c->column);

	escape_terminal(&line, type.p, type.n);
	buf_puts(&line, mean ? " (mean of profiles): " : ": ");
	put_side(t, SIDE_BASE, &line);
	put_side(t, SIDE_NEW, &line);
	end_line(t, &line);
	buf_printf(&line, "norm %s", norm_name(t->r->norm));
	if (factor != 1)
		buf_printf(&line, ": base x %.4g", factor);
	end_line(t, &line);
	buf_printf(&line, "total %s", value(t, c->total.base, text));
	buf_printf(&line, " -> %s, ", value(t, c->total.new, text));
	put_change(t, &c->total, 0, &line);
	buf_printf(&line, ", %+.2f%%", percent(&c->total, c->weights.total));
	end_line(t, &line);
	buf_release(&line);
}

static void put_row(const struct text *t, const struct diff_row *row, struct buf *line)
{
	const struct amount *a = measure(t->r, row);
	struct buf name = BUF_INIT(SIZE_MAX / 2);
	char text[UNITS_TEXT_MAX];
	size_t columns;

	buf_clear(line);
	buf_printf(line, "%10s ", value(t, a->base, text));
	buf_printf(line, "%10s ", value(t, a->new, text));
	put_change(t, a, 10, line);
	buf_printf(line, " %+7.2f%% %-4s  ", percent(a, t->p->comparison.weights.total),
		   status_name(row_status(row)));
	/* numbers that are wider than their columns take from the name */
	columns = t->columns > line->len + NAME_COLUMNS_MIN ? t->columns - line->len
							    : NAME_COLUMNS_MIN;
	escape_terminal(&name, row->name.p, row->name.n);
	name_fit(line, buf_str(&name), name.len, columns);
	buf_put(t->out, line->data, line->len);
	buf_putc(t->out, '\n');
	buf_release(&name);
}

/* One unit for all: that of the smallest change worth showing, or 100 times it. */
static int64_t least_shown(const struct text *t, size_t n)
{
	int64_t least = 0, v;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct amount *a = measure(t->r, &t->p->comparison.rows[i]);

		v = a->new > a->base ? a->new - a->base : a->base - a->new;
		if (v && (!least || v < least))
			least = v;
	}
	return least;
}

static void put_rows(struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	const struct amount *a;
	size_t changed, n, i;

	/* rows without a change are at the end */
	for (changed = 0; changed < c->nrows; changed++) {
		a = measure(t->r, &c->rows[changed]);
		if (a->base == a->new)
			break;
	}
	n = t->r->top && changed > t->r->top ? t->r->top : changed;
	t->unit = store_cstr(c->p->store, c->p->h.types[c->column].unit);
	t->unit_out = units_for_report(least_shown(t, n), c->weights.total, t->unit);
	put_head(t);
	if (!changed) {
		buf_puts(t->out, "no function changed\n");
		return;
	}
	buf_printf(t->out, "%10s %10s %10s %8s %4s  function, %s\n", "base", "new",
		   "delta", "of base", "", t->r->by_cum ? "cum" : "flat");
	for (i = 0; i < n; i++)
		put_row(t, &c->rows[i], &line);
	if (changed > n)
		buf_printf(t->out,
			   "... and %zu more that changed less (--top 0 shows all)\n",
			   changed - n);
	buf_release(&line);
}

void report_gate(const struct part *p, const struct gate_result *g, size_t columns,
		 struct buf *out)
{
	const struct comparison *c = &p->comparison;
	const char *unit = store_cstr(c->p->store, c->p->h.types[c->column].unit);
	struct buf name = BUF_INIT(SIZE_MAX / 2), rest = BUF_INIT(SIZE_MAX / 2);
	char text[UNITS_TEXT_MAX];

	if (!g->item.p) {
		buf_puts(out, "nothing has that share");
		return;
	}
	buf_printf(&rest, " is %s", units_format(g->amount.new, unit, "auto", text));
	buf_printf(&rest, ", was %s", units_format(g->amount.base, unit, "auto", text));
	buf_printf(&rest, ", may be %s", units_format(g->limit, unit, "auto", text));
	escape_terminal(&name, g->item.p, g->item.n);
	name_fit(out, buf_str(&name), name.len,
		 columns > rest.len + NAME_COLUMNS_MIN ? columns - rest.len
						       : NAME_COLUMNS_MIN);
	buf_put(out, rest.data, rest.len);
	buf_release(&name);
	buf_release(&rest);
}

static void put_gates(const struct text *t)
{
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	const struct gate_result *g;
	size_t i;

	for (i = 0; i < t->p->nresults; i++) {
		g = &t->p->results[i];
		buf_printf(&line, "gate %s: ",
			   !g->failed		      ? "ok"
			   : gate_only_warns(g->gate) ? "warns"
						      : "FAILED");
		escape_terminal(&line, gate_text(g->gate), strlen(gate_text(g->gate)));
		end_line(t, &line);
		buf_puts(t->out, "  ");
		report_gate(t->p, g, t->columns - 2, t->out);
		buf_putc(t->out, '\n');
	}
	buf_release(&line);
}

void report_text(const struct report *r, size_t columns, struct buf *out)
{
	struct text t = {.r = r, .columns = columns, .out = out};
	size_t i;

	for (i = 0; i < r->nparts; i++) {
		if (i)
			buf_putc(out, '\n');
		t.p = &r->parts[i];
		put_rows(&t);
		put_gates(&t);
	}
}
