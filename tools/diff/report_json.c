/* SPDX-License-Identifier: Apache-2.0 */
/* The report for programs; its fields are described in prof-diff(1). */
#include <math.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/ui/json.h"
#include "tools/diff/environment.h"
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
	json_int(j, "replicates", (int64_t)p->evidence.design.n[side]);
	json_int(j, "time_nanos", h->time_ns);
	json_int(j, "duration_nanos", h->duration_ns);
	json_double(j, "unnamed_share", p->comparison.unnamed_share[side]);
	json_double(j, "matched_share", p->comparison.matched[side]);
	json_end_object(j);
}

/* Parts of the base's total; null where there is none. */
static void put_finding(struct json *j, const char *key, const struct finding *f,
			enum verdict verdict)
{
	json_object(j, key);
	json_cstr(j, "verdict", verdict_name(verdict));
	json_double(j, "effect", f->e.difference);
	json_double(j, "low", f->low);
	json_double(j, "high", f->high);
	json_double(j, "relative",
		    f->e.rate[SIDE_BASE] > 0 ? f->e.difference / f->e.rate[SIDE_BASE]
					     : NAN);
	json_double(j, "p", f->e.difference > 0 ? f->e.p_up : f->e.p_down);
	json_double(j, "q", f->tested ? f->q : NAN);
	json_double(j, "detectable", f->tested ? f->detectable : NAN);
	json_end_object(j);
}

static void put_raw_names(struct json *j, const struct report *r, const struct part *p,
			  const struct diff_row *row)
{
	struct raw_names at = {0};
	struct str name;

	if (!report_raw_name(r, p, row, &at, &name))
		return;
	json_array(j, "raw_names");
	do {
		json_str(j, NULL, name);
	} while (report_raw_name(r, p, row, &at, &name));
	json_end_array(j);
}

static void put_row(struct json *j, const struct report *r, const struct part *p,
		    const struct diff_row *row)
{
	const struct comparison *c = &p->comparison;
	const struct frame *f = &c->frames.v[row->frame];
	const struct row_finding *v = report_row(p, row);

	json_object(j, NULL);
	json_str(j, "name", row->name);
	if (f->file)
		json_str(j, "file", store_str(c->p->store, f->file));
	put_raw_names(j, r, p, row);
	json_cstr(j, "status",
		  row_status(row) == STATUS_BOTH ? "both" : status_name(row_status(row)));
	if (row->was.p)
		json_str(j, "renamed_from", row->was);
	json_cstr(j, "verdict", verdict_name(v->flat.verdict));
	put_amount(j, "flat", &row->flat);
	put_amount(j, "cum", &row->cum);
	put_finding(j, "flat_test", &v->flat, v->flat.verdict);
	put_finding(j, "cum_test", &v->cum, v->cum.verdict);
	if (v->carrier) {
		json_str(j, "largest_part_by", store_str(c->p->store, v->carrier->name));
		json_double(j, "effect_without", v->without_carrier);
	}
	json_end_object(j);
}

