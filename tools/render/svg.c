/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The icicle as one script-free SVG: the root on top, callees below, heaviest first; a box as
 * wide as its share. Frames too narrow to see are drawn together as one grey box under their
 * caller, so that widths still add up.
 *
 * All boxes are in a single <g>: with a <title> per frame right under the root, browsers take
 * time quadratic in their number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"
#include "tools/render/report.h"
#include "tools/render/svg_style.h"
#include "tools/render/tree.h"

#define MARGIN_PX 12
#define HEADER_PX 92
#define FOOTER_PX 34
#define ROW_PX 18
#define BOX_PX 17
#define GAP_PX 0.6	  /* between neighbours, taken from boxes that have it to spare */
#define CHARACTER_PX 7.25 /* advance of a monospace font of 12 px, rounded up */
#define TITLE_CHARACTER_PX 13 /* the heading's, which is bold and 19 px */
#define LABEL_COLUMNS_MIN 4
#define SEPARATOR " \302\267 " /* a middle dot */

struct icicle {
	const struct report *r;
	struct frames frames;
	struct weights weights;
	struct rows rows; /* the five heaviest, and the main binary */
	struct tree tree;
	struct str *names; /* by frame id */
	uint32_t *rank;	   /* by frame id: place among the names */
	struct arena arena;
	int64_t *at;	 /* by node: where it starts, in the unit of values */
	uint32_t *below; /* by node: nodes in its subtree, itself too */
	double scale;	 /* pixels per unit */
	uint32_t depth;	 /* of the deepest row drawn */
	size_t ndrawn, nsmall, nboxes;
	int64_t small; /* what the grey boxes stand for */
	bool kinds[SVG_KINDS];
	const char *unit;
	struct buf boxes;
};

static const char *value(const struct icicle *c, int64_t v, char text[UNITS_TEXT_MAX])
{
	return units_format(v, c->unit, "auto", text);
}

static const char *share(const struct icicle *c, int64_t v, char text[UNITS_TEXT_MAX])
{
	units_percent(v, c->weights.total, text);
	return text + strspn(text, " ");
}

/* --- names ------------------------------------------------------------------------------ */

static int cmp_names(const void *a, const void *b, void *ctx)
{
	const struct icicle *c = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct frame *fx = &c->frames.v[x], *fy = &c->frames.v[y];
	int d = str_cmp(c->names[x], c->names[y]);

	return d ? d : (fx->binary > fy->binary) - (fx->binary < fy->binary);
}

static void name_frames(struct icicle *c)
{
	size_t n = c->frames.n, i;
	uint32_t *order = xcalloc(n + 1, sizeof(*order));
	struct buf b = BUF_INIT(SIZE_MAX / 2);

	c->names = xcalloc(n + 1, sizeof(*c->names));
	c->rank = xcalloc(n + 1, sizeof(*c->rank));
	for (i = 0; i < n; i++) {
		buf_clear(&b);
		frames_name(&c->frames, (uint32_t)i, &b);
		c->names[i].p = arena_bytes(&c->arena, b.data, b.len);
		c->names[i].n = (uint32_t)b.len;
		order[i] = (uint32_t)i;
	}
	qsort_r(order, n, sizeof(*order), cmp_names, c);
	for (i = 0; i < n; i++)
		c->rank[order[i]] = (uint32_t)i;
	free(order);
	buf_release(&b);
}

static int heaviest_first(const struct node *a, const struct node *b, void *ctx)
{
	const struct icicle *c = ctx;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return (c->rank[a->frame] > c->rank[b->frame]) -
	       (c->rank[a->frame] < c->rank[b->frame]);
}

/* --- lay-out ---------------------------------------------------------------------------- */

static void lay_out(struct icicle *c)
{
	struct tree *t = &c->tree;
	uint32_t id;
	int64_t at;
	size_t i;

	tree_sort(t, heaviest_first, c);
	c->at = xcalloc(t->n, sizeof(*c->at));
	c->below = xcalloc(t->n, sizeof(*c->below));
	/* parents come before their children in the array */
	for (i = 0; i < t->n; i++) {
		at = c->at[i];
		for (id = t->v[i].first_child; id != ID_NONE; id = t->v[id].next) {
			c->at[id] = at;
			at += t->v[id].size;
		}
	}
	for (i = t->n; i--;) {
		c->below[i]++;
		if (i)
			c->below[t->v[i].parent] += c->below[i];
	}
	if (t->v[0].size)
		c->scale = (c->r->o->width_px - 2 * MARGIN_PX) / (double)t->v[0].size;
}

