/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports for the machines that run tests: JUnit XML, GitHub's workflow commands, SARIF 2.1.0
 * and GitLab's code quality. Worst first, since each of them shows only so many.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "lib/ui/json.h"
#include "tools/diff/report.h"

/* GitHub shows 10 annotations of a kind, and 5000 results of SARIF. */
#define ANNOTATIONS_MAX 10
#define RESULTS_MAX 5000
#define WIDTH 200

/* --- JUnit ------------------------------------------------------------------------------- */

static void xml(struct buf *out, const char *text)
{
	escape_xml(out, text, strlen(text));
}

static const char *type_of(const struct part *p)
{
	const struct comparison *c = &p->comparison;

	return store_cstr(c->p->store, c->p->h.types[c->column].type);
}

static void put_case(const struct report *r, const struct part *p,
		     const struct gate_result *g, struct buf *out)
{
	const char *verdict = report_gate_verdict(r, p, g);
	struct buf why = BUF_INIT(SIZE_MAX / 2);

	report_gate(p, g, WIDTH, &why);
	buf_puts(out, "    <testcase classname=\"prof-diff.");
	xml(out, type_of(p));
	buf_puts(out, "\" name=\"");
	xml(out, gate_text(g->gate));
	buf_puts(out, "\">\n");
	if (!strcmp(verdict, "fail")) {
		buf_puts(out, "      <failure type=\"PerformanceRegression\" message=\"");
		xml(out, buf_str(&why));
		buf_puts(out, "\"/>\n");
	} else if (strcmp(verdict, "ok") != 0) {
		buf_printf(out, "      <skipped message=\"%s: ", verdict);
		xml(out, buf_str(&why));
		buf_puts(out, "\"/>\n");
	}
	buf_puts(out, "    </testcase>\n");
	buf_release(&why);
}

