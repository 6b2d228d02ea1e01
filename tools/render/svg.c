/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The icicle as one SVG, script-free unless asked otherwise: the root on top, callees below, heaviest first; a box as
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
#include "tools/render/icicle.h"

#define MARGIN_PX 12
#define HEADER_PX 92
#define BAR_PX 26 /* for what the script of an interactive picture puts above the boxes */
#define FOOTER_PX 34
#define ROW_PX 18
#define BOX_PX 17
#define GAP_PX 0.6	  /* between neighbours, taken from boxes that have it to spare */
#define CHARACTER_PX 7.25 /* advance of a monospace font of 12 px, rounded up */
#define TITLE_CHARACTER_PX 13 /* the heading's, which is bold and 19 px */
#define LABEL_COLUMNS_MIN 4
#define CHANGE_COLUMNS_MIN 18 /* of a label that says by how much, too */

static struct change self_of(const struct icicle *c, const struct node *n)
{
	int64_t sum = n->size;
	uint32_t id;

	for (id = n->first_child; id != ID_NONE; id = c->tree.v[id].next)
		sum -= c->tree.v[id].size;
	return change_of(n->self, sum);
}

/* tools/render/viewer.S */
extern const char viewer_svg[], viewer_svg_end[];

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
	double x = c->width[a - c->tree.v], y = c->width[b - c->tree.v];

	if (x != y)
		return x > y ? -1 : 1;
	return (c->rank[a->frame] > c->rank[b->frame]) -
	       (c->rank[a->frame] < c->rank[b->frame]);
}

/* --- lay-out ---------------------------------------------------------------------------- */

/* By default the mean of both shares, so that what is gone has its place as what is new. */
static double share_of_sides(const struct change *part, const struct change *whole,
			     enum diff_width by)
{
	double base = whole->base ? (double)part->base / (double)whole->base : 0;
	double new = whole->new ? (double)part->new / (double)whole->new : 0;

	if (by != DIFF_WIDTH_MEAN)
		return by == DIFF_WIDTH_BASE ? base : new;
	return (base + new) / (!!whole->base + !!whole->new ?: 1);
}

static void measure(struct icicle *c)
{
	struct change whole = node_change(&c->tree.v[0]), part;
	size_t i;

	c->width = xcalloc(c->tree.n, sizeof(*c->width));
	for (i = 0; i < c->tree.n; i++) {
		part = node_change(&c->tree.v[i]);
		c->width[i] = c->weights.is_diff
				      ? share_of_sides(&part, &whole, c->r->o->diff_width)
				      : (double)c->tree.v[i].size;
	}
	if (c->width[0] > 0)
		c->scale = (c->r->o->width_px - 2 * MARGIN_PX) / c->width[0];
}

