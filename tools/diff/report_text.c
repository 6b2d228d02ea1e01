/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: no wider than it, largest change first. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"
#include "tools/diff/environment.h"
#include "tools/diff/report_text.h"

#define POWER_SHARE 0.01
/* Callers that changed by what they call. */
#define CALLERS_MAX 10
/* A larger one is written with an exponent. */
#define PERCENT_MAX 1e5

static const struct amount *measure(const struct report *r, const struct diff_row *row)
{
	return r->by_cum ? &row->cum : &row->flat;
}

const char *text_value(const struct text *t, int64_t v, char text[UNITS_TEXT_MAX])
{
	return units_format(v, t->unit, t->unit_out, text);
}

/* "+1.20s": a change always says its direction. */
void text_change(const struct text *t, const struct amount *a, int width,
		 struct buf *line)
{
	char v[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX + 1];

	text_value(t, a->new - a->base, v);
	snprintf(text, sizeof(text), "%s%s", a->new > a->base ? "+" : "", v);
	buf_printf(line, "%*s", width, text);
}

static double percent(const struct amount *a, int64_t total)
{
	return total > 0 ? ((double)a->new - (double)a->base) / (double)total * 100 : 0;
}

/* A line of the heading: cut where it is too wide. */
void text_end_line(const struct text *t, struct buf *line)
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

void text_interval(const struct finding *f, struct buf *line)
{
	buf_printf(line, "%+.2f%% to %+.2f%%", f->low * 100, f->high * 100);
}

void text_fit_name(const struct text *t, struct str name, size_t taken, struct buf *line)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);

	escape_terminal(&b, name.p, name.n);
	name_fit(line, buf_str(&b), b.len,
		 t->columns > taken + NAME_COLUMNS_MIN ? t->columns - taken
						       : NAME_COLUMNS_MIN);
	buf_release(&b);
}

static void put_total(const struct text *t, struct buf *line)
{
	const struct comparison *c = &t->p->comparison;
	const struct evidence *ev = &t->p->evidence;
	const struct finding *f = &t->p->verdicts.total;
	char text[UNITS_TEXT_MAX];

	buf_printf(line, "total %s", text_value(t, c->total.base, text));
	buf_printf(line, " -> %s, ", text_value(t, c->total.new, text));
	text_change(t, &c->total, 0, line);
	buf_printf(line, ", %+.2f%%", percent(&c->total, c->weights.total));
	if (ev->total_assessed)
		buf_printf(line, ": %s", verdict_name(f->verdict));
	else
		buf_puts(line, ": not assessed (no --work)");
	text_end_line(t, line);
	if (ev->total_assessed && f->tested) {
		buf_puts(line, "  the change is ");
		text_interval(f, line);
		if (ev->norm == NORM_STABLE)
			buf_puts(line, ", against most functions; per work: --work");
		text_end_line(t, line);
	}
}

static void put_counts(const struct text *t, struct buf *line)
{
	static const enum verdict shown[] = {VERDICT_REGRESSED, VERDICT_IMPROVED,
					     VERDICT_NEW,	VERDICT_GONE,
					     VERDICT_MOVED,	VERDICT_RENAMED};
	const struct comparison *c = &t->p->comparison;
	size_t count[VERDICTS] = {0}, any = 0, i;

	for (i = 0; i < c->nrows; i++)
		count[report_row(t->p, &c->rows[i])->flat.verdict]++;
	buf_puts(line,
		 t->p->evidence.single ? "advisory, one profile a side: " : "verdict: ");
	for (i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (count[shown[i]])
			buf_printf(line, "%s%zu %s", any++ ? ", " : "", count[shown[i]],
				   verdict_name(shown[i]));
	}
	if (!any)
		buf_puts(line, "nothing found");
	text_end_line(t, line);
}

static void put_head(const struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	struct str type = store_str(c->p->store, c->p->h.types[c->column].type);
	double factor = t->p->combined.factor[c->column];
	struct buf line = BUF_INIT(SIZE_MAX / 2), b = BUF_INIT(SIZE_MAX / 2);
	bool mean = type_is_gauge(c->p, c->column);
	size_t at = 0;

	escape_terminal(&line, type.p, type.n);
	buf_printf(&line, "%s, norm %s", mean ? " (mean of profiles)" : "",
		   norm_name(t->p->evidence.norm));
	if (factor != 1)
		buf_printf(&line, " (base x %.4g)", factor);
	buf_puts(&line, ": ");
	put_side(t, SIDE_BASE, &line);
	put_side(t, SIDE_NEW, &line);
	text_end_line(t, &line);
	while (environment_differs(t->p->pair, &at, &b)) {
		buf_puts(&line, "warning: ");
		escape_terminal(&line, buf_str(&b), b.len);
		text_end_line(t, &line);
		buf_clear(&b);
	}
	buf_release(&b);
	put_total(t, &line);
	put_counts(t, &line);
	buf_release(&line);
}

const char *text_mark(enum verdict v)
{
	if (v == VERDICT_INCONCLUSIVE)
		return "?";
	return v == VERDICT_UNCHANGED ? "=" : verdict_name(v);
}

void text_amounts(const struct text *t, const struct amount *a, const char *mark,
		  struct buf *line)
{
	char text[UNITS_TEXT_MAX];
	double p;

	buf_clear(line);
	buf_printf(line, "%10s ", text_value(t, a->base, text));
	buf_printf(line, "%10s ", text_value(t, a->new, text));
	text_change(t, a, 10, line);
	p = percent(a, t->p->comparison.weights.total);
	buf_printf(line, fabs(p) < PERCENT_MAX ? " %+7.2f%%" : " %+7.2g%%", p);
	buf_printf(line, " %-9s  ", mark);
}