static enum svg_kind kind_of(const struct icicle *c, const struct frame *fr)
{
	const struct store *st = c->r->p->store;
	const char *name = store_cstr(st, fr->name), *module = store_cstr(st, fr->module);

	if (!fr->module && name[0] == '[')
		return SVG_NOTE;
	return module[0] == '[' ? SVG_KERNEL : SVG_USER;
}

/* What a box is coloured by: the package in the name, else the binary. */
static struct str colour_key(const struct icicle *c, const struct frame *fr)
{
	const struct store *st = c->r->p->store;
	struct str s = store_str(st, fr->name);

	s.n = (uint32_t)name_package(s.p, s.n);
	return s.n ? s : path_base(store_str(st, fr->module));
}

/* --- boxes ------------------------------------------------------------------------------ */

static void put_escaped(struct buf *b, struct str s)
{
	escape_xml(b, s.p, s.n);
}

static void put_box(struct icicle *c, const char *class, int64_t at, int64_t size,
		    uint32_t depth)
{
	double x = MARGIN_PX + (double)at * c->scale, w = (double)size * c->scale;

	if (w > 3)
		w -= GAP_PX;
	buf_printf(&c->boxes,
		   "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
		   "height=\"%d\"><title>",
		   class, x, HEADER_PX + depth * ROW_PX, w, BOX_PX);
	if (depth > c->depth)
		c->depth = depth;
}

/* Ends the box; its label where there is room for one. */
static void end_box(struct icicle *c, struct str name, int64_t at, int64_t size,
		    uint32_t depth)
{
	double x = MARGIN_PX + (double)at * c->scale, w = (double)size * c->scale;
	struct buf plain = BUF_INIT(SIZE_MAX / 2), fit = BUF_INIT(SIZE_MAX / 2);

	buf_puts(&c->boxes, "</title></rect>\n");
	if (w < 6 + LABEL_COLUMNS_MIN * CHARACTER_PX)
		return;
	escape_terminal(&plain, name.p, name.n);
	name_fit(&fit, buf_str(&plain), plain.len, (size_t)((w - 6) / CHARACTER_PX));
	buf_printf(&c->boxes, "<text x=\"%.1f\" y=\"%u\">", x + 3,
		   HEADER_PX + depth * ROW_PX + 13);
	escape_xml(&c->boxes, buf_str(&fit), fit.len);
	buf_puts(&c->boxes, "</text>\n");
	buf_release(&plain);
	buf_release(&fit);
}

/* "app" of "/usr/bin/app"; "[kernel.kallsyms]" without the symbol that may follow it. */
static struct str module_name(struct str file)
{
	struct str s = path_base(file);
	const char *end = s.n && s.p[0] == '[' ? memchr(s.p, ']', s.n) : NULL;

	if (end)
		s.n = (uint32_t)(end + 1 - s.p);
	return s;
}

/* Where the function is: "file.c:12 app, inlined". */
static void put_place(struct icicle *c, const struct node *n)
{
	const struct frame *fr = &c->frames.v[n->frame];
	const struct store *st = c->r->p->store;
	struct str module = module_name(store_str(st, fr->module));
	size_t start = c->boxes.len;

	if (fr->where_file) {
		buf_putc(&c->boxes, '\n');
		put_escaped(&c->boxes, store_str(st, fr->where_file));
		if (fr->where_line)
			buf_printf(&c->boxes, ":%" PRId64, fr->where_line);
	}
	if (module.n) {
		buf_puts(&c->boxes, c->boxes.len > start ? " in " : "\n");
		put_escaped(&c->boxes, module);
	}
	if (n->inlined)
		buf_puts(&c->boxes, c->boxes.len > start ? ", inlined" : "\ninlined");
}

static void put_values(struct icicle *c, int64_t total, int64_t self)
{
	char text[UNITS_TEXT_MAX];

	buf_printf(&c->boxes, "\ntotal %s", value(c, total, text));
	buf_printf(&c->boxes, " (%s)", share(c, total, text));
	if (!self)
		return;
	buf_printf(&c->boxes, ", self %s", value(c, self, text));
	buf_printf(&c->boxes, " (%s)", share(c, self, text));
}

static void draw_frame(struct icicle *c, uint32_t id)
{
	const struct node *n = &c->tree.v[id];
	const struct frame *fr = &c->frames.v[n->frame];
	enum svg_kind kind = kind_of(c, fr);
	char class[8];

	svg_class(class, kind, colour_key(c, fr), n->inlined);
	put_box(c, class, c->at[id], n->size, n->depth);
	put_escaped(&c->boxes, c->names[n->frame]);
	put_place(c, n);
	put_values(c, n->total, n->self);
	end_box(c, c->names[n->frame], c->at[id], n->size, n->depth);
	c->kinds[kind] = true;
	c->kinds[SVG_INLINED] |= n->inlined;
	c->ndrawn++;
}

