/* SPDX-License-Identifier: Apache-2.0 */
/* -f lines: functions line by line, with the source text where --source has it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/regex.h"
#include "lib/ui/escape.h"
#include "tools/render/listing.h"
#include "tools/render/sources.h"

#define FUNCTIONS_DEFAULT 20

/* The lines of one function of one file: rows [from, from + n). */
struct group {
	size_t from, n;
	int64_t flat, cum; /* sum of the flats; the largest cum */
};

static struct str name_of(const struct listing *t, const struct row *row)
{
	const struct frame *f = &t->frames.v[row->frame];

	return f->name ? store_str(t->r->p->store, f->name) : row->name;
}

static int cmp_place(const void *a, const void *b, void *listing)
{
	const struct listing *t = listing;
	const struct row *x = a, *y = b;
	const struct frame *f = &t->frames.v[x->frame], *g = &t->frames.v[y->frame];
	int c = str_cmp(name_of(t, x), name_of(t, y));

	if (!c)
		c = str_cmp(store_str(t->r->p->store, f->file),
			    store_str(t->r->p->store, g->file));
	if (!c)
		c = (f->line > g->line) - (f->line < g->line);
	return c;
}

static bool is_same_function(const struct listing *t, const struct row *a,
			     const struct row *b)
{
	return t->frames.v[a->frame].file == t->frames.v[b->frame].file &&
	       !str_cmp(name_of(t, a), name_of(t, b));
}

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

static int cmp_magnitude(int64_t a, int64_t b)
{
	return (magnitude(a) < magnitude(b)) - (magnitude(a) > magnitude(b));
}

/* Largest first; groups were made in order of names. */
static int cmp_group(const void *a, const void *b, void *by_cum)
{
	const struct group *x = a, *y = b;
	int c = cmp_magnitude(x->flat, y->flat), d = cmp_magnitude(x->cum, y->cum);

	if (by_cum)
		c = d ? d : c;
	else if (!c)
		c = d;
	return c ? c : (x->from > y->from) - (x->from < y->from);
}

/* Sorts the rows by place. The functions that match, those with most first. */
static struct group *make_groups(const struct listing *t, struct regex *re, size_t *n)
{
	struct row *v = t->rows.v;
	struct group *groups = xcalloc(t->rows.n + 1, sizeof(*groups)), *g;
	size_t i;
	struct str name;

	*n = 0;
	qsort_r(v, t->rows.n, sizeof(*v), cmp_place, (void *)t);
	for (i = 0; i < t->rows.n; i += g->n) {
		g = &groups[*n];
		*g = (struct group){.from = i};
		do {
			g->flat += v[i + g->n].flat;
			if (magnitude(v[i + g->n].cum) > magnitude(g->cum))
				g->cum = v[i + g->n].cum;
			g->n++;
		} while (i + g->n < t->rows.n &&
			 is_same_function(t, &v[i], &v[i + g->n]));
		name = name_of(t, &v[i]);
		*n += !re || regex_match(re, name.p, name.n);
	}
	qsort_r(groups, *n, sizeof(*groups), cmp_group,
		t->r->o->rows.by_cum ? groups : NULL);
	return groups;
}

/* --- writing ------------------------------------------------------------------------------ */

static void put_line(const struct listing *t, const struct row *row, int64_t number,
		     const struct source_file *source)
{
	char text[UNITS_TEXT_MAX];
	struct buf line = BUF_INIT(SIZE_MAX / 2);

	buf_printf(t->out, "%10s ", row ? listing_value(t, row->flat, text) : ".");
	buf_printf(t->out, "%10s ", row ? listing_value(t, row->cum, text) : ".");
	if (number)
		buf_printf(t->out, "%6" PRId64, number);
	else
		buf_printf(t->out, "%6s", "?");
	source_file_line(source, number, &line);
	if (line.len) {
		buf_puts(t->out, "  ");
		buf_put(t->out, line.data, line.len);
	}
	buf_putc(t->out, '\n');
	buf_release(&line);
}

