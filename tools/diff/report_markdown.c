/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a job's summary or a comment: what matters first, the rest folded away. */
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "tools/diff/environment.h"
#include "tools/diff/report.h"

/* A comment on GitHub is cut off, or refused, beyond 64 KiB. */
#define BYTES_MAX 60000
#define FOLD "\n<details><summary>Improved, moved, renamed, gone</summary>\n"
#define RAW_NAMES_MAX 3
#define NAME_COLUMNS_MAX 400

/* Whatever is longer is shortened: one name alone could take all of the room. */
static void put_code(struct buf *out, struct str s)
{
	struct buf plain = BUF_INIT(SIZE_MAX / 2), fit = BUF_INIT(SIZE_MAX / 2);

	if (s.n <= NAME_COLUMNS_MAX) {
		escape_markdown(out, s.p, s.n);
		return;
	}
	escape_terminal(&plain, s.p, s.n);
	name_fit(&fit, buf_str(&plain), plain.len, NAME_COLUMNS_MAX);
	escape_markdown(out, buf_str(&fit), fit.len);
	buf_release(&plain);
	buf_release(&fit);
}

static const char *state_of(const struct report *r)
{
	bool warned = false;
	size_t i, k;

	for (i = 0; i < r->nparts; i++) {
		for (k = 0; k < r->parts[i].nresults; k++) {
			const char *v = report_gate_verdict(r, &r->parts[i],
							    &r->parts[i].results[k]);

			if (!strcmp(v, "fail"))
				return "a gate failed";
			warned |= strcmp(v, "ok") != 0;
		}
	}
	return warned ? "passed, with remarks" : "passed";
}

static void put_gates(const struct report *r, const struct part *p, struct buf *out)
{
	size_t i;

	if (!p->nresults)
		return;
	buf_puts(out, "\n| gate | verdict | worst |\n| --- | --- | --- |\n");
	for (i = 0; i < p->nresults; i++) {
		const struct gate_result *g = &p->results[i];
		struct buf why = BUF_INIT(SIZE_MAX / 2);

		report_gate(p, g, 200, &why);
		buf_puts(out, "| ");
		put_code(out, (struct str){gate_text(g->gate),
					   (uint32_t)strlen(gate_text(g->gate))});
		buf_printf(out, " | %s | ", report_gate_verdict(r, p, g));
		put_code(out, (struct str){buf_str(&why), (uint32_t)why.len});
		buf_puts(out, " |\n");
		buf_release(&why);
	}
}

/* The first few, as the profiles have them. */
static void put_raw_names(const struct report *r, const struct part *p,
			  const struct diff_row *row, struct buf *out)
{
	struct raw_names at = {0};
	struct str name;
	size_t n;

	for (n = 0; report_raw_name(r, p, row, &at, &name); n++) {
		if (n >= RAW_NAMES_MAX)
			continue;
		buf_puts(out, n ? ", " : " (raw ");
		put_code(out, name);
	}
	if (n > RAW_NAMES_MAX)
		buf_printf(out, ", %zu more", n - RAW_NAMES_MAX);
	if (n)
		buf_putc(out, ')');
}

/* Rows of these verdicts, largest change first, falls folded; how many did not fit. */
static size_t put_rows(const struct report *r, const struct part *p, bool rises,
		       struct buf *out)
{
	const struct comparison *c = &p->comparison;
	size_t i, n = 0, left = 0;

	for (i = 0; i < c->nrows; i++) {
		const struct finding *f = &report_row(p, &c->rows[i])->flat;

		if (f->verdict <= VERDICT_UNCHANGED ||
		    verdict_is_rise(f->verdict) != rises)
			continue;
		if (out->len > BYTES_MAX) {
			left++;
			continue;
		}
		if (!n++)
			buf_printf(out,
				   "%s\n| verdict | change, of base's total | interval | "
				   "%s |\n| --- | ---: | --- | --- |\n",
				   rises ? "" : FOLD, report_row_noun(r));
		buf_printf(out, "| %s | %+.2f%% | %+.2f%% to %+.2f%% | ",
			   verdict_name(f->verdict), f->e.difference * 100, f->low * 100,
			   f->high * 100);
		put_code(out, c->rows[i].name);
		put_raw_names(r, p, &c->rows[i], out);
		buf_puts(out, " |\n");
	}
	if (n && !rises)
		buf_puts(out, "\n</details>\n");
	return left;
}

