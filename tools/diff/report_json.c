/* SPDX-License-Identifier: Apache-2.0 */
/* The report for programs; its fields are described in prof-diff(1). */
#include "lib/ui/json.h"
#include "tools/diff/report.h"

static void put_amount(struct json *j, const char *key, const struct amount *a)
{
	json_object(j, key);
	json_int(j, "base", a->base);
	json_int(j, "new", a->new);
	json_int(j, "delta", a->new - a->base);
	json_end_object(j);
}

static void put_side(struct json *j, const char *key, const struct part *p,
		     enum side side)
{
	const struct header *h = &p->pair->side[side]->h;

	json_object(j, key);
	json_int(j, "profiles", p->pair->profiles[side]);
	json_int(j, "time_nanos", h->time_ns);
	json_int(j, "duration_nanos", h->duration_ns);
	json_double(j, "unnamed_share", p->comparison.unnamed_share[side]);
	json_end_object(j);
}

static void put_rows(struct json *j, const struct comparison *c)
{
	const struct diff_row *row;
	const struct frame *f;
	size_t i;

	json_array(j, "functions");
	for (i = 0; i < c->nrows; i++) {
		row = &c->rows[i];
		f = &c->frames.v[row->frame];
		json_object(j, NULL);
		json_str(j, "name", row->name);
		if (f->file)
			json_str(j, "file", store_str(c->p->store, f->file));
		json_cstr(j, "status",
			  row_status(row) == STATUS_BOTH ? "both"
							 : status_name(row_status(row)));
		put_amount(j, "flat", &row->flat);
		put_amount(j, "cum", &row->cum);
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_gates(struct json *j, const struct part *p)
{
	const struct gate_result *g;
	size_t i;

	json_array(j, "gates");
	for (i = 0; i < p->nresults; i++) {
		g = &p->results[i];
		json_object(j, NULL);
		json_cstr(j, "gate", gate_text(g->gate));
		json_cstr(j, "verdict",
			  !g->failed		     ? "ok"
			  : gate_only_warns(g->gate) ? "warn"
						     : "fail");
		if (g->item.p) {
			json_str(j, "item", g->item);
			put_amount(j, "value", &g->amount);
			json_int(j, "limit", g->limit);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

void report_json(const struct report *r, size_t columns, struct buf *out)
{
	struct json j;
	size_t i;

	(void)columns;
	json_init(&j, out);
	json_object(&j, NULL);
	json_cstr(&j, "schema", "profpipe-diff-1");
	json_cstr(&j, "norm", norm_name(r->norm));
	json_bool(&j, "significance_tested", false);
	json_array(&j, "types");
	for (i = 0; i < r->nparts; i++) {
		const struct part *p = &r->parts[i];
		const struct comparison *c = &p->comparison;
		const struct value_type *t = &c->p->h.types[c->column];

		json_object(&j, NULL);
		json_str(&j, "type", store_str(c->p->store, t->type));
		json_str(&j, "unit", store_str(c->p->store, t->unit));
		json_bool(&j, "mean_of_profiles", type_is_gauge(c->p, c->column));
		put_side(&j, "base", p, SIDE_BASE);
		put_side(&j, "new", p, SIDE_NEW);
		json_double(&j, "factor", p->combined.factor[c->column]);
		json_double(&j, "matched_share", c->matched);
		put_amount(&j, "total", &c->total);
		put_gates(&j, p);
		put_rows(&j, c);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
}
