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
#include "lib/query/rooted.h"
#include "lib/ui/input.h"
#include "lib/ui/queryopt.h"
#include "lib/ui/units.h"
#include "tools/render/html.h"
#include "tools/render/text.h"
#include "tools/render/timeline.h"
#include "tools/render/unnamed.h"

struct render_format {
	const char *name;
	const char *ending; /* of -o's FILE; NULL: only by -f */
	int (*report)(const struct report *r, struct buf *out, struct err *e);
	bool many; /* several types follow one another in one document */
	/* or all types, the first one to be shown first */
	int (*page)(const struct report *r, size_t n, struct buf *out, struct err *e);
	bool by_time;	   /* wants samples by time, too */
	bool no_functions; /* shows none */
};

static const struct render_format formats[] = {
	{.name = "table", .ending = ".txt", .report = report_table, .many = true},
	{.name = "text", .many = true},
	{.name = "folded", .ending = ".folded", .report = report_folded},
	{.name = "svg", .ending = ".svg", .report = report_svg},
	{.name = "html",
	 .ending = ".html",
	 .many = true,
	 .page = report_html,
	 .by_time = true},
	{.name = "tree", .report = report_tree, .many = true},
	{.name = "peek", .report = report_peek, .many = true},
	{.name = "lines", .report = report_lines, .many = true},
	{.name = "tags", .report = report_tags, .many = true, .no_functions = true},
	{.name = "csv", .ending = ".csv", .report = report_csv},
	{.name = "json", .ending = ".json", .many = true, .page = report_json},
	{.name = "markdown", .ending = ".md", .report = report_markdown, .many = true},
	{.name = "timeline",
	 .many = true,
	 .page = report_timeline,
	 .by_time = true,
	 .no_functions = true},
	{.name = "speedscope",
	 .ending = ".speedscope.json",
	 .many = true,
	 .page = report_speedscope},
	{.name = "grafana", .ending = ".grafana.json", .report = report_grafana},
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

/* --root-by: what was read, and the same by time. */
static int root_all(const struct render_opts *o, struct profile **v, size_t n,
		    struct timeline *t, struct err *e)
{
	size_t i;
	int r = 0;

	if (!o->root_by.n)
		return 0;
	for (i = 0; i < n && !r; i++)
		r = profile_root_by(v[i], o->root_by.v, o->root_by.n, e);
	return r || !t ? r : timeline_root_by(t, o->root_by.v, o->root_by.n, e);
}

/* Once, where functions are shown and most are missing. */
static void note_unnamed(struct render_opts *o, const struct report *r, size_t n)
{
	size_t i;

	if (o->noted_unnamed || o->format->no_functions ||
	    o->report.granularity == GRANULARITY_ADDRESSES ||
	    o->report.granularity == GRANULARITY_BINARIES)
		return;
	for (i = 0; i < n; i++) {
		if (!is_unnamed(&r[i]))
			continue;
		cli_note(&o->cli, "most frames have no function names: prof-symbolize "
				  "names them, and its -v tells which files it lacks");
		o->noted_unnamed = true;
		return;
	}
}

static int report_all(struct render_opts *o, struct merger *m, struct timeline *t,
		      struct buf *out, struct err *e)
{
	struct report *r;
	struct profile **v;
	size_t n, i;
	int ret;

	v = merger_results(m, &n);
	if (n > 1 && !o->format->many)
		return too_many_types(o, v, n, e);
	ret = root_all(o, v, n, t, e);
	if (ret)
		return ret;
	r = xcalloc(n, sizeof(*r));
	for (i = 0; i < n; i++)
		r[i] = (struct report){
			&o->report, o->q, v[i],
			(size_t)query_type_index(o->q, v[i]->store, &v[i]->h), t};
	ret = check_unit(r, n, e);
	if (!ret)
		ret = o->format->page ? o->format->page(r, n, out, e)
				      : report_each(o->format, r, n, out, e);
	if (!ret)
		note_unnamed(o, r, n);
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

/* What the hooks see: the query, and the timeline where one is wanted. */
struct reading {
	struct query *q;
	struct sample_hooks hooks; /* of the query */
	struct timeline *timeline; /* or NULL */
};

static uint32_t choose_labelset(void *ctx, struct store *st, uint32_t labelset)
{
	struct reading *r = ctx;

	return r->hooks.labelset ? r->hooks.labelset(r->hooks.ctx, st, labelset)
				 : labelset;
}

static uint32_t choose_stack(void *ctx, struct store *st, uint32_t stack)
{
	struct reading *r = ctx;

	return r->hooks.stack ? r->hooks.stack(r->hooks.ctx, st, stack) : stack;
}

static void note_sample(void *ctx, uint32_t stack, uint32_t labelset,
			const int64_t *values)
{
	struct reading *r = ctx;

	timeline_sample(r->timeline, stack, labelset, values);
}

/* Stored frame expressions have been applied or turned off: they part the types no more. */
static int take(void *ctx, struct store *st, struct header *h)
{
	struct reading *r = ctx;
	int taken = query_take(r->q, st, h);

	h->drop_frames = h->keep_frames = 0;
	if (taken && r->timeline)
		timeline_begin(r->timeline, st, h);
	return taken;
}

static struct sample_hooks hooks_of(struct reading *r)
{
	r->hooks = query_hooks(r->q);
	if (!r->timeline)
		return r->hooks;
	return (struct sample_hooks){.ctx = r,
				     .labelset = choose_labelset,
				     .stack = choose_stack,
				     .sample = note_sample};
}

/* Filters are for the reports, but for what they make of the stacks themselves. */
static void prepare_query(struct render_opts *o)
{
	query_set_stored_frames(o->q, !o->all_frames);
	query_defer_filters(o->q);
	o->report.granularity = query_granularity(o->q);
	if (o->report.granularity == GRANULARITY_KEEP)
		o->report.granularity = GRANULARITY_FUNCTIONS;
	/* frames are made at their granularity by the report; only binaries change the stacks */
	if (o->report.granularity != GRANULARITY_BINARIES)
		query_set_granularity(o->q, GRANULARITY_KEEP);
}

static struct merger *new_merger(const struct render_opts *o, struct reading *reading)
{
	struct merge_opts mo = {.take = take,
				.ctx = reading,
				.hooks = hooks_of(reading),
				.max_size = o->cli.max_size};

	return merger_new(&mo);
}

/* --- a document of each profile ----------------------------------------------------------- */

/* Nothing of a profile that the options leave out. */
static int show_one(struct render_opts *o, const uint8_t *msg, size_t n, bool first,
		    struct buf *out, struct err *e)
{
	struct reading reading = {.q = o->q};
	struct merger *m = new_merger(o, &reading);
	size_t results;
	int r;

	query_reset(o->q);
	r = merger_add(m, msg, n, e);
	if (!r)
		r = query_status(o->q, e);
	if (!r) {
		merger_results(m, &results);
		if (results && !first)
			buf_putc(out, '\n');
		if (results)
			r = report_all(o, m, NULL, out, e);
	}
	merger_free(m);
	return r;
}

/* As they come: a table of each interval of a running pipeline. */
static int render_follow(struct render_opts *o, struct source *s, struct err *e)
{
	prepare_query(o);
	return render_each(o, s, show_one, e);
}

/* --- one document of all ------------------------------------------------------------------ */

/* Add everything up, then write one document. */
static int render_merged(struct render_opts *o, struct source *s, struct err *e)
{
	struct buf out = BUF_INIT(SIZE_MAX / 2);
	struct output *file = NULL;
	struct timeline timeline;
	struct reading reading = {.q = o->q,
				  .timeline = o->format->by_time ? &timeline : NULL};
	struct merger *m;
	int r;

	prepare_query(o);
	timeline_init(&timeline);
	m = new_merger(o, &reading);
	r = read_all(o, s, m, e);
	timeline_end(&timeline);
	if (!r)
		r = timeline_status(&timeline, e);
	if (!r)
		r = report_all(o, m, &timeline, &out, e);
	if (!r)
		r = output_open(o->cli.output, false, &file, e);
	if (!r)
		r = output_write(file, buf_str(&out), out.len, e);
	if (!r) {
		r = output_commit(file, e);
		file = NULL;
	}
	output_abort(file);
	timeline_release(&timeline);
	merger_free(m);
	buf_release(&out);
	return r;
}

/* That the format can do what is asked of it. */
static int check_format(const struct render_opts *o, struct err *e)
{
	const struct render_format *f = o->format;

	if (o->root_by.n && !f->report && !f->page)
		return err_set(e, EINVAL,
			       "--root-by changes stacks, which -f %s does not", f->name);
	if (o->by.n && !f->by_time)
		return err_set(e, EINVAL,
			       "--by is for -f timeline and -f html, not for -f %s; "
			       "--root-by puts label values above the root of stacks",
			       f->name);
	if (o->report.nsources && f->page != report_html && f->report != report_lines)
		return err_set(e, EINVAL,
			       "--source is for -f lines and -f html, not for -f %s",
			       f->name);
	if (o->report.interactive && f->report != report_svg)
		return err_set(e, EINVAL, "--interactive is for -f svg, not for -f %s",
			       f->name);
	if (o->follow && (!f->report || !f->many))
		return err_set(e, EINVAL,
			       "--follow shows tables as they come, which -f %s is not",
			       f->name);
	return 0;
}

int render(struct render_opts *o, struct err *e)
{
	struct source *s;
	int r;

	r = choose_format(o, e);
	if (!r)
		r = check_format(o, e);
	if (r)
		return r;
	s = source_new(o->files.v, o->files.n, o->cli.max_size);
	if (o->follow)
		r = render_follow(o, s, e);
	else
		r = o->format->report || o->format->page ? render_merged(o, s, e)
							 : render_text(o, s, e);
	source_free(s);
	if (!r)
		queryopt_notes(&o->cli, o->q);
	return r;
}
