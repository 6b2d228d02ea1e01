/* SPDX-License-Identifier: Apache-2.0 */
/* -f json: all rows of all types, exact. The fields are described in prof-render(1). */

#include "lib/ui/json.h"

#include "tools/render/listing.h"

static void put_value(struct json *j, const struct listing *t, const char *key,
		      int64_t base, int64_t v)
{
	if (!t->weights.is_diff) {
		json_int(j, key, v);
		return;
	}
	json_object(j, key);
	json_int(j, "base", base);
	json_int(j, "new", base + v);
	json_int(j, "delta", v);
	json_end_object(j);
}

static void put_row(struct json *j, const struct listing *t, const struct row *row)
{
	static const char *const inlining[] = {"no", "partly", "always"};
	const struct frame *f = &t->frames.v[row->frame];
	const struct store *st = t->r->p->store;

	json_object(j, NULL);
	json_str(j, "name", row->name);
	if (f->where_file) {
		json_str(j, "file", store_str(st, f->where_file));
		json_int(j, "line", f->where_line);
	}
	if (f->module)
		json_str(j, "module", store_str(st, f->module));
	json_cstr(j, "inlined", inlining[row->inlining]);
	put_value(j, t, "flat", row->flat_base, row->flat);
	put_value(j, t, "cum", row->cum_base, row->cum);
	json_end_object(j);
}

static void put_head(struct json *j, const struct listing *t)
{
	const struct header *h = &t->r->p->h;
	const struct store *st = t->r->p->store;
	const struct value_type *type = &h->types[t->r->column];
	int64_t base = 0;
	size_t i;

	for (i = 0; i < t->weights.n; i++)
		base -= t->weights.v[i].minus;
	json_str(j, "type", store_str(st, type->type));
	json_str(j, "unit", store_str(st, type->unit));
	json_bool(j, "is_diff", t->weights.is_diff);
	json_int(j, "time_nanos", h->time_ns);
	json_int(j, "duration_nanos", h->duration_ns);
	json_object(j, "period");
	json_str(j, "type", store_str(st, h->period_type.type));
	json_str(j, "unit", store_str(st, h->period_type.unit));
	json_int(j, "value", h->period);
	json_end_object(j);
	json_int(j, "total", t->weights.total);
	put_value(j, t, "shown", base, t->weights.sum);
	json_int(j, "functions_left_out", (int64_t)(t->rows.candidates - t->rows.n));
}

static int put_type(struct json *j, const struct report *r, struct err *e)
{
	struct rows_opts o = {.by_cum = r->o->rows.by_cum, .top = r->o->rows.top};
	struct listing t;
	size_t i;
	int ret = listing_init(&t, r, &o, j->out, e);

	if (!ret) {
		json_object(j, NULL);
		put_head(j, &t);
		json_array(j, "functions");
		for (i = 0; i < t.rows.n; i++)
			put_row(j, &t, &t.rows.v[i]);
		json_end_array(j);
		json_end_object(j);
	}
	listing_release(&t);
	return ret;
}

int report_json(const struct report *r, size_t n, struct buf *out, struct err *e)
{
	const char *const *filters;
	struct json j;
	size_t nfilters, i;
	int ret = 0;

	json_init(&j, out);
	json_object(&j, NULL);
	json_cstr(&j, "schema", "profpipe-profile-1");
	json_array(&j, "filters");
	filters = query_filter_texts(r->q, &nfilters);
	for (i = 0; i < nfilters; i++)
		json_cstr(&j, NULL, filters[i]);
	json_end_array(&j);
	json_array(&j, "types");
	for (i = 0; i < n && !ret; i++)
		ret = put_type(&j, &r[i], e);
	json_end_array(&j);
	json_end_object(&j);
	return ret;
}
