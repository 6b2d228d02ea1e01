/* SPDX-License-Identifier: Apache-2.0 */
/* -f csv: all rows as RFC 4180 has it, values in the type's own unit, texts safe to open. */
#include <inttypes.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "tools/render/listing.h"

static void put_text(struct buf *out, struct str s)
{
	buf_putc(out, ',');
	escape_csv(out, s.p, s.n);
}

static void put_percent(struct buf *out, int64_t v, int64_t total)
{
	buf_printf(out, ",%.6f", total ? (double)v / (double)total * 100 : 0);
}

static void put_value(struct buf *out, const char *comma, const struct listing *t,
		      int64_t base, int64_t v)
{
	if (t->weights.is_diff)
		buf_printf(out, "%s%" PRId64 ",%" PRId64 ",%" PRId64, comma, base,
			   base + v, v);
	else
		buf_printf(out, "%s%" PRId64, comma, v);
	put_percent(out, v, t->weights.total);
}

static void put_row(const struct listing *t, const struct row *row, int64_t sum)
{
	static const char *const inlining[] = {"no", "partly", "always"};
	const struct frame *f = &t->frames.v[row->frame];
	const struct store *st = t->r->p->store;

	put_value(t->out, "", t, row->flat_base, row->flat);
	put_percent(t->out, sum, t->weights.total);
	put_value(t->out, ",", t, row->cum_base, row->cum);
	put_text(t->out, row->name);
	put_text(t->out, store_str(st, f->where_file));
	buf_printf(t->out, ",%" PRId64, f->where_line);
	put_text(t->out, store_str(st, f->module));
	buf_printf(t->out, ",%s,", inlining[row->inlining]);
	escape_csv(t->out, t->unit, strlen(t->unit));
	buf_puts(t->out, "\r\n");
}

int report_csv(const struct report *r, struct buf *out, struct err *e)
{
	struct rows_opts o = {.by_cum = r->o->rows.by_cum, .top = r->o->rows.top};
	struct listing t;
	int64_t sum = 0;
	size_t i;
	int ret = listing_init(&t, r, &o, out, e);

	if (!ret) {
		if (t.weights.is_diff)
			buf_puts(out,
				 "flat_base,flat_new,flat_delta,flat_percent,"
				 "sum_percent,cum_base,cum_new,cum_delta,cum_percent");
		else
			buf_puts(out, "flat,flat_percent,sum_percent,cum,cum_percent");
		buf_puts(out, ",name,file,line,module,inlined,unit\r\n");
	}
	for (i = 0; i < t.rows.n && !ret; i++) {
		sum += t.rows.v[i].flat;
		put_row(&t, &t.rows.v[i], sum);
	}
	listing_release(&t);
	return ret;
}