static void put_gates(struct json *j, const struct report *r, const struct part *p)
{
	const struct gate_result *g;
	size_t i;

	json_array(j, "gates");
	for (i = 0; i < p->nresults; i++) {
		g = &p->results[i];
		json_object(j, NULL);
		json_cstr(j, "gate", gate_text(g->gate));
		json_cstr(j, "verdict", report_gate_verdict(r, p, g));
		if (g->item.p) {
			json_str(j, "item", g->item);
			put_amount(j, "value", &g->amount);
			json_int(j, "limit", g->limit);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_item(struct json *j, const struct comparison *c, const struct family *f,
		     const struct item *item)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	json_object(j, NULL);
	json_str(j, f->label ? "value" : "name", item->name);
	if (!f->label) {
		json_array(j, "path");
		for (i = 0; i < item->depth; i++) {
			buf_clear(&b);
			frames_name(&c->frames, item->path[i], &b);
			json_str(j, NULL, (struct str){buf_str(&b), (uint32_t)b.len});
		}
		json_end_array(j);
		json_bool(j, "is_root", item->is_root);
	}
	put_amount(j, "amount", &item->amount);
	put_finding(j, "test", &item->finding, item->finding.verdict);
	json_end_object(j);
	buf_release(&b);
}

static void put_families(struct json *j, const struct part *p)
{
	size_t i, k;

	json_array(j, "families");
	for (i = 0; i < p->families.n; i++) {
		const struct family *f = &p->families.v[i];

		json_object(j, NULL);
		json_cstr(j, "by", f->label ? "label" : "subtree");
		if (f->label)
			json_cstr(j, "key", f->label);
		json_array(j, "items");
		for (k = 0; k < f->n; k++)
			put_item(j, &p->comparison, f, &f->v[k]);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}

static void put_type(struct json *j, const struct report *r, const struct part *p)
{
	const struct comparison *c = &p->comparison;
	const struct value_type *t = &c->p->h.types[c->column];
	const struct evidence *ev = &p->evidence;
	const struct verdicts *v = &p->verdicts;
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i, at = 0;

	json_object(j, NULL);
	json_str(j, "type", store_str(c->p->store, t->type));
	json_str(j, "unit", store_str(c->p->store, t->unit));
	json_bool(j, "mean_of_profiles", type_is_gauge(c->p, c->column));
	put_side(j, "base", p, SIDE_BASE);
	put_side(j, "new", p, SIDE_NEW);
	json_cstr(j, "norm", norm_name(ev->norm));
	json_double(j, "factor", p->combined.factor[c->column]);
	json_double(j, "size_factor", ev->norm == NORM_STABLE ? ev->size.factor : NAN);
	json_array(j, "environment");
	while (environment_differs(p->pair, &at, &b)) {
		json_str(j, NULL, (struct str){buf_str(&b), (uint32_t)b.len});
		buf_clear(&b);
	}
	json_end_array(j);
	buf_release(&b);
	if (p->pair->inlined_only >= 0)
		json_cstr(j, "inlined_only_in",
			  p->pair->inlined_only == SIDE_NEW ? "new" : "base");
	json_bool(j, "inlined_folded", p->pair->folded);
	json_bool(j, "advisory", ev->single);
	json_bool(j, "one_source", ev->one_source);
	json_bool(j, "scale_unknown", ev->scale_unknown);
	json_bool(j, "paired", ev->design.nslots > 0);
	json_double(j, "value_of_one_count", ev->unit);
	json_double(j, "cv_between_replicates", sqrt(v->noise[0].alpha));
	json_int(j, "functions_tested", (int64_t)v->tests[0]);
	json_array(j, "other_types");
	for (i = 0; i < c->p->h.ntypes; i++) {
		if (i != c->column)
			json_str(j, NULL, store_str(c->p->store, c->p->h.types[i].type));
	}
	json_end_array(j);
	put_amount(j, "total", &c->total);
	if (ev->total_assessed)
		put_finding(j, "total_test", &v->total, v->total.verdict);
	put_gates(j, r, p);
	put_families(j, p);
	json_array(j, "functions");
	for (i = 0; i < c->nrows; i++)
		put_row(j, r, p, &c->rows[i]);
	json_end_array(j);
	json_end_object(j);
}

/* What was found, of all types, for those who want no more. */
static void put_findings(struct json *j, const struct report *r)
{
	size_t i, k;

	json_array(j, "functions");
	for (i = 0; i < r->nparts; i++) {
		const struct part *p = &r->parts[i];
		const struct comparison *c = &p->comparison;

		for (k = 0; k < c->nrows; k++) {
			const struct row_finding *both = report_row(p, &c->rows[k]);
			const struct finding *f = &both->flat;

			if (f->verdict <= VERDICT_UNCHANGED &&
			    both->cum.verdict <= VERDICT_UNCHANGED)
				continue;
			json_object(j, NULL);
			json_str(j, "type",
				 store_str(c->p->store, c->p->h.types[c->column].type));
			json_str(j, "name", c->rows[k].name);
			json_cstr(j, "verdict", verdict_name(f->verdict));
			json_cstr(j, "cum_verdict", verdict_name(both->cum.verdict));
			json_double(j, "effect", f->e.difference);
			json_double(j, "q", f->tested ? f->q : NAN);
			json_end_object(j);
		}
	}
	json_end_array(j);
}

static void put_left_out(struct json *j, const struct sides *s)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	json_array(j, "not_compared");
	for (i = 0; i < s->nlonely; i++) {
		buf_clear(&b);
		lonely_text(&s->lonely[i], &b);
		json_str(j, NULL, (struct str){buf_str(&b), (uint32_t)b.len});
	}
	json_end_array(j);
	buf_release(&b);
	json_object(j, "left_out");
	json_int(j, "base", (int64_t)s->left_out[SIDE_BASE]);
	json_int(j, "new", (int64_t)s->left_out[SIDE_NEW]);
	json_end_object(j);
}

void report_json(const struct report *r, size_t columns, struct buf *out)
{
	struct json j;
	size_t i;

	(void)columns;
	json_init(&j, out);
	json_object(&j, NULL);
	json_cstr(&j, "schema", "profpipe-diff-2");
	json_cstr(&j, "norm", norm_name(r->norm));
	if (r->nparts) {
		const struct verdict_opts *o = &r->parts[0].verdicts.o;

		json_double(&j, "alpha", o->alpha);
		json_double(&j, "power", o->power);
		json_double(&j, "min_effect", o->min_effect);
	}
	put_left_out(&j, r->sides);
	put_findings(&j, r);
	json_array(&j, "types");
	for (i = 0; i < r->nparts; i++)
		put_type(&j, r, &r->parts[i]);
	json_end_array(&j);
	json_end_object(&j);
}
