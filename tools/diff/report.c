/* SPDX-License-Identifier: Apache-2.0 */
/* What all reports say in the same words. */
#include "tools/diff/report.h"

#include <math.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"
#include "tools/diff/report_text.h"

bool report_part_binds(const struct report *r, const struct part *p)
{
	return !r->advisory && (!p->evidence.single || r->force_single);
}

const char *report_gate_verdict(const struct report *r, const struct part *p,
				const struct gate_result *g)
{
	static const char *const names[] = {"ok", "inconclusive", "waived"};

	if (g->state != GATE_OVER)
		return names[g->state];
	if (gate_only_warns(g->gate))
		return "warn";
	return report_part_binds(r, p) ? "fail" : "advisory";
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

bool report_raw_name(const struct report *r, const struct part *p,
		     const struct diff_row *row, struct raw_names *at, struct str *name)
{
	const struct comparison *c = &p->comparison;
	uint32_t canonical = c->frames.v[row->frame].name, raw;

	while (at->folded < c->nfolded) {
		const struct folded *f = &c->folded[at->folded++];

		if (f->into != row->frame)
			continue;
		at->any_folded = true;
		*name = f->name;
		return true;
	}
	if (at->any_folded || !r->names || !canonical)
		return false;
	raw = names_raw(r->names, canonical, &at->renamed);
	if (raw)
		*name = store_str(c->p->store, raw);
	return raw;
}

const char *report_row_noun(const struct report *r)
{
	switch (r->granularity) {
	case GRANULARITY_LINES:
		return "line";
	case GRANULARITY_FILES:
		return "file";
	case GRANULARITY_ADDRESSES:
		return "address";
	case GRANULARITY_BINARIES:
		return "binary";
	case GRANULARITY_KEEP:
	case GRANULARITY_FUNCTIONS:
		break;
	}
	return "function";
}

void report_family(const struct family *f, struct buf *out)
{
	if (!f->label) {
		buf_puts(out, "subtree");
		return;
	}
	buf_puts(out, "label ");
	escape_terminal(out, f->label, strlen(f->label));
}
