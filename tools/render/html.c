/* SPDX-License-Identifier: Apache-2.0 */
/* Putting the page together: what is the same for all, a title, a table, the data. */
#include "tools/render/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/gz.h"
#include "lib/ui/escape.h"
#include "lib/ui/units.h"
#include "tools/render/html_data.h"
#include "tools/render/html_lines.h"
#include "tools/render/html_tree.h"
#include "tools/render/sources.h"
#include "tools/render/subject.h"

#define PLAIN_ROWS 50

/* tools/render/viewer.S */
extern const char viewer_page[], viewer_page_end[];

/* --- parts of the page ------------------------------------------------------------------ */

/* Both for a terminal and for HTML: what would be seen wrongly is written out. */
static void put_text(struct buf *out, const char *p, size_t n)
{
	struct buf plain = BUF_INIT(SIZE_MAX / 2);

	escape_terminal(&plain, p, n);
	escape_xml(out, buf_str(&plain), plain.len);
	buf_release(&plain);
}

static void put_title(const struct report *r, const struct rows *rows, struct buf *raw)
{
	const struct profile *p = r->p;
	struct subject subject;
	struct str s;

	if (r->o->title) {
		buf_puts(raw, r->o->title);
		return;
	}
	subject = subject_of(r, rows->main_mapping);
	s = subject.file.n ? subject.file : subject.host;
	if (s.n) {
		buf_put(raw, s.p, s.n);
		return;
	}
	s = store_str(p->store, p->h.types[r->column].type);
	buf_put(raw, s.p, s.n);
	buf_puts(raw, " profile");
}

struct plain {
	const struct report *r;
	const struct weights *weights;
	struct buf *out;
	const char *unit;
};

static void put_value(const struct plain *t, int64_t v)
{
	char text[UNITS_TEXT_MAX];

	units_format(v, t->unit, "auto", text);
	buf_puts(t->out, "<td>");
	put_text(t->out, text, strlen(text));
	units_percent(v, t->weights->total, text);
	buf_printf(t->out, "</td><td>%s%s</td>", v < 0 ? "-" : "",
		   text + strspn(text, " "));
}

/* The table for readers without a script: the most, and what it is part of. */
static void put_plain_table(const struct report *r, const struct rows *rows,
			    const struct weights *w, struct buf *out)
{
	const struct value_type *vt = &r->p->h.types[r->column];
	struct plain t = {r, w, out, store_cstr(r->p->store, vt->unit)};
	struct str type = store_str(r->p->store, vt->type);
	char text[UNITS_TEXT_MAX];
	size_t i;

	buf_puts(out, "<table>\n<caption>");
	put_text(out, type.p, type.n);
	units_format(w->total, t.unit, "auto", text);
	buf_puts(out, w->is_diff ? ", new less old; total of the old " : ", total ");
	put_text(out, text, strlen(text));
	buf_puts(out, "</caption>\n<thead><tr><th>Flat</th><th>%</th><th>Total</th>"
		      "<th>%</th><th>Function</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < rows->n; i++) {
		buf_puts(out, "<tr>");
		put_value(&t, rows->v[i].flat);
		put_value(&t, rows->v[i].cum);
		buf_puts(out, "<td>");
		put_text(out, rows->v[i].name.p, rows->v[i].name.n);
		buf_puts(out, "</td></tr>\n");
	}
	buf_puts(out, "</tbody>\n</table>\n");
}

static void put_base64(struct buf *out, const uint8_t *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char some[4096];
	size_t i, len = 0;
	uint32_t v;

	for (i = 0; i < n; i += 3) {
		v = (uint32_t)p[i] << 16 | (uint32_t)(i + 1 < n ? p[i + 1] : 0) << 8 |
		    (i + 2 < n ? p[i + 2] : 0);
		some[len++] = digits[v >> 18];
		some[len++] = digits[v >> 12 & 63];
		some[len++] = i + 1 < n ? digits[v >> 6 & 63] : '=';
		some[len++] = i + 2 < n ? digits[v & 63] : '=';
		if (len == sizeof(some) || i + 3 >= n) {
			buf_put(out, some, len);
			len = 0;
		}
	}
}

