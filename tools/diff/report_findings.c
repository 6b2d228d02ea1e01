/* SPDX-License-Identifier: Apache-2.0 */
/* The text report's paragraphs on what changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "tools/diff/path.h"
#include "tools/diff/report_text.h"

/* ", 12345 more" */
#define MORE_COLUMNS 12
#define Q_MIN_SHOWN 1e-12

/* Of a row with several: as many as a line holds. */
static void put_raw_names(const struct text *t, const struct diff_row *row,
			  struct buf *line)
{
	struct raw_names at = {0};
	size_t n = 0, left = 0;
	struct str name;

	for (; report_raw_name(t->r, t->p, row, &at, &name); n++) {
		if (n && line->len + name.n + MORE_COLUMNS > t->columns) {
			left++;
			continue;
		}
		buf_puts(line, n ? ", " : "  raw ");
		text_fit_name(t, name, line->len + MORE_COLUMNS, line);
	}
	if (left)
		buf_printf(line, ", %zu more", left);
	if (n)
		text_end_line(t, line);
}

static void put_path(const struct text *t, const struct diff_row *row, struct buf *line)
{
	size_t n;
	uint32_t *path = change_path(&t->p->comparison, row->frame, &n);

	if (n) {
		buf_puts(line, "  under ");
		text_path(t, path, n, line);
		text_end_line(t, line);
	}
	free(path);
}

static void put_finding(const struct text *t, const struct diff_row *row,
			struct buf *line)
{
	const struct row_finding *f = report_row(t->p, row);
	const struct comparison *c = &t->p->comparison;
	struct buf name = BUF_INIT(SIZE_MAX / 2);
	char text[80];

	snprintf(text, sizeof(text), "%s ", verdict_name(f->flat.verdict));
	buf_puts(line, text);
	text_fit_name(t, row->name, strlen(text), line);
	text_end_line(t, line);
	buf_printf(line, "  %+.2f%% of base (", f->flat.e.difference * 100);
	text_interval(&f->flat, line);
	buf_puts(line, ")");
	if (f->flat.e.rate[SIDE_BASE] > 0 && f->flat.e.rate[SIDE_NEW] > 0)
		buf_printf(line, ", x%.3g",
			   f->flat.e.rate[SIDE_NEW] / f->flat.e.rate[SIDE_BASE]);
	if (f->flat.tested)
		buf_printf(line, f->flat.q < Q_MIN_SHOWN ? ", q < %.0e" : ", q %.2g",
			   fmax(f->flat.q, Q_MIN_SHOWN));
	text_end_line(t, line);
	put_raw_names(t, row, line);
	if (row->was.p) {
		buf_puts(line, "  was ");
		text_fit_name(t, row->was, 6, line);
		text_end_line(t, line);
	}
	if (f->moved_with != ID_NONE) {
		frames_name(&c->frames, f->moved_with, &name);
		buf_puts(line, f->flat.e.difference > 0 ? "  from " : "  to ");
		text_fit_name(t, (struct str){buf_str(&name), (uint32_t)name.len}, 8,
			      line);
		text_end_line(t, line);
	}
	if (verdict_is_rise(f->flat.verdict)) {
		put_path(t, row, line);
		if (f->carrier && f->without_carrier < t->p->verdicts.o.min_effect) {
			struct str who = store_str(c->p->store, f->carrier->name);

			buf_printf(line,
				   "  most of it is in one replicate (%+.2f%% without): ",
				   f->without_carrier * 100);
			escape_terminal(line, who.p, who.n);
			text_end_line(t, line);
		}
	}
	buf_release(&name);
}

void text_findings(const struct text *t)
{
	static const enum verdict order[] = {VERDICT_REGRESSED, VERDICT_NEW,
					     VERDICT_MOVED,	VERDICT_RENAMED,
					     VERDICT_IMPROVED,	VERDICT_GONE};
	const struct comparison *c = &t->p->comparison;
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	size_t k, i, shown = 0, left = 0;

	for (k = 0; k < sizeof(order) / sizeof(*order); k++) {
		for (i = 0; i < c->nrows; i++) {
			if (report_row(t->p, &c->rows[i])->flat.verdict != order[k])
				continue;
			if (t->r->top && shown >= t->r->top) {
				left++;
				continue;
			}
			if (!shown++)
				buf_putc(t->out, '\n');
			put_finding(t, &c->rows[i], &line);
		}
	}
	if (left)
		buf_printf(t->out, "... and %zu more findings (--top 0 shows all)\n",
			   left);
	buf_release(&line);
}