static void put_warnings(const struct part *p, struct buf *out)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t at = 0;

	while (environment_differs(p->pair, &at, &b)) {
		buf_puts(out, "\n**Measured differently:** ");
		put_code(out, (struct str){buf_str(&b), (uint32_t)b.len});
		buf_putc(out, '\n');
		buf_clear(&b);
	}
	buf_release(&b);
}

/* Of labels all values, of subtrees the roots of what changed; how many did not fit. */
static size_t put_family(const struct family *f, struct buf *out)
{
	size_t i, n = 0, left = 0;

	for (i = 0; i < f->n; i++) {
		const struct item *item = &f->v[i];
		const struct finding *t = &item->finding;

		if (!f->label && (t->verdict <= VERDICT_UNCHANGED || !item->is_root))
			continue;
		if (out->len > BYTES_MAX) {
			left++;
			continue;
		}
		if (!n++) {
			buf_puts(out,
				 "\n| verdict | change, of base's total | interval | ");
			report_family(f, out);
			buf_puts(out, " |\n| --- | ---: | --- | --- |\n");
		}
		buf_printf(out, "| %s | %+.2f%% | %+.2f%% to %+.2f%% | ",
			   verdict_name(t->verdict), t->e.difference * 100, t->low * 100,
			   t->high * 100);
		put_code(out, item->name);
		buf_puts(out, " |\n");
	}
	return left;
}

static void put_part(const struct report *r, const struct part *p, struct buf *out)
{
	const struct comparison *c = &p->comparison;
	const struct finding *total = &p->verdicts.total;
	size_t left, i;

	buf_puts(out, "\n### ");
	put_code(out, store_str(c->p->store, c->p->h.types[c->column].type));
	buf_putc(out, '\n');
	put_warnings(p, out);
	buf_printf(out, "\n%zu + %zu replicates, norm %s. Total: ",
		   p->evidence.design.n[SIDE_BASE], p->evidence.design.n[SIDE_NEW],
		   norm_name(p->evidence.norm));
	if (p->evidence.total_assessed)
		buf_printf(out, "%s, %+.2f%% (%+.2f%% to %+.2f%%).\n",
			   verdict_name(total->verdict), total->e.difference * 100,
			   total->low * 100, total->high * 100);
	else
		buf_puts(out, "not assessed.\n");
	if (p->evidence.single)
		buf_puts(out, "One profile a side: advisory.\n");
	put_gates(r, p, out);
	left = put_rows(r, p, true, out);
	for (i = 0; i < p->families.n; i++)
		left += put_family(&p->families.v[i], out);
	left += put_rows(r, p, false, out);
	if (left)
		buf_printf(out, "\n%zu more are left out.\n", left);
}

/* What was not compared; p NULL: of all types. */
static void put_left_out(const struct report *r, const struct part *p, struct buf *out)
{
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	size_t at = 0;

	while (report_left_out(r, p, &at, &line)) {
		buf_puts(out, at == 1 ? "\n- " : "- ");
		put_code(out, (struct str){buf_str(&line), (uint32_t)line.len});
		buf_putc(out, '\n');
		buf_clear(&line);
	}
	buf_release(&line);
}

void report_markdown(const struct report *r, size_t columns, struct buf *out)
{
	size_t i;

	(void)columns;
	buf_printf(out, "## prof-diff: %s\n", state_of(r));
	for (i = 0; i < r->nparts; i++) {
		put_part(r, &r->parts[i], out);
		put_left_out(r, &r->parts[i], out);
	}
	put_left_out(r, NULL, out);
}