/* A difference has no times: its samples are of two sets of profiles already. */
static int add_profile(struct html_data *d, const struct report *r, struct err *e)
{
	struct report_opts o = *r->o;
	struct report whole = *r;
	struct html_cells cells = {0}, *c = NULL;
	struct html_tree tree;
	int ret;

	/* the page makes files and binaries of functions, and has lines beside them */
	whole.o = &o;
	if (o.granularity != GRANULARITY_ADDRESSES)
		o.granularity = GRANULARITY_FUNCTIONS;
	ret = html_tree_init(&tree, &whole, e);
	if (!ret && tree.nsides == 1) {
		c = &cells;
		ret = html_cells_init(c, &whole, &tree, NULL, e);
	}
	if (!ret)
		html_data_add(d, r, &tree, c);
	if (!ret)
		ret = html_lines_add(d, r, &tree, c, e);
	html_cells_release(&cells);
	html_tree_release(&tree);
	return ret;
}

static int put_data(const struct report *r, size_t n, const struct buf *title,
		    struct buf *out, struct err *e)
{
	struct buf raw = BUF_INIT(SIZE_MAX / 2), packed = BUF_INIT(SIZE_MAX / 2);
	struct html_data d;
	int ret = 0;
	size_t i;

	html_data_init(&d, (const char *)title->data, title->len);
	for (i = 0; i < n && !ret; i++)
		ret = add_profile(&d, &r[i], e);
	if (!ret) {
		html_data_finish(&d, &raw);
		ret = gz_compress(raw.data, raw.len, &packed, e);
	}
	if (!ret)
		put_base64(out, packed.data, packed.len);
	html_data_release(&d);
	buf_release(&raw);
	buf_release(&packed);
	return ret;
}

/* --- the page --------------------------------------------------------------------------- */

/* The page up to the next place to fill in, which is named by what follows it. */
static const char *copy_until(struct buf *out, const char *p, const char *mark)
{
	const char *at = strstr(p, mark);

	if (!at)
		at = viewer_page_end;
	buf_put(out, p, (size_t)(at - p));
	return *at ? at + strlen(mark) : at;
}

static int put_page(const struct report *r, size_t n, const struct rows *rows,
		    const struct weights *w, struct buf *out, struct err *e)
{
	struct buf title = BUF_INIT(SIZE_MAX / 2);
	const char *p = viewer_page;
	int i, ret;

	put_title(r, rows, &title);
	for (i = 0; i < 2; i++) {
		p = copy_until(out, p, "@TITLE@");
		put_text(out, buf_str(&title), title.len);
	}
	p = copy_until(out, p, "@TABLE@\n");
	put_plain_table(r, rows, w, out);
	p = copy_until(out, p, "@DATA@");
	ret = put_data(r, n, &title, out, e);
	buf_put(out, p, (size_t)(viewer_page_end - p));
	buf_release(&title);
	return ret;
}

int report_html(const struct report *r, size_t n, struct buf *out, struct err *e)
{
	struct rows_opts top = {.top = PLAIN_ROWS};
	struct frames frames;
	struct weights weights;
	struct rows rows = {0};
	int ret;

	ret = sources_check(r->o->sources, r->o->nsources, e);
	if (ret)
		return ret;
	frames_init(&frames, r->p, r->o->granularity);
	ret = weights_init(&weights, r->q, r->p, r->column, e);
	if (!ret)
		ret = rows_init(&rows, &frames, &weights, &top, e);
	query_set_granularity(r->q, GRANULARITY_KEEP);
	if (!ret)
		ret = put_page(r, n, &rows, &weights, out, e);
	rows_release(&rows);
	weights_release(&weights);
	frames_release(&frames);
	return ret;
}
