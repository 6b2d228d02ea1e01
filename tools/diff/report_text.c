/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: 80 columns, largest change first. */
#include <inttypes.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"
#include "tools/diff/report.h"

/* Three values of ten, a percentage of eight, a status of four, and blanks between. */
#define COLUMNS_BEFORE_NAME (10 + 1 + 10 + 1 + 10 + 1 + 8 + 1 + 4 + 2)
#define NAME_COLUMNS_MIN 16

struct text {
	const struct report *r;
	const struct part *p;
	const char *unit, *unit_out;
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
static void put_change(const struct text *t, const struct amount *a, int width)
{
	char v[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX + 1];

	value(t, a->new - a->base, v);
	snprintf(text, sizeof(text), "%s%s", a->new > a->base ? "+" : "", v);
	buf_printf(t->out, "%*s", width, text);
}

static double percent(const struct amount *a, int64_t total)
{
	return total > 0 ? ((double)a->new - (double)a->base) / (double)total * 100 : 0;
}

static void put_side(const struct text *t, enum side side)
{
	const struct header *h = &t->p->pair->side[side]->h;
	size_t n = t->p->pair->profiles[side];
	char text[UNITS_TEXT_MAX];

	buf_printf(t->out, "%s %zu profile%s", side == SIDE_BASE ? "base" : "new", n,
		   n == 1 ? "" : "s");
	if (h->duration_ns > 0)
		buf_printf(t->out, " of %s",
			   units_format(h->duration_ns, "nanoseconds", "auto", text));
}

static void put_head(const struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	const struct profile *d = c->p;
	char text[UNITS_TEXT_MAX];
	double factor = t->p->combined.factor[c->column];

	escape_terminal(t->out, store_str(d->store, d->h.types[c->column].type).p,
			store_str(d->store, d->h.types[c->column].type).n);
	buf_puts(t->out, ": ");
	put_side(t, SIDE_BASE);
	buf_puts(t->out, ", ");
	put_side(t, SIDE_NEW);
	buf_printf(t->out, ", norm %s", norm_name(t->r->norm));
	if (factor != 1)
		buf_printf(t->out, " (base x %.4g)", factor);
	buf_printf(t->out, "\ntotal %s", value(t, c->total.base, text));
	buf_printf(t->out, " -> %s, ", value(t, c->total.new, text));
	put_change(t, &c->total, 0);
	buf_printf(t->out, ", %+.2f%%\n", percent(&c->total, c->weights.total));
}

static void put_row(const struct text *t, const struct diff_row *row)
{
	const struct amount *a = measure(t->r, row);
	size_t columns = t->r->columns > COLUMNS_BEFORE_NAME + NAME_COLUMNS_MIN
				 ? t->r->columns - COLUMNS_BEFORE_NAME
				 : NAME_COLUMNS_MIN;
	struct buf name = BUF_INIT(1 << 22);
	char text[UNITS_TEXT_MAX];

	buf_printf(t->out, "%10s ", value(t, a->base, text));
	buf_printf(t->out, "%10s ", value(t, a->new, text));
	put_change(t, a, 10);
	buf_printf(t->out, " %+7.2f%% %-4s  ", percent(a, t->p->comparison.weights.total),
		   status_name(row_status(row)));
	escape_terminal(&name, row->name.p, row->name.n);
	name_fit(t->out, buf_str(&name), name.len, columns);
	buf_putc(t->out, '\n');
	buf_release(&name);
}

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
		put_row(t, &c->rows[i]);
	if (changed > n)
		buf_printf(t->out,
			   "... and %zu more that changed less (--top 0 shows all)\n",
			   changed - n);
}

void report_gate(const struct part *p, const struct gate_result *g, struct buf *out)
{
	const struct comparison *c = &p->comparison;
	const char *unit = store_cstr(c->p->store, c->p->h.types[c->column].unit);
	char text[UNITS_TEXT_MAX];

	if (!g->item.p) {
		buf_puts(out, "nothing to hold to it");
		return;
	}
	escape_terminal(out, g->item.p, g->item.n);
	buf_printf(out, " is %s, ", units_format(g->amount.new, unit, "auto", text));
	buf_printf(out, "was %s, ", units_format(g->amount.base, unit, "auto", text));
	buf_printf(out, "may be %s",
		   units_format(g->limit < 9e18 ? (int64_t)g->limit : INT64_MAX, unit,
				"auto", text));
}

static void put_gates(const struct text *t)
{
	const struct gate_result *g;
	size_t i;

	for (i = 0; i < t->p->nresults; i++) {
		g = &t->p->results[i];
		buf_printf(t->out, "gate %s: %s: ",
			   !g->failed		      ? "ok"
			   : gate_only_warns(g->gate) ? "warns"
						      : "FAILED",
			   gate_text(g->gate));
		report_gate(t->p, g, t->out);
		buf_putc(t->out, '\n');
	}
}

int report_text(const struct report *r, struct buf *out, struct err *e)
{
	struct text t = {.r = r, .out = out};
	size_t i;

	(void)e;
	for (i = 0; i < r->nparts; i++) {
		if (i)
			buf_putc(out, '\n');
		t.p = &r->parts[i];
		put_rows(&t);
		put_gates(&t);
	}
	return 0;
}