void text_heading(const struct text *t, const char *what)
{
	buf_printf(t->out, "%10s %10s %10s %8s %-9s  %s\n", "base", "new", "delta",
		   "of base", "verdict", what);
}

static void put_row(const struct text *t, const struct diff_row *row, struct buf *line)
{
	const struct row_finding *f = report_row(t->p, row);

	text_amounts(t, measure(t->r, row),
		     text_mark(t->r->by_cum ? f->cum.verdict : f->flat.verdict), line);
	text_name(t, row->name, line);
}

void text_name(const struct text *t, struct str name, struct buf *line)
{
	/* numbers that are wider than their columns take from the name */
	text_fit_name(t, name, line->len, line);
	buf_put(t->out, line->data, line->len);
	buf_putc(t->out, '\n');
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

static void put_gates(const struct text *t)
{
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	const struct gate_result *g;
	size_t i;

	for (i = 0; i < t->p->nresults; i++) {
		const char *verdict;

		g = &t->p->results[i];
		verdict = report_gate_verdict(t->r, t->p, g);
		buf_printf(&line, "gate %s: ",
			   !strcmp(verdict, "fail")   ? "FAILED"
			   : !strcmp(verdict, "warn") ? "warns"
						      : verdict);
		escape_terminal(&line, gate_text(g->gate), strlen(gate_text(g->gate)));
		text_end_line(t, &line);
		buf_puts(t->out, "  ");
		report_gate(t->p, g, t->columns - 2, t->out);
		buf_putc(t->out, '\n');
	}
	buf_release(&line);
}

static void put_rows(struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	const struct amount *a;
	size_t changed, n, i;
	char heading[32];

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
	put_gates(t);
	if (!changed) {
		buf_printf(t->out, "no %s changed\n", report_row_noun(t->r));
		return;
	}
	snprintf(heading, sizeof(heading), "%s, %s", report_row_noun(t->r),
		 t->r->by_cum ? "cum" : "flat");
	text_heading(t, heading);
	for (i = 0; i < n; i++)
		put_row(t, &c->rows[i], &line);
	if (changed > n)
		buf_printf(t->out,
			   "... and %zu more that changed less (--top 0 shows all)\n",
			   changed - n);
	buf_release(&line);
}

/* The name of a row, to be followed by a text of so many columns. */
/* What changed by what it calls: those that lead to the findings, as a rule. */
static void put_callers(const struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	size_t i, shown = 0;

	for (i = 0; i < c->nrows && shown < CALLERS_MAX; i++) {
		const struct row_finding *f = report_row(t->p, &c->rows[i]);
		char head[40], tail[120];

		if (f->flat.verdict > VERDICT_UNCHANGED ||
		    f->cum.verdict <= VERDICT_UNCHANGED)
			continue;
		buf_puts(t->out, shown++ ? "" : "\nwith what they call:\n");
		snprintf(head, sizeof(head), "%s ", verdict_name(f->cum.verdict));
		snprintf(tail, sizeof(tail), ", %+.2f%% of base (%+.2f%% to %+.2f%%)",
			 f->cum.e.difference * 100, f->cum.low * 100, f->cum.high * 100);
		buf_puts(&line, head);
		text_fit_name(t, c->rows[i].name, strlen(head) + strlen(tail), &line);
		buf_puts(&line, tail);
		text_end_line(t, &line);
	}
	buf_release(&line);
}

/* What these profiles could have shown: for a function of 1 % of the total. */
static void put_power(const struct text *t)
{
	const struct verdicts *v = &t->p->verdicts;
	const struct stat_design *d = &v->ev->design;
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	double sums[SIDES] = {POWER_SHARE * d->total[SIDE_BASE],
			      POWER_SHARE * d->total[SIDE_NEW]};
	double least, tests = v->tests[0] ? (double)v->tests[0] : 1;

	least = stat_detectable(d, &v->noise[0], sums, v->noise[0].prior,
				v->o.alpha / tests, v->o.power, v->o.min_effect);
	buf_printf(
		&line,
		"\npower: with %zu+%zu replicates a function of 1%% of the total had to "
		"grow\nby %.2g%% of it (%.0f%% of itself) to be found with %.0f%% "
		"probability\n",
		d->n[SIDE_BASE], d->n[SIDE_NEW], least * 100, least / POWER_SHARE * 100,
		v->o.power * 100);
	buf_put(t->out, line.data, line.len);
	buf_release(&line);
}

/* p NULL: of all types. */
static void put_left_out(const struct text *t, const struct part *p)
{
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	size_t at = 0;

	while (report_left_out(t->r, p, &at, &line))
		text_end_line(t, &line);
	buf_release(&line);
}

/* Two sets of one build: whatever was found is false. */
static void put_calibration(const struct text *t)
{
	const struct comparison *c = &t->p->comparison;
	size_t found[2] = {0, 0}, i;

	for (i = 0; i < c->nrows; i++) {
		const struct row_finding *f = report_row(t->p, &c->rows[i]);

		found[0] += verdict_is_rise(f->flat.verdict) ||
			    verdict_is_fall(f->flat.verdict);
		found[1] += verdict_is_rise(f->cum.verdict) ||
			    verdict_is_fall(f->cum.verdict);
	}
	buf_printf(
		t->out,
		"calibration: false findings: %zu flat of %zu tested, %zu cum of %zu;\n"
		"a function varies by %.1f%% between replicates, beyond sampling\n",
		found[0], t->p->verdicts.tests[0], found[1], t->p->verdicts.tests[1],
		sqrt(t->p->verdicts.noise[0].alpha) * 100);
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
		text_findings(&t);
		put_callers(&t);
		text_families(&t);
		put_power(&t);
		put_left_out(&t, t.p);
		if (r->calibrate)
			put_calibration(&t);
	}
	put_left_out(&t, NULL);
}
