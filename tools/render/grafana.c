/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -f grafana: the call tree as the data frame that Grafana's flame graph panel draws: a row for
 * each node in pre-order, with its level, value, self and label. Of a difference those are of the
 * base, and valueRight and selfRight of the new side.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "tools/render/html_tree.h"

struct grafana {
	struct html_tree tree;
	int64_t *
		total; /* as the tree's self, of the column shown alone: by node, then side */
	uint32_t *level;
	size_t column;
	const char *unit; /* Grafana's name of it */
	size_t nfields;
	struct buf *out;
};

static const char *grafana_unit(const char *unit)
{
	static const char *const names[][2] = {{"nanoseconds", "ns"},
					       {"microseconds", "\302\265s"},
					       {"milliseconds", "ms"},
					       {"seconds", "s"},
					       {"bytes", "bytes"}};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(unit, names[i][0]))
			return names[i][1];
	}
	return "short";
}

static int64_t self_of(const struct grafana *g, uint32_t node, size_t side)
{
	const struct html_tree *t = &g->tree;

	return t->self[(node * t->nsides + side) * t->ncolumns + g->column];
}

/* No sum overflows: the tree's totals of all |value| did not. */
static void add_up(struct grafana *g)
{
	const struct html_tree *t = &g->tree;
	const struct node *v = t->calls.v;
	size_t i, side, n = t->calls.n;

	g->total = xcalloc(n * t->nsides, sizeof(*g->total));
	g->level = xcalloc(n, sizeof(*g->level));
	for (i = n; i--;) {
		for (side = 0; side < t->nsides; side++) {
			g->total[i * t->nsides + side] += self_of(g, (uint32_t)i, side);
			if (i)
				g->total[v[i].parent * t->nsides + side] +=
					g->total[i * t->nsides + side];
		}
	}
	for (i = 1; i < n; i++)
		g->level[i] = g->level[v[i].parent] + 1;
}

/* --- fields ----------------------------------------------------------------------------- */

static void put_string(struct buf *out, const char *p, size_t n)
{
	buf_putc(out, '"');
	escape_json(out, p, n);
	buf_putc(out, '"');
}

static void begin_field(struct grafana *g, const char *name, const char *type,
			const char *unit)
{
	buf_printf(g->out, "%s\n{\"name\":\"%s\",\"type\":\"%s\",\"config\":{",
		   g->nfields++ ? "," : "", name, type);
	if (unit)
		buf_printf(g->out, "\"unit\":\"%s\"", unit);
	buf_puts(g->out, "},\"values\":[");
}

static void put_levels(struct grafana *g)
{
	size_t i;

	begin_field(g, "level", "number", NULL);
	for (i = 0; i < g->tree.calls.n; i++)
		buf_printf(g->out, "%s%" PRIu32, i ? "," : "",
			   g->level[g->tree.order[i]]);
	buf_puts(g->out, "]}");
}

static void put_totals(struct grafana *g, const char *name, size_t side)
{
	const struct html_tree *t = &g->tree;
	size_t i;

	begin_field(g, name, "number", g->unit);
	for (i = 0; i < t->calls.n; i++)
		buf_printf(g->out, "%s%" PRId64, i ? "," : "",
			   g->total[t->order[i] * t->nsides + side]);
	buf_puts(g->out, "]}");
}

static void put_selfs(struct grafana *g, const char *name, size_t side)
{
	size_t i;

	begin_field(g, name, "number", g->unit);
	for (i = 0; i < g->tree.calls.n; i++)
		buf_printf(g->out, "%s%" PRId64, i ? "," : "",
			   self_of(g, g->tree.order[i], side));
	buf_puts(g->out, "]}");
}

static void put_labels(struct grafana *g)
{
	static const struct str root = {"total", 5};
	const struct html_tree *t = &g->tree;
	struct str label;
	uint32_t frame;
	size_t i;

	begin_field(g, "label", "string", NULL);
	for (i = 0; i < t->calls.n; i++) {
		frame = t->calls.v[t->order[i]].frame;
		label = frame == ID_NONE ? root : t->names[frame];
		if (i)
			buf_putc(g->out, ',');
		put_string(g->out, label.p, label.n);
	}
	buf_puts(g->out, "]}");
}

/* --- the frame -------------------------------------------------------------------------- */

static void put_data_frame(struct grafana *g, const char *title)
{
	buf_puts(g->out, "[{\"name\":");
	put_string(g->out, title, strlen(title));
	buf_puts(g->out, ",\"meta\":{\"preferredVisualisationType\":\"flamegraph\"},\n"
			 "\"fields\":[");
	put_levels(g);
	put_totals(g, "value", 0);
	put_selfs(g, "self", 0);
	if (g->tree.nsides == 2) {
		put_totals(g, "valueRight", 1);
		put_selfs(g, "selfRight", 1);
	}
	put_labels(g);
	buf_puts(g->out, "]}]\n");
}

int report_grafana(const struct report *r, struct buf *out, struct err *e)
{
	const struct value_type *type = &r->p->h.types[r->column];
	struct grafana g = {.column = r->column, .out = out};
	int ret = html_tree_init(&g.tree, r, e);

	if (!ret) {
		add_up(&g);
		g.unit = grafana_unit(store_cstr(r->p->store, type->unit));
		put_data_frame(&g, r->o->title ? r->o->title
					       : store_cstr(r->p->store, type->type));
	}
	free(g.total);
	free(g.level);
	html_tree_release(&g.tree);
	return ret;
}
