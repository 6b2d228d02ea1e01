/* SPDX-License-Identifier: Apache-2.0 */
/* -f timeline: a row for each interval and label set, as RFC 4180 has it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/query/rooted.h"
#include "lib/query/weights.h"
#include "lib/ui/escape.h"
#include "tools/render/report.h"

struct point {
	int64_t sum;
	bool seen; /* in the bin that is being added up */
};

struct lines {
	const struct report *r;
	struct intern keys; /* labels as they are written: ",a,b" */
	struct point *v;    /* by key */
	size_t cap;
	struct buf key, text;
};

static struct point *line_of(struct lines *l, uint32_t labelset)
{
	const struct report_opts *o = l->r->o;
	size_t had = l->keys.n, i;
	uint32_t id;

	buf_clear(&l->key);
	for (i = 0; i < o->nby; i++) {
		label_values(l->r->p->store, labelset, o->by[i], &l->text);
		buf_putc(&l->key, ',');
		escape_csv(&l->key, buf_str(&l->text), l->text.len);
	}
	id = intern_put(&l->keys, buf_str(&l->key), l->key.len);
	XRESERVE(l->v, l->cap, l->keys.n);
	for (; had < l->keys.n; had++)
		l->v[had] = (struct point){0};
	return &l->v[id];
}

static int add_profile(struct lines *l, const struct profile *p, struct err *e)
{
	struct point *line;
	int64_t v;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		v = profile_values(p, i)[l->r->column];
		if (query_filter(l->r->q, p->store, p->samples[i].stack) == SAMPLE_DROP)
			continue;
		line = line_of(l, p->samples[i].labelset);
		line->seen = true;
		if (__builtin_add_overflow(line->sum, v, &line->sum))
			return err_set(
				e, EOVERFLOW, "a sum of %s does not fit 64 bits",
				store_cstr(p->store, p->h.types[l->r->column].type));
	}
	return 0;
}

static int by_key(const void *a, const void *b, void *keys)
{
	return str_cmp(intern_str(keys, *(const uint32_t *)a),
		       intern_str(keys, *(const uint32_t *)b));
}

/* CPU time as cores, other amounts per second, levels as the mean of the profiles. */
static double rate_of(const struct report *r, const struct bin *b, int64_t sum)
{
	const struct profile *p = r->p;
	const char *unit = store_cstr(p->store, p->h.types[r->column].unit);

	if (type_is_gauge(p, r->column))
		return (double)sum / (double)b->merged;
	return (double)sum / (double)b->wall_ns * (strcmp(unit, "nanoseconds") ? 1e9 : 1);
}

static void put_row(const struct lines *l, const struct bin *b, const char *when,
		    struct str key, int64_t sum, struct buf *out)
{
	const struct profile *p = l->r->p;
	const struct value_type *t = &p->h.types[l->r->column];
	struct str type = store_str(p->store, t->type),
		   unit = store_str(p->store, t->unit);

	buf_puts(out, when);
	buf_putc(out, ',');
	if (b)
		buf_printf(out, "%.9g,%" PRId64, (double)b->wall_ns / 1e9, b->merged);
	else
		buf_putc(out, ',');
	buf_put(out, key.p, key.n);
	buf_putc(out, ',');
	escape_csv(out, type.p, type.n);
	buf_putc(out, ',');
	escape_csv(out, unit.p, unit.n);
	buf_printf(out, ",%" PRId64 ",", sum);
	if (b)
		buf_printf(out, "%.9g", rate_of(l->r, b, sum));
	buf_puts(out, "\r\n");
}

/* The lines of one bin, or of what has no time (b NULL), by label; they start anew after. */
static void put_bin(struct lines *l, const struct bin *b, struct buf *out)
{
	uint32_t *order = xcalloc(l->keys.n + 1, sizeof(*order));
	char when[NUM_TIME_MAX] = "";
	size_t i;

	if (b)
		num_format_time(b->start_ns, when);
	for (i = 0; i < l->keys.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, l->keys.n, sizeof(*order), by_key, &l->keys);
	for (i = 0; i < l->keys.n; i++) {
		if (l->v[order[i]].seen)
			put_row(l, b, when, intern_str(&l->keys, order[i]),
				l->v[order[i]].sum, out);
		l->v[order[i]] = (struct point){0};
	}
	free(order);
}

static int put_type(const struct report *r, const struct timeline_type *type,
		    struct buf *out, struct err *e)
{
	struct lines l = {
		.r = r, .key = BUF_INIT(SIZE_MAX / 2), .text = BUF_INIT(SIZE_MAX / 2)};
	struct bins bins;
	int ret = 0;
	size_t i, k;

	intern_init(&l.keys);
	XRESERVE(l.v, l.cap, l.keys.n + 1);
	memset(l.v, 0, l.cap * sizeof(*l.v));
	bins_init(&bins, type, TIMELINE_MOMENTS);
	for (i = 0; i < bins.n && !ret; i++) {
		for (k = 0; k < bins.v[i].n && !ret; k++)
			ret = add_profile(&l, type->v[bins.v[i].first + k].p, e);
		put_bin(&l, &bins.v[i], out);
	}
	if (type->timeless.p && !ret) {
		ret = add_profile(&l, type->timeless.p, e);
		put_bin(&l, NULL, out);
	}
	bins_release(&bins);
	intern_release(&l.keys);
	free(l.v);
	buf_release(&l.key);
	buf_release(&l.text);
	return ret ? ret : query_status(r->q, e);
}

int report_timeline(const struct report *r, size_t n, struct buf *out, struct err *e)
{
	const struct timeline_type *type;
	int ret = 0;
	size_t i;

	buf_puts(out, "time,seconds,profiles");
	for (i = 0; i < r->o->nby; i++) {
		buf_putc(out, ',');
		escape_csv(out, r->o->by[i], strlen(r->o->by[i]));
	}
	buf_puts(out, ",type,unit,value,rate\r\n");
	for (i = 0; i < n && !ret; i++) {
		type = timeline_find(r[i].timeline, &r[i].p->h);
		if (type)
			ret = put_type(&r[i], type, out, e);
	}
	return ret;
}