static void lay_out(struct icicle *c)
{
	struct tree *t = &c->tree;
	uint32_t id;
	double at;
	size_t i;

	measure(c);
	tree_sort(t, heaviest_first, c);
	c->at = xcalloc(t->n, sizeof(*c->at));
	c->below = xcalloc(t->n, sizeof(*c->below));
	/* parents come before their children in the array */
	for (i = 0; i < t->n; i++) {
		at = c->at[i];
		for (id = t->v[i].first_child; id != ID_NONE; id = t->v[id].next) {
			c->at[id] = at;
			at += c->width[id];
		}
	}
	for (i = t->n; i--;) {
		c->below[i]++;
		if (i)
			c->below[t->v[i].parent] += c->below[i];
	}
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

static uint32_t row_y(const struct icicle *c, uint32_t depth)
{
	return HEADER_PX + (c->r->o->interactive ? BAR_PX : 0) + depth * ROW_PX;
}

/* For the script, which is to count exactly: new less base and, where it differs, their sum. */
static void put_exact(struct icicle *c, const struct node *values)
{
	buf_printf(&c->boxes, " data-v=\"%" PRId64, values->total);
	if (values->size != values->total)
		buf_printf(&c->boxes, " %" PRId64, values->size);
	buf_putc(&c->boxes, '"');
}

/* `note`: what follows the name in the first line of the hover text, if anything. */
static void put_box(struct icicle *c, const char *class, double at, double width,
		    const struct node *values, struct str note)
{
	double x = MARGIN_PX + at * c->scale, w = width * c->scale;

	if (w > 3)
		w -= GAP_PX;
	buf_printf(&c->boxes,
		   "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
		   "height=\"%d\"",
		   class, x, row_y(c, values->depth), w, BOX_PX);
	if (c->r->o->interactive) {
		put_exact(c, values);
		if (note.n) {
			buf_puts(&c->boxes, " data-note=\"");
			put_escaped(&c->boxes, note);
			buf_putc(&c->boxes, '"');
		}
	}
	buf_puts(&c->boxes, "><title>");
	if (values->depth > c->depth)
		c->depth = values->depth;
}

/* Ends the box; its label where there is room for one, with the change (or NULL). */
static void end_box(struct icicle *c, struct str name, const struct change *change,
		    double at, double width, uint32_t depth)
{
	double x = MARGIN_PX + at * c->scale, w = width * c->scale;
	struct buf plain = BUF_INIT(SIZE_MAX / 2), fit = BUF_INIT(SIZE_MAX / 2),
		   more = BUF_INIT(UNITS_TEXT_MAX);
	size_t columns;

	buf_puts(&c->boxes, "</title></rect>\n");
	if (w < 6 + LABEL_COLUMNS_MIN * CHARACTER_PX)
		return;
	columns = (size_t)((w - 6) / CHARACTER_PX);
	if (change && columns >= CHANGE_COLUMNS_MIN) {
		buf_putc(&more, ' ');
		change_put_percent(&more, change, c->weights.total);
	}
	escape_terminal(&plain, name.p, name.n);
	name_fit(&fit, buf_str(&plain), plain.len, columns - more.len);
	buf_put(&fit, more.data, more.len);
	buf_printf(&c->boxes, "<text x=\"%.1f\" y=\"%u\">", x + 3, row_y(c, depth) + 13);
	escape_xml(&c->boxes, buf_str(&fit), fit.len);
	buf_puts(&c->boxes, "</text>\n");
	buf_release(&plain);
	buf_release(&fit);
	buf_release(&more);
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

static void put_sides(struct icicle *c, const char *what, const struct change *v)
{
	char text[UNITS_TEXT_MAX];

	buf_printf(&c->boxes, "\n%s: base %s", what, icicle_value(c, v->base, text));
	buf_printf(&c->boxes, ", new %s, ", icicle_value(c, v->new, text));
	change_put_delta(&c->boxes, v, c->unit, "auto");
	buf_puts(&c->boxes, " (");
	change_put_percent(&c->boxes, v, c->weights.total);
	buf_puts(&c->boxes, " of base)");
}

static void put_values(struct icicle *c, const struct node *n)
{
	char text[UNITS_TEXT_MAX];
	struct change total, self;

	if (c->weights.is_diff) {
		total = node_change(n);
		put_sides(c, "total", &total);
		self = self_of(c, n);
		if (self.base || self.new)
			put_sides(c, "self", &self);
		return;
	}
	buf_printf(&c->boxes, "\ntotal %s", icicle_value(c, n->total, text));
	buf_printf(&c->boxes, " (%s)", icicle_share(c, n->total, text));
	if (!n->self)
		return;
	buf_printf(&c->boxes, ", self %s", icicle_value(c, n->self, text));
	buf_printf(&c->boxes, " (%s)", icicle_share(c, n->self, text));
}

/* Class of a box: by where the code is from, or by how it changed. */
static void put_class(struct icicle *c, const struct node *n, char class[8])
{
	const struct frame *fr = &c->frames.v[n->frame];
	enum svg_kind kind = kind_of(c, fr);

	if (c->weights.is_diff) {
		/* what was tested and not found to differ is noise, however large */
		if (c->verdicts.tested &&
		    !verdict_list_find(&c->verdicts, c->names[n->frame]).n)
			svg_change_class(class, 0);
		else
			svg_change_class(class,
					 (double)n->total / (double)c->weights.total);
		return;
	}
	svg_class(class, kind, colour_key(c, fr), n->inlined);
	c->kinds[kind] = true;
	c->kinds[SVG_INLINED] |= n->inlined;
}

/* What was found, else whether one side has it at all. */
static struct str verdict_of(const struct icicle *c, const struct node *n,
			     const struct change *change)
{
	struct str v = verdict_list_find(&c->verdicts, c->names[n->frame]);
	const char *status = change_status(change);

	return v.n ? v : (struct str){status, (uint32_t)strlen(status)};
}

static void draw_frame(struct icicle *c, uint32_t id)
{
	const struct node *n = &c->tree.v[id];
	struct change change = node_change(n);
	struct str verdict = {0};
	char class[8];

	put_class(c, n, class);
	if (c->weights.is_diff)
		verdict = verdict_of(c, n, &change);
	put_box(c, class, c->at[id], c->width[id], n, verdict);
	put_escaped(&c->boxes, c->names[n->frame]);
	if (verdict.n) {
		buf_puts(&c->boxes, " (");
		put_escaped(&c->boxes, verdict);
		buf_putc(&c->boxes, ')');
	}
	put_place(c, n);
	put_values(c, n);
	end_box(c, c->names[n->frame], c->weights.is_diff ? &change : NULL, c->at[id],
		c->width[id], n->depth);
	c->ndrawn++;
}

static void draw_root(struct icicle *c)
{
	const struct node *root = &c->tree.v[0];
	struct change change = node_change(root);
	char text[UNITS_TEXT_MAX];
	struct buf name = BUF_INIT(3 * UNITS_TEXT_MAX);

	if (c->weights.is_diff) {
		buf_printf(&name, "base %s", icicle_value(c, change.base, text));
		buf_printf(&name, ", new %s,", icicle_value(c, change.new, text));
	} else {
		buf_printf(&name, "total %s", icicle_value(c, root->total, text));
	}
	put_box(c, "t", 0, c->width[0], root, (struct str){0});
	buf_puts(&c->boxes, "all samples");
	put_values(c, root);
	end_box(c, (struct str){buf_str(&name), (uint32_t)name.len},
		c->weights.is_diff ? &change : NULL, 0, c->width[0], 0);
	buf_release(&name);
}

static void put_rest_values(struct icicle *c, const struct node *all)
{
	struct change total = node_change(all);
	char text[UNITS_TEXT_MAX];

	if (c->weights.is_diff) {
		put_sides(c, "total", &total);
		return;
	}
	buf_printf(&c->boxes, "\ntotal %s", icicle_value(c, all->total, text));
	buf_printf(&c->boxes, " (%s)", icicle_share(c, all->total, text));
}

/* The children from `id` on are too narrow: one box for them all. */
static void draw_rest(struct icicle *c, uint32_t id)
{
	struct node all = {.first_child = ID_NONE, .depth = c->tree.v[id].depth};
	uint32_t n = 0;
	double at = c->at[id], width = 0;
	struct buf name = BUF_INIT(64);

	for (; id != ID_NONE; id = c->tree.v[id].next) {
		width += c->width[id];
		all.total += c->tree.v[id].total;
		all.size += c->tree.v[id].size;
		n += c->below[id];
	}
	c->nsmall += n;
	c->small += width;
	if (width <= 0) /* the side that is drawn has nothing of them */
		return;
	c->nboxes++;
	c->kinds[SVG_REST] = true;
	buf_printf(&name, "%u smaller frame%s", n, n == 1 ? "" : "s");
	put_box(c, "r", at, width, &all, (struct str){0});
	buf_puts(&c->boxes, buf_str(&name));
	put_rest_values(c, &all);
	end_box(c, (struct str){buf_str(&name), (uint32_t)name.len}, NULL, at, width,
		all.depth);
	buf_release(&name);
}

/* Draw the children of a node; the first one drawn, if any, is where to go on. */
static uint32_t enter(struct icicle *c, uint32_t id)
{
	uint32_t child = c->tree.v[id].first_child;

	if (child == ID_NONE)
		return ID_NONE;
	if (c->width[child] * c->scale >= c->r->o->min_width_px)
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
		if (c->width[v[id].next] * c->scale >= c->r->o->min_width_px)
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

static void put_footer(const struct icicle *c, struct buf *out, int height)
{
	char text[UNITS_TEXT_MAX];
	double part = c->width[0] > 0 ? c->small / c->width[0] : 0;

	buf_printf(out, "<text class=\"m\" x=\"%d\" y=\"%d\">", MARGIN_PX, height - 14);
	if (!c->tree.v[0].size)
		buf_puts(out, "no samples");
	else
		buf_printf(out, "%zu frame%s drawn", c->ndrawn,
			   c->ndrawn == 1 ? "" : "s");
	if (c->nsmall) {
		buf_printf(out, "; %zu narrower than %g px in %zu grey box%s", c->nsmall,
			   c->r->o->min_width_px, c->nboxes, c->nboxes == 1 ? "" : "es");
		if (c->weights.is_diff)
			buf_printf(out, ", %.2g%% of the width", part * 100);
		else
			buf_printf(out, ", %s of the total",
				   icicle_share(c, (int64_t)c->small, text));
	}
	buf_puts(out, "</text>\n");
}

/* Opens what holds the boxes; the script is told what their values are of. */
static void put_group(const struct icicle *c, struct buf *out)
{
	static const char *const sides[] = {
		[DIFF_WIDTH_MEAN] = "mean",
		[DIFF_WIDTH_BASE] = "base",
		[DIFF_WIDTH_NEW] = "new",
	};
	struct str unit = {c->unit, (uint32_t)strlen(c->unit)};

	buf_puts(out, "<g");
	if (c->r->o->interactive) {
		buf_printf(out, " data-total=\"%" PRId64 "\" data-unit=\"",
			   c->weights.total);
		escape_xml(out, unit.p, unit.n);
		buf_putc(out, '"');
		if (c->weights.is_diff)
			buf_printf(out, " data-side=\"%s\"", sides[c->r->o->diff_width]);
	}
	buf_puts(out, ">\n");
}

static void put_document(const struct icicle *c, struct buf *out)
{
	int width = c->r->o->width_px;
	int height = (int)row_y(c, c->depth + 1) + FOOTER_PX;

	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t d\">\n<title "
		   "id=\"t\">",
		   width, height, width, height);
	icicle_put_text(c, out, icicle_title, 0);
	buf_puts(out, "</title>\n<desc id=\"d\">");
	icicle_put_text(c, out, icicle_description, 0);
	buf_puts(out, "</desc>\n");
	svg_put_style(out, c->weights.is_diff);
	buf_puts(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
	buf_printf(out, "<text class=\"h\" x=\"%d\" y=\"30\">", MARGIN_PX);
	icicle_put_text(c, out, icicle_title,
			(size_t)((width - 2 * MARGIN_PX) / TITLE_CHARACTER_PX));
	buf_printf(out, "</text>\n<text class=\"m\" x=\"%d\" y=\"50\">", MARGIN_PX);
	icicle_put_text(c, out, icicle_facts,
			(size_t)((width - 2 * MARGIN_PX) / CHARACTER_PX));
	buf_puts(out, "</text>\n");
	if (c->weights.is_diff)
		svg_put_change_legend(out, c->r->o->diff_width, c->kinds[SVG_REST],
				      MARGIN_PX, 66);
	else
		svg_put_legend(out, c->kinds, MARGIN_PX, 66);
	put_group(c, out);
	buf_put(out, c->boxes.data, c->boxes.len);
	buf_puts(out, "</g>\n");
	put_footer(c, out, height);
	if (c->r->o->interactive)
		buf_put(out, viewer_svg, (size_t)(viewer_svg_end - viewer_svg));
	buf_puts(out, "</svg>\n");
}

static void icicle_release(struct icicle *c)
{
	tree_release(&c->tree);
	rows_release(&c->rows);
	weights_release(&c->weights);
	verdict_list_release(&c->verdicts);
	frames_release(&c->frames);
	arena_release(&c->arena);
	free(c->names);
	free(c->rank);
	free(c->at);
	free(c->width);
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
	verdict_list_init(&c.verdicts, r->p);
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