/* Each line with a value, and of the source what is around it. */
static void put_lines(const struct listing *t, const struct group *g,
		      const struct source_file *source)
{
	const struct row *v = &t->rows.v[g->from];
	int64_t done = 0, at, line, next;
	size_t i;

	for (i = 0; i < g->n; i++) {
		line = t->frames.v[v[i].frame].line;
		if (line < 1 || (uint64_t)line > source->n) {
			put_line(t, &v[i], line, source);
			continue;
		}
		at = line > done + SOURCE_AROUND ? line - SOURCE_AROUND : done + 1;
		if (done && at > done + 1)
			buf_puts(t->out, "       ...\n");
		for (; at < line; at++)
			put_line(t, NULL, at, source);
		put_line(t, &v[i], line, source);
		next = i + 1 < g->n ? t->frames.v[v[i + 1].frame].line : INT64_MAX;
		for (at++;
		     at <= line + SOURCE_AROUND && at < next && (uint64_t)at <= source->n;
		     at++)
			put_line(t, NULL, at, source);
		done = at - 1;
	}
}

static void put_group(const struct listing *t, const struct group *g)
{
	const struct row *first = &t->rows.v[g->from];
	const struct frame *f = &t->frames.v[first->frame];
	struct str name = name_of(t, first), file = store_str(t->r->p->store, f->file);
	const struct report_opts *o = t->r->o;
	struct source_file source;
	char text[UNITS_TEXT_MAX];
	const char *percent;
	int none = source_file_read(&source, o->sources, o->nsources, file);

	buf_putc(t->out, '\n');
	escape_terminal(t->out, name.p, name.n);
	if (file.n) {
		buf_puts(t->out, " in ");
		escape_terminal(t->out, file.p, file.n);
	}
	if (file.n && o->nsources && none)
		buf_puts(t->out, " (no source)");
	buf_printf(t->out, "\nflat %s, ", listing_value(t, g->flat, text));
	percent = units_percent(g->flat, t->weights.total, text);
	buf_printf(t->out, "%s\n", percent + strspn(percent, " "));
	buf_printf(t->out, "%10s %10s %6s\n", "flat", "cum", "line");
	put_lines(t, g, &source);
	source_file_release(&source);
}

static int put_all(const struct listing *t, struct regex *re, struct err *e)
{
	size_t most = t->r->o->rows.top, n, i;
	struct group *groups = make_groups(t, re, &n);

	if (!t->r->o->top_given && !re)
		most = FUNCTIONS_DEFAULT;
	listing_put_heading(t);
	for (i = 0; i < n && (!most || i < most); i++)
		put_group(t, &groups[i]);
	if (i < n)
		buf_printf(t->out, "\n%zu more functions (-n, --function)\n", n - i);
	free(groups);
	if (re && !n)
		return err_set(e, ENOENT, "no function matches \"%s\"",
			       t->r->o->function);
	return 0;
}

int report_lines(const struct report *r, struct buf *out, struct err *e)
{
	struct report_opts o = *r->o;
	struct report by_line = *r;
	struct rows_opts all = {.by_cum = o.rows.by_cum};
	struct regex *re = NULL;
	struct listing t = {0};
	int ret = 0;

	if (o.granularity != GRANULARITY_FUNCTIONS && o.granularity != GRANULARITY_LINES)
		return err_set(
			e, EINVAL,
			"lines shows functions line by line: no other --granularity");
	o.granularity = GRANULARITY_LINES;
	by_line.o = &o;
	ret = sources_check(o.sources, o.nsources, e);
	if (ret)
		return ret;
	if (o.function)
		ret = regex_new(o.function, strlen(o.function), false, &re, e);
	if (ret < 0)
		return err_prefix(e, "--function");
	ret = listing_init(&t, &by_line, &all, out, e);
	if (!ret)
		ret = put_all(&t, re, e);
	if (re && (!ret || ret == -ENOENT))
		ret = regex_status(re, e) ?: ret;
	listing_release(&t);
	regex_free(re);
	return ret;
}
