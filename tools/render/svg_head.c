/* SPDX-License-Identifier: Apache-2.0 */
/* What an icicle says about itself: title, facts, description. */
#include <string.h>

#include "lib/base/num.h"
#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "tools/render/icicle.h"
#include "tools/render/subject.h"

#define SEPARATOR " \302\267 " /* a middle dot */

const char *icicle_value(const struct icicle *c, int64_t v, char text[UNITS_TEXT_MAX])
{
	return units_format(v, c->unit, "auto", text);
}

const char *icicle_share(const struct icicle *c, int64_t v, char text[UNITS_TEXT_MAX])
{
	units_percent(v, c->weights.total, text);
	return text + strspn(text, " ");
}

static void put_raw(struct buf *raw, struct str s)
{
	buf_put(raw, s.p, s.n);
}

void icicle_title(const struct icicle *c, struct buf *raw)
{
	const struct profile *p = c->r->p;
	struct subject s;

	if (c->r->o->title) {
		buf_puts(raw, c->r->o->title);
		return;
	}
	s = subject_of(c->r, c->rows.main_mapping);
	if (s.file.n || s.host.n) {
		put_raw(raw, s.file.n ? s.file : s.host);
		buf_puts(raw, ": ");
	}
	put_raw(raw, store_str(p->store, p->h.types[c->r->column].type));
	if (c->weights.is_diff)
		buf_puts(raw, ", new against base");
}

static void put_filters(const struct icicle *c, struct buf *raw)
{
	char text[UNITS_TEXT_MAX];
	const char *const *filters;
	size_t n, i;

	if (c->tree.v[0].total != c->weights.total && !c->weights.has_negative) {
		buf_printf(raw, SEPARATOR "shown %s",
			   icicle_value(c, c->tree.v[0].total, text));
		buf_printf(raw, " (%s)", icicle_share(c, c->tree.v[0].total, text));
	}
	filters = query_filter_texts(c->r->q, &n);
	for (i = 0; i < n; i++)
		buf_printf(raw, SEPARATOR "%s", filters[i]);
}

/* How a difference was made, from the comments that prof-diff leaves. */
static void put_norm(const struct icicle *c, struct buf *raw)
{
	static const char prefix[] = "profpipe: norm=";
	const struct profile *p = c->r->p;
	struct str s;
	size_t i;

	for (i = 0; i < p->h.ncomments; i++) {
		s = store_str(p->store, p->h.comments[i]);
		if (s.n < sizeof(prefix) - 1 || memcmp(s.p, prefix, sizeof(prefix) - 1))
			continue;
		buf_puts(raw, SEPARATOR "norm ");
		buf_put(raw, s.p + sizeof(prefix) - 1, s.n - (sizeof(prefix) - 1));
	}
}

static void put_difference(const struct icicle *c, struct buf *raw)
{
	struct change change = node_change(&c->tree.v[0]);
	char text[UNITS_TEXT_MAX];

	buf_printf(raw, SEPARATOR "base %s", icicle_value(c, change.base, text));
	buf_printf(raw, SEPARATOR "new %s" SEPARATOR, icicle_value(c, change.new, text));
	change_put_delta(raw, &change, c->unit, "auto");
	buf_puts(raw, " (");
	change_put_percent(raw, &change, c->weights.total);
	buf_puts(raw, " of base)");
	put_norm(c, raw);
	put_filters(c, raw);
}

/* "cpu, total 4.2s over 10s (0.42 cores), from 2026-01-02 03:04:05 UTC". */
void icicle_facts(const struct icicle *c, struct buf *raw)
{
	const struct header *h = &c->r->p->h;
	char text[UNITS_TEXT_MAX], when[NUM_TIME_MAX];
	const char *type = store_cstr(c->r->p->store, h->types[c->r->column].type), *unit;
	double total_ns;

	put_raw(raw, store_str(c->r->p->store, h->types[c->r->column].type));
	if (c->weights.is_diff) {
		put_difference(c, raw);
		return;
	}
	buf_printf(raw, SEPARATOR "total %s", icicle_value(c, c->weights.total, text));
	if (h->duration_ns > 0) {
		buf_printf(raw, " over %s",
			   units_format(h->duration_ns, "nanoseconds", "auto", text));
		total_ns = units_scale(c->weights.total, c->unit, "nanoseconds", &unit);
		if (!strcmp(type, "cpu") && !strcmp(unit, "ns"))
			buf_printf(raw, " (%.2f cores)",
				   total_ns / (double)h->duration_ns);
	}
	if (h->time_ns) {
		num_format_time(h->time_ns, when);
		buf_printf(raw, SEPARATOR "from %.10s %.8s UTC", when, when + 11);
	}
	put_filters(c, raw);
	if (c->weights.has_negative)
		buf_puts(raw, SEPARATOR "negative values are drawn by their size");
}

void icicle_description(const struct icicle *c, struct buf *raw)
{
	char text[UNITS_TEXT_MAX];
	struct change change;
	size_t i;

	icicle_facts(c, raw);
	for (i = 0; i < c->rows.n && c->rows.v[i].flat; i++) {
		buf_puts(raw, i			   ? ", "
			      : c->weights.is_diff ? ". Changed most in themselves: "
						   : ". Most in themselves: ");
		put_raw(raw, c->rows.v[i].name);
		buf_putc(raw, ' ');
		if (c->weights.is_diff) {
			change = (struct change){0, c->rows.v[i].flat};
			change_put_delta(raw, &change, c->unit, "auto");
			continue;
		}
		buf_puts(raw, icicle_value(c, c->rows.v[i].flat, text));
		buf_printf(raw, " (%s)", icicle_share(c, c->rows.v[i].flat, text));
	}
}

void icicle_put_text(const struct icicle *c, struct buf *out,
		     void (*put)(const struct icicle *c, struct buf *raw), size_t columns)
{
	struct buf raw = BUF_INIT(SIZE_MAX / 2), plain = BUF_INIT(SIZE_MAX / 2);

	put(c, &raw);
	escape_terminal(&plain, buf_str(&raw), raw.len);
	if (columns) {
		buf_clear(&raw);
		name_cut(&raw, buf_str(&plain), plain.len, columns);
		escape_xml(out, buf_str(&raw), raw.len);
	} else {
		escape_xml(out, buf_str(&plain), plain.len);
	}
	buf_release(&raw);
	buf_release(&plain);
}
