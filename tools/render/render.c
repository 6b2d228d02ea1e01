/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, merging and handing out to the formats. */
#include "tools/render/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/pprof/merge.h"
#include "lib/pprof/source.h"
#include "lib/ui/input.h"
#include "lib/ui/queryopt.h"
#include "lib/ui/units.h"
#include "tools/render/html.h"
#include "tools/render/text.h"

struct render_format {
	const char *name;
	const char *ending; /* of -o's FILE; NULL: only by -f */
	int (*report)(const struct report *r, struct buf *out, struct err *e);
	bool many; /* several types follow one another in one document */
	/* or all types, the first one to be shown first */
	int (*page)(const struct report *r, size_t n, struct buf *out, struct err *e);
};

static const struct render_format formats[] = {
	{"table", ".txt", report_table, true, NULL},
	{"text", NULL, NULL, true, NULL},
	{"folded", ".folded", report_folded, false, NULL},
	{"svg", ".svg", report_svg, false, NULL},
	{"html", ".html", NULL, true, report_html},
	{"tree", NULL, report_tree, true, NULL},
	{"peek", NULL, report_peek, true, NULL},
	{"tags", NULL, report_tags, true, NULL},
	{"csv", ".csv", report_csv, false, NULL},
	{"json", ".json", NULL, true, report_json},
	{"markdown", ".md", report_markdown, true, NULL},
	{"speedscope", ".speedscope.json", NULL, true, report_speedscope},
};

const struct render_format *render_format_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

static const struct render_format *format_by_ending(const char *file)
{
	const struct render_format *best = NULL; /* "x.speedscope.json" fits two */
	size_t n = strlen(file), len, i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!formats[i].ending)
			continue;
		len = strlen(formats[i].ending);
		if (n > len && !strcmp(file + n - len, formats[i].ending) &&
		    (!best || len > strlen(best->ending)))
			best = &formats[i];
	}
	return best;
}

static int choose_format(struct render_opts *o, struct err *e)
{
	if (o->format)
		return 0;
	if (!o->cli.output || !strcmp(o->cli.output, "-")) {
		o->format = render_format_by_name("table");
		return 0;
	}
	o->format = format_by_ending(o->cli.output);
	if (!o->format)
		return err_set(e, EINVAL,
			       "%s: the ending names no format (.txt, .folded, .svg, "
			       ".html, .csv, .json, .md); use -f",
			       o->cli.output);
	return 0;
}

/* "cpu/nanoseconds, samples/count" of all results, for the choice that has to be made. */
static void put_types(struct buf *b, struct profile **v, size_t n)
{
	const struct header *h;
	size_t i, k;

	for (i = 0; i < n; i++) {
		h = &v[i]->h;
		for (k = 0; k < h->ntypes; k++)
			buf_printf(b, "%s%s/%s", b->len ? ", " : "",
				   store_cstr(v[i]->store, h->types[k].type),
				   store_cstr(v[i]->store, h->types[k].unit));
	}
}

static int too_many_types(const struct render_opts *o, struct profile **v, size_t n,
			  struct err *e)
{
	struct buf types = BUF_INIT(700); /* what fits into a message */
	int r;

	put_types(&types, v, n);
	r = err_set(e, EINVAL,
		    "%s shows one profile type, the input has %zu; choose by -t: %s%s",
		    o->format->name, n, buf_str(&types), types.overflow ? ", ..." : "");
	buf_release(&types);
	return r;
}

/* A unit that is none for one type may be one for another; for all it is a mistake. */
static int check_unit(const struct report *r, size_t n, struct err *e)
{
	const char *unit = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		unit = store_cstr(r[i].p->store, r[i].p->h.types[r[i].column].unit);
		if (units_fit(unit, r->o->unit))
			return 0;
	}
	return err_set(e, EINVAL, "--unit=%s does not suit values in %s", r->o->unit,
		       unit && *unit ? unit : "nothing");
}

static int report_each(const struct render_format *f, const struct report *r, size_t n,
		       struct buf *out, struct err *e)
{
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		if (i)
			buf_putc(out, '\n');
		ret = f->report(&r[i], out, e);
		if (ret)
			return ret;
	}
	return 0;
}

static int report_all(struct render_opts *o, struct merger *m, struct buf *out,
		      struct err *e)
{
	struct report *r;
	struct profile **v;
	size_t n, i;
	int ret;

	v = merger_results(m, &n);
	if (n > 1 && !o->format->many)
		return too_many_types(o, v, n, e);
	r = xcalloc(n, sizeof(*r));
	for (i = 0; i < n; i++)
		r[i] = (struct report){
			&o->report, o->q, v[i],
			(size_t)query_type_index(o->q, v[i]->store, &v[i]->h)};
	ret = check_unit(r, n, e);
	if (!ret)
		ret = o->format->page ? o->format->page(r, n, out, e)
				      : report_each(o->format, r, n, out, e);
	free(r);
	if (!ret && out->overflow)
		return err_set(e, E2BIG, "the output is too large");
	return ret;
}

static int add_message(void *merger, const uint8_t *msg, size_t n, struct err *e)
{
	return merger_add(merger, msg, n, e);
}

static int read_all(struct render_opts *o, struct source *s, struct merger *m,
		    struct err *e)
{
	size_t good;
	int r = input_read(&o->cli, s, add_message, m, &good, e);

	if (!r)
		r = query_status(o->q, e);
	return r ? r : query_taken_status(o->q, e);
}

/* Stored frame expressions have been applied or turned off: they part the types no more. */
static int take(void *query, struct store *st, struct header *h)
{
	int taken = query_take(query, st, h);

	h->drop_frames = h->keep_frames = 0;
	return taken;
}

/* Add everything up, then write one document. */
static int render_merged(struct render_opts *o, struct source *s, struct err *e)
{
	struct buf out = BUF_INIT(SIZE_MAX / 2);
	struct output *file = NULL;
	struct merge_opts mo = {.take = take, .ctx = o->q, .max_size = o->cli.max_size};
	struct merger *m;
	int r;

	query_set_stored_frames(o->q, !o->all_frames);
	query_defer_filters(o->q);
	o->report.granularity = query_granularity(o->q);
	if (o->report.granularity == GRANULARITY_KEEP)
		o->report.granularity = GRANULARITY_FUNCTIONS;
	/* frames are made at their granularity by the report; only binaries change the stacks */
	if (o->report.granularity != GRANULARITY_BINARIES)
		query_set_granularity(o->q, GRANULARITY_KEEP);
	mo.hooks = query_hooks(o->q);
	m = merger_new(&mo);
	r = read_all(o, s, m, e);
	if (!r)
		r = report_all(o, m, &out, e);
	if (!r)
		r = output_open(o->cli.output, false, &file, e);
	if (!r)
		r = output_write(file, buf_str(&out), out.len, e);
	if (!r) {
		r = output_commit(file, e);
		file = NULL;
	}
	output_abort(file);
	merger_free(m);
	buf_release(&out);
	return r;
}

int render(struct render_opts *o, struct err *e)
{
	struct source *s;
	int r;

	r = choose_format(o, e);
	if (r)
		return r;
	s = source_new(o->files.v, o->files.n, o->cli.max_size);
	r = o->format->report || o->format->page ? render_merged(o, s, e)
						 : render_text(o, s, e);
	source_free(s);
	if (!r)
		queryopt_notes(&o->cli, o->q);
	return r;
}
