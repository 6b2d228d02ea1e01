/* SPDX-License-Identifier: Apache-2.0 */
/* The table: figures, lay-out and header of `pprof -top`. */
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "tools/render/listing.h"

/* Columns before the name: 10 + 1 + 6 + 1 + 6 + 1 + 10 + 1 + 6 + 2. */
#define COLUMNS_BEFORE_NAME 44
#define NAME_COLUMNS_MIN 16

static void put_name(const struct listing *t, const struct row *row)
{
	static const char *const marks[] = {"", " (partial-inline)", " (inline)"};
	const char *mark = marks[row->inlining];
	size_t columns = t->r->o->columns, before = COLUMNS_BEFORE_NAME + strlen(mark);
	struct buf name = BUF_INIT(SIZE_MAX / 2);

	escape_terminal(&name, row->name.p, row->name.n);
	if (columns) {
		columns = columns > before + NAME_COLUMNS_MIN ? columns - before
							      : NAME_COLUMNS_MIN;
		name_fit(t->out, buf_str(&name), name.len, columns);
	} else {
		buf_put(t->out, name.data, name.len);
	}
	buf_puts(t->out, mark);
	buf_putc(t->out, '\n');
	buf_release(&name);
}

static void put_rows(const struct listing *t)
{
	int64_t total = t->weights.total, sum = 0;
	char text[UNITS_TEXT_MAX];
	const struct row *row;
	size_t i;

	buf_printf(t->out, "%10s %5s%% %5s%% %10s %5s%%\n", "flat", "flat", "sum", "cum",
		   "cum");
	for (i = 0; i < t->rows.n; i++) {
		row = &t->rows.v[i];
		sum += row->flat;
		buf_printf(t->out, "%10s ", listing_value(t, row->flat, text));
		buf_printf(t->out, "%s ", units_percent(row->flat, total, text));
		buf_printf(t->out, "%s ", units_percent(sum, total, text));
		buf_printf(t->out, "%10s ", listing_value(t, row->cum, text));
		buf_printf(t->out, "%s  ", units_percent(row->cum, total, text));
		put_name(t, row);
	}
}

int report_table(const struct report *r, struct buf *out, struct err *e)
{
	struct listing t;
	int ret = listing_init(&t, r, &r->o->rows, out, e);

	if (!ret) {
		listing_put_heading(&t);
		put_rows(&t);
	}
	listing_release(&t);
	return ret;
}
