/* SPDX-License-Identifier: Apache-2.0 */
/* -f tree: each row with its callers above and its callees below, as `pprof -tree` has them. */
#include <string.h>

#include "lib/ui/escape.h"
#include "tools/render/tree_report.h"

static void put_separator(struct buf *out)
{
	buf_puts(out, "----------------------------------------------------------+"
		      "-------------\n");
}

static void put_name(struct buf *out, struct str name)
{
	escape_terminal(out, name.p, name.n);
}

/* Of a difference, what the change was from and to. */
static void put_sides(const struct listing *t, int64_t base, int64_t delta)
{
	char text[UNITS_TEXT_MAX];

	if (!t->weights.is_diff)
		return;
	buf_printf(t->out, " [%s", listing_value(t, base, text));
	buf_printf(t->out, " -> %s]", listing_value(t, base + delta, text));
}

static void put_calls(const struct listing *t, const struct calls *c, struct seq which,
		      bool callers, int64_t cum)
{
	char text[UNITS_TEXT_MAX];
	const struct call *call;
	uint32_t i;

	for (i = 0; i < which.n; i++) {
		call = &c->v[which.off + i];
		buf_printf(t->out, "%50s ", listing_value(t, call->value, text));
		buf_printf(t->out, "%s |   ", units_percent(call->value, cum, text));
		put_name(t->out, t->rows.v[callers ? call->from : call->to].name);
		if (call->inlined)
			buf_puts(t->out, " (inline)");
		put_sides(t, call->base, call->value);
		buf_putc(t->out, '\n');
	}
}

static void put_row(const struct listing *t, const struct row *row, int64_t sum)
{
	int64_t total = t->weights.total;
	char text[UNITS_TEXT_MAX];

	buf_printf(t->out, "%10s ", listing_value(t, row->flat, text));
	buf_printf(t->out, "%s ", units_percent(row->flat, total, text));
	buf_printf(t->out, "%s ", units_percent(sum, total, text));
	buf_printf(t->out, "%10s ", listing_value(t, row->cum, text));
	buf_printf(t->out, "%s                | ", units_percent(row->cum, total, text));
	put_name(t->out, row->name);
	put_sides(t, row->cum_base, row->cum);
	buf_putc(t->out, '\n');
}

bool tree_put(const struct listing *t, struct regex *only)
{
	struct calls calls;
	bool any = false;
	int64_t sum = 0;
	size_t i;

	calls_init(&calls, &t->rows, &t->frames, &t->weights);
	listing_put_heading(t);
	put_separator(t->out);
	buf_puts(t->out, "      flat  flat%   sum%        cum   cum%   calls calls% + "
			 "context\n");
	for (i = 0; i < t->rows.n; i++) {
		const struct row *row = &t->rows.v[i];

		if (only && !regex_match(only, row->name.p, row->name.n))
			continue;
		any = true;
		sum += row->flat;
		put_separator(t->out);
		put_calls(t, &calls, calls.into[i], true, row->cum);
		put_row(t, row, sum);
		put_calls(t, &calls, calls.out[i], false, row->cum);
	}
	if (t->rows.n)
		put_separator(t->out);
	calls_release(&calls);
	return any;
}

int report_tree(const struct report *r, struct buf *out, struct err *e)
{
	struct rows_opts o = r->o->rows;
	struct listing t;
	int ret;

	if (!r->o->top_given)
		o.top = TREE_ROWS_DEFAULT;
	ret = listing_init(&t, r, &o, out, e);
	if (!ret)
		tree_put(&t, NULL);
	listing_release(&t);
	return ret;
}
