/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and heading of `pprof -top` and its like. */
#include "tools/render/listing.h"

#include <string.h>

#include "lib/base/num.h"
#include "lib/ui/escape.h"
#include "tools/render/subject.h"

const char *listing_value(const struct listing *t, int64_t v, char text[UNITS_TEXT_MAX])
{
	return units_format(v, t->unit, t->unit_out, text);
}

/* "File: TEXT\n" with what is hostile escaped; nothing for an empty text. */
static void put_line(const struct listing *t, const char *label, struct str s)
{
	if (!s.n)
		return;
	buf_puts(t->out, label);
	escape_terminal(t->out, s.p, s.n);
	buf_putc(t->out, '\n');
}

static bool is_shown_comment(struct str s)
{
	static const char ours[] = "profpipe: ";

	return s.n && s.p[0] != '#' &&
	       (s.n < sizeof(ours) - 1 || memcmp(s.p, ours, sizeof(ours) - 1));
}

static void put_duration(const struct listing *t)
{
	int64_t duration = t->r->p->h.duration_ns;
	char text[UNITS_TEXT_MAX];
	const char *unit;
	double total_ns;

	buf_printf(t->out, "Duration: %s",
		   units_format(duration, "nanoseconds", "auto", text));
	buf_printf(t->out, ", Total samples = %s",
		   listing_value(t, t->weights.total, text));
	total_ns = units_scale(t->weights.total, t->unit, "nanoseconds", &unit);
	if (!strcmp(unit, "ns") && total_ns >= 1 && total_ns < 9e18)
		buf_printf(t->out, " (%s)",
			   units_percent((int64_t)total_ns, duration, text));
	buf_putc(t->out, '\n');
}

static void put_time(const struct listing *t)
{
	char text[NUM_TIME_MAX];

	/* 2026-01-02T03:04:05.678Z: to the second, as pprof writes it */
	num_format_time(t->r->p->h.time_ns, text);
	buf_printf(t->out, "Time: %.10s %.8s UTC\n", text, text + 11);
}

static void put_profile_header(const struct listing *t)
{
	const struct profile *p = t->r->p;
	const struct store *st = p->store;
	struct subject s = subject_of(t->r, t->rows.main_mapping);
	size_t i;

	put_line(t, "File: ", s.file);
	put_line(t, "Build ID: ", s.build_id);
	for (i = 0; i < p->h.ncomments; i++) {
		if (is_shown_comment(store_str(st, p->h.comments[i])))
			put_line(t, "", store_str(st, p->h.comments[i]));
	}
	put_line(t, "Type: ", store_str(st, p->h.types[t->r->column].type));
	put_line(t, "Doc: ", store_str(st, p->h.doc_url));
	if (p->h.time_ns)
		put_time(t);
	if (p->h.duration_ns)
		put_duration(t);
}

static void put_filters(const struct listing *t)
{
	const char *const *texts;
	size_t n, i;

	texts = query_filter_texts(t->r->q, &n);
	if (n)
		buf_puts(t->out, "Active filters:\n");
	for (i = 0; i < n; i++)
		put_line(t, "   ", (struct str){texts[i], (uint32_t)strlen(texts[i])});
}

static void put_summary(const struct listing *t)
{
	const struct rows *rows = &t->rows;
	int64_t total = t->weights.total, least;
	char text[UNITS_TEXT_MAX];
	const char *percent;

	buf_printf(t->out, "Showing nodes accounting for %s",
		   listing_value(t, rows->flat, text));
	percent = units_percent(rows->flat, total, text);
	buf_printf(t->out, ", %s of ", percent + strspn(percent, " "));
	buf_printf(t->out, "%s total\n", listing_value(t, total, text));
	if (!total)
		return;
	if (rows->dropped) {
		least = (int64_t)((double)total * t->o->node_fraction);
		buf_printf(t->out, "Dropped %zu node%s (cum <= %s)\n", rows->dropped,
			   rows->dropped == 1 ? "" : "s", listing_value(t, least, text));
	}
	if (rows->n && rows->n < rows->candidates)
		buf_printf(t->out, "Showing top %zu nodes out of %zu\n", rows->n,
			   rows->candidates);
}

void listing_put_heading(const struct listing *t)
{
	put_profile_header(t);
	put_filters(t);
	put_summary(t);
}

/* pprof's rule: one unit for all that is shown. */
static const char *choose_unit(const struct listing *t)
{
	const char *wanted = t->r->o->unit;
	int64_t least = 0, v;
	size_t i;

	if (!units_fit(t->unit, wanted))
		wanted = "minimum";
	if (strcmp(wanted, "minimum") || !t->rows.n)
		return wanted;
	for (i = 0; i < t->rows.n; i++) {
		v = t->rows.v[i].flat ? t->rows.v[i].flat : t->rows.v[i].cum;
		v = v < 0 ? -v : v;
		if (v && (!least || v < least))
			least = v;
	}
	return units_for_report(least, t->weights.total, t->unit);
}

int listing_init(struct listing *t, const struct report *r, const struct rows_opts *o,
		 struct buf *out, struct err *e)
{
	int ret;

	*t = (struct listing){.r = r, .o = o, .out = out};
	t->unit = store_cstr(r->p->store, r->p->h.types[r->column].unit);
	frames_init(&t->frames, r->p, r->o->granularity);
	ret = weights_init(&t->weights, r->q, r->p, r->column, e);
	if (!ret)
		ret = rows_init(&t->rows, &t->frames, &t->weights, o, e);
	if (!ret)
		t->unit_out = choose_unit(t);
	return ret;
}

void listing_release(struct listing *t)
{
	rows_release(&t->rows);
	weights_release(&t->weights);
	frames_release(&t->frames);
}
