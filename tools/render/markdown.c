/* SPDX-License-Identifier: Apache-2.0 */
/* -f markdown: the table as GitHub and others draw it, for a summary or a comment. */
#include "lib/base/num.h"
#include "lib/ui/escape.h"
#include "tools/render/change.h"
#include "tools/render/listing.h"

static void put_code(struct buf *out, struct str s)
{
	escape_markdown(out, s.p, s.n);
}

static void put_percent(const struct listing *t, int64_t v)
{
	char text[UNITS_TEXT_MAX];
	const char *percent = units_percent(v, t->weights.total, text);

	while (*percent == ' ')
		percent++;
	buf_printf(t->out, " %s |", percent);
}

static void put_values(const struct listing *t, int64_t base, int64_t v)
{
	struct change change = {base, base + v};
	char text[UNITS_TEXT_MAX];

	if (!t->weights.is_diff) {
		buf_printf(t->out, " %s |", listing_value(t, v, text));
		put_percent(t, v);
		return;
	}
	buf_printf(t->out, " %s |", listing_value(t, change.base, text));
	buf_printf(t->out, " %s | ", listing_value(t, change.new, text));
	change_put_delta(t->out, &change, t->unit, t->unit_out);
	buf_puts(t->out, " | ");
	change_put_percent(t->out, &change, t->weights.total);
	buf_puts(t->out, " |");
}

static void put_head(const struct listing *t)
{
	const struct header *h = &t->r->p->h;
	const struct store *st = t->r->p->store;
	char text[UNITS_TEXT_MAX];

	put_code(t->out, store_str(st, h->types[t->r->column].type));
	if (t->weights.is_diff)
		buf_printf(t->out, ", new against base; percentages of the base's %s",
			   listing_value(t, t->weights.total, text));
	else
		buf_printf(t->out, ", total %s",
			   listing_value(t, t->weights.total, text));
	if (h->duration_ns > 0)
		buf_printf(t->out, ", over %s",
			   units_format(h->duration_ns, "nanoseconds", "auto", text));
	if (h->time_ns) {
		num_format_time(h->time_ns, text);
		buf_printf(t->out, ", from %.10s %.8s UTC", text, text + 11);
	}
	buf_puts(t->out, "\n\n");
	if (t->weights.is_diff)
		buf_puts(t->out,
			 "| self: base | new | delta | % | total: base | new | delta | % "
			 "| function |\n|--:|--:|--:|--:|--:|--:|--:|--:|:--|\n");
	else
		buf_puts(t->out, "| self | % | running % | total | % | function |\n"
				 "|--:|--:|--:|--:|--:|:--|\n");
}

static void put_rest(const struct listing *t)
{
	size_t cut = t->rows.candidates - t->rows.n;

	if (cut || t->rows.dropped)
		buf_printf(t->out, "\n%zu function%s, %zu smaller left out\n", t->rows.n,
			   t->rows.n == 1 ? "" : "s", cut + t->rows.dropped);
}

int report_markdown(const struct report *r, struct buf *out, struct err *e)
{
	const struct row *row;
	struct listing t;
	int64_t sum = 0;
	size_t i;
	int ret = listing_init(&t, r, &r->o->rows, out, e);

	if (!ret)
		put_head(&t);
	for (i = 0; i < t.rows.n && !ret; i++) {
		row = &t.rows.v[i];
		sum += row->flat;
		buf_putc(out, '|');
		put_values(&t, row->flat_base, row->flat);
		if (!t.weights.is_diff)
			put_percent(&t, sum);
		put_values(&t, row->cum_base, row->cum);
		buf_putc(out, ' ');
		put_code(out, row->name);
		buf_puts(out, " |\n");
	}
	if (!ret)
		put_rest(&t);
	listing_release(&t);
	return ret;
}
