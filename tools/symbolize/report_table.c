/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for people: a table with a row for each object, then what would help where
 * something is missing. Fits 80 columns, but for paths.
 */
#include <stdio.h>
#include <string.h>

#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "tools/symbolize/report.h"
#include "tools/symbolize/rewrite.h"

#define FILE_COLUMNS 24

struct cell { /* a count and what it is of */
	const char *name;
	uint64_t n;
};

struct row {
	const char *file;
	uint64_t addresses;
	struct cell by[SYM_NSOURCES], why[SYM_NREASONS];
	size_t nby, nwhy;
};

static void put_escaped(struct buf *b, const char *s)
{
	escape_terminal(b, s, strlen(s));
}

static void put_file_cell(struct buf *b, const char *file)
{
	struct buf text = BUF_INIT(1 << 16), cut = BUF_INIT(1 << 16);
	const char *slash = strrchr(file, '/');
	size_t columns;

	put_escaped(&text, slash && slash[1] ? slash + 1 : file);
	name_cut(&cut, buf_str(&text), text.len, FILE_COLUMNS);
	columns = name_width(buf_str(&cut), cut.len);
	buf_put(b, cut.data, cut.len);
	for (; columns < FILE_COLUMNS; columns++)
		buf_putc(b, ' ');
	buf_release(&text);
	buf_release(&cut);
}

static void put_cell(struct buf *b, const struct cell *v, size_t n, size_t i, int width)
{
	if (i < n)
		buf_printf(b, "  %-*s%7llu", width, v[i].name,
			   (unsigned long long)v[i].n);
	else
		buf_printf(b, "  %*s", width + 7, "");
}

static void put_row(struct buf *b, const struct row *r)
{
	size_t n = r->nby > r->nwhy ? r->nby : r->nwhy, i;

	for (i = 0; i < n || !i; i++) {
		if (i)
			buf_printf(b, "%*s", FILE_COLUMNS + 10, "");
		else
			put_file_cell(b, r->file);
		if (!i)
			buf_printf(b, "%10llu", (unsigned long long)r->addresses);
		put_cell(b, r->by, r->nby, i, 10);
		put_cell(b, r->why, r->nwhy, i, 18);
		while (b->len && b->data[b->len - 1] == ' ')
			b->len--;
		buf_putc(b, '\n');
	}
}

/* Adds the entry to the sums, too. */
static struct row row_of(const struct entry *en, uint64_t sum[3])
{
	struct row r = {.file = en->path, .addresses = en->addresses};
	size_t i;

	for (i = 0; i < SYM_NSOURCES; i++)
		if (en->named[i]) {
			r.by[r.nby++] = (struct cell){sym_source_name(i), en->named[i]};
			sum[1] += en->named[i];
		}
	for (i = SYM_OK + 1; i < SYM_NREASONS; i++)
		if (en->reasons[i])
			r.why[r.nwhy++] =
				(struct cell){sym_reason_name(i), en->reasons[i]};
	sum[0] += en->addresses;
	sum[2] += en->bare;
	return r;
}

static void put_jit(struct buf *b, const struct jitnames *j, uint64_t sum[3])
{
	struct row r = {.file = "(in no file)", .addresses = j->addresses};

	if (j->named)
		r.by[r.nby++] = (struct cell){"perf-map", j->named};
	if (j->addresses > j->named)
		r.why[r.nwhy++] = (struct cell){"no-function", j->addresses - j->named};
	put_row(b, &r);
	sum[0] += j->addresses;
	sum[1] += j->named;
	sum[2] += j->addresses - j->named;
}

static void put_sum(struct buf *b, const uint64_t sum[3], const struct coverage *c)
{
	struct row r = {.file = "(all)", .addresses = sum[0]};

	if (sum[1])
		r.by[r.nby++] = (struct cell){"named", sum[1]};
	if (sum[2])
		r.why[r.nwhy++] = (struct cell){"unnamed", sum[2]};
	put_row(b, &r);
	if (c->total > 0)
		buf_printf(b, "%.2f%% of the samples' value has a name at its leaf.\n",
			   100 * c->named / c->total);
}

static void put_detail(struct buf *b, const char *what, const char *text)
{
	if (!text || !text[0])
		return;
	buf_printf(b, "  %s", what);
	put_escaped(b, text);
	buf_putc(b, '\n');
}

static void put_part(struct buf *b, const char *what,
		     void (*put)(struct buf *, const struct entry *),
		     const struct entry *en)
{
	struct buf text = BUF_INIT(1 << 20);

	put(&text, en);
	if (text.len)
		put_detail(b, what, buf_str(&text));
	buf_release(&text);
}

static void put_looked_at(struct buf *b, const struct entry *en)
{
	const char *path, *result;
	size_t at = 0;

	while (object_tried(en->object, &at, &path, &result)) {
		buf_puts(b, "  looked at ");
		put_escaped(b, path);
		buf_puts(b, ": ");
		put_escaped(b, result);
		buf_putc(b, '\n');
	}
}

/* Which files were used, and where something is missing, what would help. */
static void put_details(struct buf *b, const struct entry *en)
{
	const char *path = object_path(en->object),
		   *debug = object_debug_path(en->object);

	buf_putc(b, '\n');
	put_escaped(b, en->path);
	buf_puts(b, en->build_id[0] ? ", build id " : ", no build id");
	put_escaped(b, en->build_id);
	buf_putc(b, '\n');
	if (path && strcmp(path, en->path) != 0)
		put_detail(b, "binary ", path);
	if (debug != path)
		put_detail(b, "debug file ", debug);
	if (path && !object_is_verified(en->object))
		put_detail(b, "", "unverified: the mapping has no build id");
	if (en->anonymous)
		buf_printf(b, "  %llu of them in anonymous memory between its pieces\n",
			   (unsigned long long)en->anonymous);
	put_detail(b, "", object_trouble(en->object));
	put_part(b, "wanted: ", report_wanted, en);
	put_part(b, "lines would need ", report_lines_file, en);
	if (!path || !object_has_lines(en->object) || object_trouble(en->object)[0] ||
	    en->reasons[SYM_DWO_MISSING] || en->reasons[SYM_ALT_MISSING])
		put_looked_at(b, en);
}

void report_table(const struct cli *cli, const struct objects *o,
		  const struct jitnames *j, const struct coverage *c)
{
	struct buf b = BUF_INIT(64 << 20);
	uint64_t sum[3] = {0};
	size_t i;

	if (!cli->verbose || (!o->n && !j->n))
		return;
	buf_printf(&b, "%-*s%10s  %-17s  %s\n", FILE_COLUMNS, "file", "addresses",
		   "named by", "not, or not fully");
	for (i = 0; i < o->n; i++) {
		struct row r = row_of(&o->v[i], sum);

		if (!o->v[i].quiet)
			put_row(&b, &r);
	}
	if (j->n)
		put_jit(&b, j, sum);
	put_sum(&b, sum, c);
	for (i = 0; i < o->n; i++)
		if (!o->v[i].quiet)
			put_details(&b, &o->v[i]);
	fwrite(b.data, 1, b.len, stderr);
	buf_release(&b);
}
