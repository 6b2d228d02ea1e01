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
#include "tools/render/bins.h"
#include "tools/render/report.h"
#include "tools/render/targets.h"

struct point {
	int64_t sum;
	bool seen;	/* in the bin that is being added up */
	uint32_t group; /* the targets whose label values it has */
};

/* What a bin has of the targets that do not differ in the labels of --by. */
struct group {
	int64_t wall_ns, merged;
};

struct lines {
	const struct report *r;
	const struct timeline_type *type;
	struct intern keys; /* labels as they are written: ",a,b" */
	struct point *v;    /* by key */
	size_t cap;
	struct intern group_keys; /* the same of the targets' own labels alone */
	struct group *groups;	  /* by key of a group */
	size_t groups_cap;
	uint32_t *group_of; /* by target */
	struct buf key, text;
};

static bool is_of_targets(const struct lines *l, const char *key)
{
	const struct targets *t = &l->type->targets;
	size_t i;

	for (i = 0; i < t->nkeys; i++) {
		if (!strcmp(store_cstr(l->r->p->store, t->keys[i]), key))
			return true;
	}
	return false;
}

static void put_key(struct lines *l, uint32_t labelset, bool of_targets)
{
	const struct report_opts *o = l->r->o;
	size_t i;

	buf_clear(&l->key);
	for (i = 0; i < o->nby; i++) {
		if (of_targets && !is_of_targets(l, o->by[i]))
			continue;
		label_values(l->r->p->store, labelset, o->by[i], &l->text);
		buf_putc(&l->key, ',');
		escape_csv(&l->key, buf_str(&l->text), l->text.len);
	}
}

static uint32_t group_of(struct lines *l, uint32_t labelset)
{
	size_t had = l->group_keys.n;
	uint32_t id;

	put_key(l, labelset, true);
	id = intern_put(&l->group_keys, buf_str(&l->key), l->key.len);
	XRESERVE(l->groups, l->groups_cap, l->group_keys.n);
	for (; had < l->group_keys.n; had++)
		l->groups[had] = (struct group){0};
	return id;
}

static struct point *line_of(struct lines *l, uint32_t labelset)
{
	size_t had = l->keys.n;
	uint32_t id;

	put_key(l, labelset, false);
	id = intern_put(&l->keys, buf_str(&l->key), l->key.len);
	XRESERVE(l->v, l->cap, l->keys.n);
	if (had < l->keys.n)
		l->v[id] = (struct point){.group = group_of(l, labelset)};
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
static double rate_of(const struct report *r, const struct group *g, int64_t sum)
{
	const struct profile *p = r->p;
	const char *unit = store_cstr(p->store, p->h.types[r->column].unit);

	if (type_is_gauge(p, r->column))
		return (double)sum / (double)g->merged;
	return (double)sum / (double)g->wall_ns * (strcmp(unit, "nanoseconds") ? 1e9 : 1);
}

/* g NULL: of what has no time */
static void put_row(const struct lines *l, const struct group *g, const char *when,
		    struct str key, int64_t sum, struct buf *out)
{
	const struct profile *p = l->r->p;
	const struct value_type *t = &p->h.types[l->r->column];
	struct str type = store_str(p->store, t->type),
		   unit = store_str(p->store, t->unit);

	buf_puts(out, when);
	buf_putc(out, ',');
	if (g)
		buf_printf(out, "%.9g,%" PRId64, (double)g->wall_ns / 1e9, g->merged);
	else
		buf_putc(out, ',');
	buf_put(out, key.p, key.n);
	buf_putc(out, ',');
	escape_csv(out, type.p, type.n);
	buf_putc(out, ',');
	escape_csv(out, unit.p, unit.n);
	buf_printf(out, ",%" PRId64 ",", sum);
	if (g)
		buf_printf(out, "%.9g", rate_of(l->r, g, sum));
	buf_puts(out, "\r\n");
}

/*
 * What each group has in a bin; the first, of an empty key, is that of all. A profile without
 * samples is of no target.
 */
static void set_groups(struct lines *l, const struct bins *bins, const struct bin *b)
{
	const struct bin_part *part = bins->parts + b->parts;
	struct group *g;
	size_t i;

	for (i = 0; i < l->group_keys.n; i++)
		l->groups[i] = (struct group){0};
	for (i = 0; i < b->nparts; i++) {
		if (part[i].target == TARGET_NONE)
			continue;
		g = &l->groups[l->group_of[part[i].target]];
		g->merged = sum_or_max(g->merged, part[i].merged);
		if (part[i].wall_ns > g->wall_ns)
			g->wall_ns = part[i].wall_ns;
	}
	l->groups[0] = (struct group){b->wall_ns, b->merged};
}

/* The lines of one bin, or of what has no time (b NULL), by label; they start anew after. */
static void put_bin(struct lines *l, const struct bin *b, struct buf *out)
{
	uint32_t *order = xcalloc(l->keys.n + 1, sizeof(*order));
	char when[NUM_TIME_MAX] = "";
	struct point *line;
	size_t i;

	if (b)
		num_format_time(b->start_ns, when);
	for (i = 0; i < l->keys.n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, l->keys.n, sizeof(*order), by_key, &l->keys);
	for (i = 0; i < l->keys.n; i++) {
		line = &l->v[order[i]];
		if (line->seen)
			put_row(l, b ? &l->groups[line->group] : NULL, when,
				intern_str(&l->keys, order[i]), line->sum, out);
		line->sum = 0;
		line->seen = false;
	}
	free(order);
}

static void lines_init(struct lines *l)
{
	const struct targets *t = &l->type->targets;
	size_t i;

	intern_init(&l->keys);
	intern_init(&l->group_keys);
	/* the empty key is there from the start */
	XRESERVE(l->v, l->cap, l->keys.n);
	XRESERVE(l->groups, l->groups_cap, l->group_keys.n);
	memset(l->v, 0, l->keys.n * sizeof(*l->v));
	l->group_of = xcalloc(t->n + 1, sizeof(*l->group_of));
	for (i = 0; i < t->n; i++)
		l->group_of[i] = group_of(l, t->sets[i]);
}

static void lines_release(struct lines *l)
{
	intern_release(&l->keys);
	intern_release(&l->group_keys);
	free(l->v);
	free(l->groups);
	free(l->group_of);
	buf_release(&l->key);
	buf_release(&l->text);
}

static int put_type(const struct report *r, const struct timeline_type *type,
		    struct buf *out, struct err *e)
{
	struct lines l = {.r = r,
			  .type = type,
			  .key = BUF_INIT(SIZE_MAX / 2),
			  .text = BUF_INIT(SIZE_MAX / 2)};
	struct bins bins;
	int ret = 0;
	size_t i, k;

	lines_init(&l);
	bins_init(&bins, type, TIMELINE_MOMENTS);
	for (i = 0; i < bins.n && !ret; i++) {
		set_groups(&l, &bins, &bins.v[i]);
		/* without --by an interval in which nothing was sampled has a row too */
		l.v[0].seen = !r->o->nby;
		for (k = 0; k < bins.v[i].n && !ret; k++)
			ret = add_profile(&l, type->v[bins.v[i].first + k].p, e);
		put_bin(&l, &bins.v[i], out);
	}
	if (type->timeless.p && !ret) {
		ret = add_profile(&l, type->timeless.p, e);
		put_bin(&l, NULL, out);
	}
	bins_release(&bins);
	lines_release(&l);
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