void report_junit(const struct report *r, size_t columns, struct buf *out)
{
	size_t tests = 0, failures = 0, skipped = 0, i, k;

	(void)columns;
	for (i = 0; i < r->nparts; i++) {
		for (k = 0; k < r->parts[i].nresults; k++) {
			const char *v = report_gate_verdict(r, &r->parts[i],
							    &r->parts[i].results[k]);

			tests++;
			failures += !strcmp(v, "fail");
			skipped += strcmp(v, "fail") && strcmp(v, "ok");
		}
	}
	buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	buf_printf(out,
		   "  <testsuite name=\"prof-diff\" tests=\"%zu\" failures=\"%zu\" "
		   "errors=\"0\" skipped=\"%zu\">\n",
		   tests, failures, skipped);
	for (i = 0; i < r->nparts; i++) {
		for (k = 0; k < r->parts[i].nresults; k++)
			put_case(r, &r->parts[i], &r->parts[i].results[k], out);
	}
	buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

/* --- functions that cost more, of all types, largest rise first ---------------------------- */

struct risen {
	const struct part *p;
	const struct diff_row *row;
	const struct finding *f;
};

static int cmp_risen(const void *a, const void *b)
{
	const struct risen *x = a, *y = b;

	if (x->f->e.difference != y->f->e.difference)
		return x->f->e.difference > y->f->e.difference ? -1 : 1;
	return str_cmp(x->row->name, y->row->name);
}

static struct risen *find_risen(const struct report *r, size_t *n)
{
	struct risen *v = NULL;
	size_t cap = 0, i, k;

	*n = 0;
	for (i = 0; i < r->nparts; i++) {
		const struct part *p = &r->parts[i];

		for (k = 0; k < p->comparison.nrows; k++) {
			const struct diff_row *row = &p->comparison.rows[k];
			const struct finding *f = &report_row(p, row)->flat;

			if (!verdict_is_rise(f->verdict))
				continue;
			XGROW(v, *n, cap);
			v[(*n)++] = (struct risen){p, row, f};
		}
	}
	if (*n)
		qsort(v, *n, sizeof(*v), cmp_risen);
	return v;
}

/* "fib costs 3.20% of the base's total more (3.15% to 3.27%)". */
static void describe(const struct risen *x, struct buf *out)
{
	escape_terminal(out, x->row->name.p, x->row->name.n);
	buf_printf(out, " costs %.2f%% of the base's %s more (%+.2f%% to %+.2f%%)%s",
		   x->f->e.difference * 100, type_of(x->p), x->f->low * 100,
		   x->f->high * 100,
		   x->p->evidence.single ? ", by one profile a side" : "");
}

/* Where a function is, as far as is known: a file, else its binary, else its own name. */
static struct str path_of(const struct risen *x, int64_t *line)
{
	const struct frame *f = &x->p->comparison.frames.v[x->row->frame];
	const struct store *st = x->p->comparison.p->store;

	*line = f->where_file && f->where_line > 0 ? f->where_line : 1;
	if (f->where_file)
		return store_str(st, f->where_file);
	return f->module ? path_base(store_str(st, f->module)) : x->row->name;
}

/* --- GitHub's workflow commands ----------------------------------------------------------- */

/* What would end the line or the message. */
static void put_escaped(struct buf *out, const char *p, size_t n)
{
	struct buf clean = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	escape_terminal(&clean, p, n);
	for (i = 0; i < clean.len; i++) {
		if (clean.data[i] == '%')
			buf_puts(out, "%25");
		else
			buf_putc(out, (char)clean.data[i]);
	}
	buf_release(&clean);
}

/* How many there were. */
static size_t annotate_gates(const struct report *r, const char *kind, const char *a,
			     const char *b, struct buf *out)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);
	size_t i, k, n = 0;

	for (i = 0; i < r->nparts; i++) {
		const struct part *p = &r->parts[i];

		for (k = 0; k < p->nresults && n < ANNOTATIONS_MAX; k++) {
			const char *v = report_gate_verdict(r, p, &p->results[k]);

			if (strcmp(v, a) != 0 && strcmp(v, b) != 0)
				continue;
			n++;
			buf_clear(&text);
			buf_printf(&text, "%s: %s: %s: ", type_of(p),
				   gate_text(p->results[k].gate), v);
			report_gate(p, &p->results[k], WIDTH, &text);
			buf_printf(out, "::%s title=prof-diff gate::", kind);
			put_escaped(out, buf_str(&text), text.len);
			buf_putc(out, '\n');
		}
	}
	buf_release(&text);
	return n;
}

void report_github(const struct report *r, size_t columns, struct buf *out)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);
	struct risen *v;
	size_t n, i, notices;

	(void)columns;
	annotate_gates(r, "error", "fail", "fail", out);
	annotate_gates(r, "warning", "warn", "advisory", out);
	notices = annotate_gates(r, "notice", "inconclusive", "waived", out);
	v = find_risen(r, &n);
	for (i = 0; i < n && notices < ANNOTATIONS_MAX; i++, notices++) {
		buf_clear(&text);
		describe(&v[i], &text);
		buf_puts(out, "::notice title=prof-diff::");
		put_escaped(out, buf_str(&text), text.len);
		buf_putc(out, '\n');
	}
	free(v);
	buf_release(&text);
}

/* --- SARIF and code quality ---------------------------------------------------------------- */

/* FNV-1a: the same in every build and run, unlike the hashes of tables. */
static void put_fingerprint(const struct risen *x, char out[17])
{
	const char *type = type_of(x->p);
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; type[i]; i++)
		h = (h ^ (unsigned char)type[i]) * 0x100000001b3u;
	h *= 0x100000001b3u;
	for (i = 0; i < x->row->name.n; i++)
		h = (h ^ (unsigned char)x->row->name.p[i]) * 0x100000001b3u;
	snprintf(out, 17, "%016" PRIx64, h);
}