static void draw_root(struct icicle *c)
{
	const struct node *root = &c->tree.v[0];
	char text[UNITS_TEXT_MAX];
	struct buf name = BUF_INIT(UNITS_TEXT_MAX + 16);

	buf_printf(&name, "total %s", value(c, root->total, text));
	put_box(c, "t", 0, root->size, 0);
	buf_puts(&c->boxes, "all samples");
	put_values(c, root->total, root->self);
	end_box(c, (struct str){buf_str(&name), (uint32_t)name.len}, 0, root->size, 0);
	buf_release(&name);
}

/* The children from `id` on are too narrow: one box for them all. */
static void draw_rest(struct icicle *c, uint32_t id)
{
	int64_t at = c->at[id], size = 0, total = 0;
	uint32_t depth = c->tree.v[id].depth, n = 0;
	char text[UNITS_TEXT_MAX];
	struct buf name = BUF_INIT(64);

	for (; id != ID_NONE; id = c->tree.v[id].next) {
		size += c->tree.v[id].size;
		total += c->tree.v[id].total;
		n += c->below[id];
	}
	c->nsmall += n;
	c->small += size;
	c->nboxes++;
	c->kinds[SVG_REST] = true;
	buf_printf(&name, "%u smaller frame%s", n, n == 1 ? "" : "s");
	put_box(c, "r", at, size, depth);
	buf_puts(&c->boxes, buf_str(&name));
	buf_printf(&c->boxes, "\ntotal %s", value(c, total, text));
	buf_printf(&c->boxes, " (%s)", share(c, total, text));
	end_box(c, (struct str){buf_str(&name), (uint32_t)name.len}, at, size, depth);
	buf_release(&name);
}

/* Draw the children of a node; the first one drawn, if any, is where to go on. */
static uint32_t enter(struct icicle *c, uint32_t id)
{
	uint32_t child = c->tree.v[id].first_child;

	if (child == ID_NONE)
		return ID_NONE;
	if ((double)c->tree.v[child].size * c->scale >= c->r->o->min_width_px)
		return child;
	draw_rest(c, child);
	return ID_NONE;
}

/* The next sibling, or that of the nearest ancestor that has one. */
static uint32_t leave(struct icicle *c, uint32_t id)
{
	const struct node *v = c->tree.v;

	for (; id; id = v[id].parent) {
		if (v[id].next == ID_NONE)
			continue;
		if ((double)v[v[id].next].size * c->scale >= c->r->o->min_width_px)
			return v[id].next;
		draw_rest(c, v[id].next);
	}
	return ID_NONE;
}

/* Depth first without recursion: callers before callees, heaviest first. */
static void draw_boxes(struct icicle *c)
{
	uint32_t id, next;

	draw_root(c);
	for (id = enter(c, 0); id != ID_NONE; id = next) {
		draw_frame(c, id);
		next = enter(c, id);
		if (next == ID_NONE)
			next = leave(c, id);
	}
}

/* --- document --------------------------------------------------------------------------- */

/* Texts of the heading are made raw, then escaped, and cut to the width of the picture. */

static void put_raw(struct buf *raw, struct str s)
{
	buf_put(raw, s.p, s.n);
}

static void put_title(const struct icicle *c, struct buf *raw)
{
	const struct profile *p = c->r->p;
	struct mapping m;

	if (c->r->o->title) {
		buf_puts(raw, c->r->o->title);
		return;
	}
	if (c->rows.main_mapping != ID_NONE) {
		m = profile_mapping(p, c->rows.main_mapping);
		put_raw(raw, path_base(store_str(p->store, m.file)));
		buf_puts(raw, ": ");
	}
	put_raw(raw, store_str(p->store, p->h.types[c->r->column].type));
}

static void put_filters(const struct icicle *c, struct buf *raw)
{
	char text[UNITS_TEXT_MAX];
	const char *const *filters;
	size_t n, i;

	if (c->tree.v[0].total != c->weights.total && !c->weights.has_negative) {
		buf_printf(raw, SEPARATOR "shown %s", value(c, c->tree.v[0].total, text));
		buf_printf(raw, " (%s)", share(c, c->tree.v[0].total, text));
	}
	filters = query_filter_texts(c->r->q, &n);
	for (i = 0; i < n; i++)
		buf_printf(raw, SEPARATOR "%s", filters[i]);
}

