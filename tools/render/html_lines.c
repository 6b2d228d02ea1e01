/* SPDX-License-Identifier: Apache-2.0 */
/* Making the page's tree of lines, and reading what --source has of them. */
#include "tools/render/html_lines.h"

#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "tools/render/sources.h"

/* A tree of more nodes has its lines only if they are asked for: the page is twice as large. */
#define NODES_MAX 100000

static bool is_wanted(const struct report *r, const struct html_tree *t)
{
	size_t i;

	if (r->o->granularity == GRANULARITY_ADDRESSES)
		return false;
	if (r->o->granularity != GRANULARITY_LINES && !r->o->nsources &&
	    t->calls.n > NODES_MAX)
		return false;
	for (i = 0; i < t->frames.n; i++) {
		if (t->frames.v[i].where_line > 0)
			return true;
	}
	return false;
}

static void put_functions(struct html_data *d, const struct report *r,
			  const struct html_tree *t)
{
	const struct store *st = r->p->store;
	const struct frame *f;
	size_t i;

	for (i = 0; i < t->frames.n; i++) {
		f = &t->frames.v[t->ranked[i]];
		html_put_u64(&d->section,
			     f->name ? html_text(d, store_str(st, f->name))
				     : html_safe_text(d, t->names[t->ranked[i]]));
	}
	html_data_end(d, HTML_FUNCTIONS);
}

/* --- source text ------------------------------------------------------------------------ */

static int cmp_place(const void *a, const void *b, void *tree)
{
	const struct html_tree *t = tree;
	const struct frame *f = &t->frames.v[*(const uint32_t *)a],
			   *g = &t->frames.v[*(const uint32_t *)b];
	const struct store *st = t->frames.p->store;
	int c = f->file == g->file
			? 0
			: str_cmp(store_str(st, f->file), store_str(st, g->file));

	return c ? c : (f->line > g->line) - (f->line < g->line);
}

struct lines {
	int64_t *v;
	size_t n, cap;
};

/* What -f lines shows of a file: those of the frames [0, n) and some around each. */
static void choose_lines(struct lines *l, const struct html_tree *t,
			 const uint32_t *frames, size_t n, size_t nlines)
{
	int64_t line, at, last = 0;
	size_t i;

	l->n = 0;
	for (i = 0; i < n; i++) {
		line = t->frames.v[frames[i]].line;
		if (line < 1 || (uint64_t)line > nlines)
			continue;
		at = line - SOURCE_AROUND > last ? line - SOURCE_AROUND : last + 1;
		for (; at <= line + SOURCE_AROUND && (uint64_t)at <= nlines; at++) {
			XGROW(l->v, l->n, l->cap);
			l->v[l->n++] = last = at;
		}
	}
}

static bool put_file(struct html_data *d, const struct report *r,
		     const struct html_tree *t, const uint32_t *frames, size_t n,
		     struct buf *out)
{
	struct str file = store_str(r->p->store, t->frames.v[frames[0]].file);
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	struct source_file source;
	struct lines lines = {0};
	size_t i;

	if (!source_file_read(&source, r->o->sources, r->o->nsources, file))
		choose_lines(&lines, t, frames, n, source.n);
	if (lines.n) {
		html_put_u64(out, html_text(d, file));
		html_put_u64(out, lines.n);
	}
	for (i = 0; i < lines.n; i++) {
		buf_clear(&line);
		source_file_line(&source, lines.v[i], &line);
		html_put_u64(out, (uint64_t)(lines.v[i] - (i ? lines.v[i - 1] : 0)));
		html_put_u64(out, html_safe_text(d, (struct str){buf_str(&line),
								 (uint32_t)line.len}));
	}
	source_file_release(&source);
	buf_release(&line);
	free(lines.v);
	return i > 0;
}

static void put_sources(struct html_data *d, const struct report *r,
			const struct html_tree *t)
{
	uint32_t *order = xcalloc(t->frames.n + 1, sizeof(*order));
	struct buf files = BUF_INIT(SIZE_MAX / 2);
	size_t i, n, count = 0;

	for (i = 0; i < t->frames.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, t->frames.n, sizeof(*order), cmp_place, (void *)t);
	for (i = 0; i < t->frames.n; i += n) {
		for (n = 1; i + n < t->frames.n &&
			    t->frames.v[order[i + n]].file == t->frames.v[order[i]].file;
		     n++)
			;
		count += put_file(d, r, t, order + i, n, &files);
	}
	html_put_u64(&d->section, count);
	buf_put(&d->section, files.data, files.len);
	html_data_end(d, HTML_SOURCES);
	buf_release(&files);
	free(order);
}

/* --- the whole -------------------------------------------------------------------------- */

static int add(struct html_data *d, const struct report *r, const struct html_cells *like,
	       struct err *e)
{
	struct html_cells cells = {0};
	struct html_tree tree;
	int ret = html_tree_init(&tree, r, e);

	if (!ret && like)
		ret = html_cells_init(&cells, r, &tree, like, e);
	if (!ret) {
		html_data_add_lines(d, r, &tree, like ? &cells : NULL);
		put_functions(d, r, &tree);
		if (r->o->nsources)
			put_sources(d, r, &tree);
	}
	html_cells_release(&cells);
	html_tree_release(&tree);
	return ret;
}

int html_lines_add(struct html_data *d, const struct report *r, const struct html_tree *t,
		   const struct html_cells *c, struct err *e)
{
	struct report_opts o = *r->o;
	struct report by_line = *r;

	if (!is_wanted(r, t))
		return 0;
	o.granularity = GRANULARITY_LINES;
	by_line.o = &o;
	return add(d, &by_line, c, e);
}