static void put_sarif_result(struct json *j, const struct risen *x)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);
	char fingerprint[17];
	struct str path;
	int64_t line;

	describe(x, &text);
	put_fingerprint(x, fingerprint);
	json_object(j, NULL);
	json_cstr(j, "ruleId", verdict_name(x->f->verdict));
	json_cstr(j, "level", "warning");
	json_object(j, "message");
	json_cstr(j, "text", buf_str(&text));
	json_end_object(j);
	json_array(j, "locations");
	json_object(j, NULL);
	json_object(j, "physicalLocation");
	json_object(j, "artifactLocation");
	path = path_of(x, &line);
	buf_clear(&text);
	escape_uri_path(&text, path.p, path.n);
	json_cstr(j, "uri", buf_str(&text));
	json_end_object(j);
	json_object(j, "region");
	json_int(j, "startLine", line);
	json_end_object(j);
	json_end_object(j);
	json_end_object(j);
	json_end_array(j);
	json_object(j, "partialFingerprints");
	json_cstr(j, "profpipeFunction/v1", fingerprint);
	json_end_object(j);
	json_end_object(j);
	buf_release(&text);
}

/* "The function costs more than in the base". */
static void put_rule(struct json *j, const struct report *r, enum verdict v,
		     const char *does)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);

	buf_printf(&text, "The %s %s", report_row_noun(r), does);
	json_object(j, NULL);
	json_cstr(j, "id", verdict_name(v));
	json_object(j, "shortDescription");
	json_cstr(j, "text", buf_str(&text));
	json_end_object(j);
	json_end_object(j);
	buf_release(&text);
}

void report_sarif(const struct report *r, size_t columns, struct buf *out)
{
	struct risen *v;
	struct json j;
	size_t n, i;

	(void)columns;
	v = find_risen(r, &n);
	json_init(&j, out);
	json_object(&j, NULL);
	json_cstr(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_cstr(&j, "version", "2.1.0");
	json_array(&j, "runs");
	json_object(&j, NULL);
	json_object(&j, "tool");
	json_object(&j, "driver");
	json_cstr(&j, "name", "prof-diff");
	json_cstr(&j, "version", PROFPIPE_VERSION);
	json_array(&j, "rules");
	put_rule(&j, r, VERDICT_REGRESSED, "costs more than in the base");
	put_rule(&j, r, VERDICT_NEW, "is new, and costs something");
	json_end_array(&j);
	json_end_object(&j);
	json_end_object(&j);
	json_array(&j, "results");
	for (i = 0; i < n && i < RESULTS_MAX; i++)
		put_sarif_result(&j, &v[i]);
	json_end_array(&j);
	json_end_object(&j);
	json_end_array(&j);
	json_end_object(&j);
	free(v);
}

static const char *severity_of(const struct risen *x)
{
	double d = x->f->e.difference;

	return d >= 0.05 ? "critical" : d >= 0.01 ? "major" : "minor";
}

void report_codequality(const struct report *r, size_t columns, struct buf *out)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);
	char fingerprint[17];
	struct risen *v;
	struct json j;
	size_t n, i;
	int64_t line;

	(void)columns;
	v = find_risen(r, &n);
	json_init(&j, out);
	json_array(&j, NULL);
	for (i = 0; i < n; i++) {
		buf_clear(&text);
		describe(&v[i], &text);
		put_fingerprint(&v[i], fingerprint);
		json_object(&j, NULL);
		json_cstr(&j, "description", buf_str(&text));
		json_cstr(&j, "check_name", verdict_name(v[i].f->verdict));
		json_cstr(&j, "fingerprint", fingerprint);
		json_cstr(&j, "severity", severity_of(&v[i]));
		json_object(&j, "location");
		json_str(&j, "path", path_of(&v[i], &line));
		json_object(&j, "lines");
		json_int(&j, "begin", line);
		json_end_object(&j);
		json_end_object(&j);
		json_end_object(&j);
	}
	json_end_array(&j);
	free(v);
	buf_release(&text);
}