/* "cpu, total 4.2s over 10s (0.42 cores), from 2026-01-02 03:04:05 UTC". */
static void put_facts(const struct icicle *c, struct buf *raw)
{
	const struct header *h = &c->r->p->h;
	char text[UNITS_TEXT_MAX], when[NUM_TIME_MAX];
	const char *type = store_cstr(c->r->p->store, h->types[c->r->column].type), *unit;
	double total_ns;

	put_raw(raw, store_str(c->r->p->store, h->types[c->r->column].type));
	buf_printf(raw, SEPARATOR "total %s", value(c, c->weights.total, text));
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

static void put_description(const struct icicle *c, struct buf *raw)
{
	char text[UNITS_TEXT_MAX];
	size_t i;

	put_facts(c, raw);
	for (i = 0; i < c->rows.n && c->rows.v[i].flat; i++) {
		buf_puts(raw, i ? ", " : ". Most in themselves: ");
		put_raw(raw, c->rows.v[i].name);
		buf_printf(raw, " %s", value(c, c->rows.v[i].flat, text));
		buf_printf(raw, " (%s)", share(c, c->rows.v[i].flat, text));
	}
}

/* What `put` makes, escaped; in at most `columns` (0: any number). */
static void put_text(const struct icicle *c, struct buf *out,
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

static void put_footer(const struct icicle *c, struct buf *out, int height)
{
	char text[UNITS_TEXT_MAX];

	buf_printf(out, "<text class=\"m\" x=\"%d\" y=\"%d\">", MARGIN_PX, height - 14);
	if (!c->tree.v[0].size)
		buf_puts(out, "no samples");
	else
		buf_printf(out, "%zu frame%s drawn", c->ndrawn,
			   c->ndrawn == 1 ? "" : "s");
	if (c->nsmall) {
		buf_printf(out, "; %zu narrower than %g px in %zu grey box%s", c->nsmall,
			   c->r->o->min_width_px, c->nboxes, c->nboxes == 1 ? "" : "es");
		buf_printf(out, ", %s of the total", share(c, c->small, text));
	}
	buf_puts(out, "</text>\n");
}

static void put_document(const struct icicle *c, struct buf *out)
{
	int width = c->r->o->width_px;
	int height = HEADER_PX + (int)(c->depth + 1) * ROW_PX + FOOTER_PX;

	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t d\">\n<title "
		   "id=\"t\">",
		   width, height, width, height);
	put_text(c, out, put_title, 0);
	buf_puts(out, "</title>\n<desc id=\"d\">");
	put_text(c, out, put_description, 0);
	buf_puts(out, "</desc>\n");
	svg_put_style(out);
	buf_puts(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
	buf_printf(out, "<text class=\"h\" x=\"%d\" y=\"30\">", MARGIN_PX);
	put_text(c, out, put_title,
		 (size_t)((width - 2 * MARGIN_PX) / TITLE_CHARACTER_PX));
	buf_printf(out, "</text>\n<text class=\"m\" x=\"%d\" y=\"50\">", MARGIN_PX);
	put_text(c, out, put_facts, (size_t)((width - 2 * MARGIN_PX) / CHARACTER_PX));
	buf_puts(out, "</text>\n");
	svg_put_legend(out, c->kinds, MARGIN_PX, 66);
	buf_puts(out, "<g>\n");
	buf_put(out, c->boxes.data, c->boxes.len);
	buf_puts(out, "</g>\n");
	put_footer(c, out, height);
	buf_puts(out, "</svg>\n");
}

static void icicle_release(struct icicle *c)
{
	tree_release(&c->tree);
	rows_release(&c->rows);
	weights_release(&c->weights);
	frames_release(&c->frames);
	arena_release(&c->arena);
	free(c->names);
	free(c->rank);
	free(c->at);
	free(c->below);
	buf_release(&c->boxes);
}

int report_svg(const struct report *r, struct buf *out, struct err *e)
{
	struct rows_opts five = {.top = 5};
	struct icicle c = {.r = r, .boxes = BUF_INIT(SIZE_MAX / 2)};
	int ret;

	c.unit = store_cstr(r->p->store, r->p->h.types[r->column].unit);
	frames_init(&c.frames, r->p, r->o->granularity);
	ret = weights_init(&c.weights, r->q, r->p, r->column, e);
	if (!ret)
		ret = rows_init(&c.rows, &c.frames, &c.weights, &five, e);
	if (!ret)
		ret = tree_init(&c.tree, &c.frames, &c.weights, e);
	if (!ret) {
		name_frames(&c);
		lay_out(&c);
		draw_boxes(&c);
		put_document(&c, out);
	}
	icicle_release(&c);
	return ret;
}
