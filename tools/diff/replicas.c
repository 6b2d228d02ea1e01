/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting replicates while profiles are read. */
#include "tools/diff/replicas.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/merge.h"
#include "lib/ui/units.h"
#include "tools/diff/labels.h"

#define HOST_COMMENT "profpipe: host="
/* Costs are put in order and added up when there are this many, and twice as many as then. */
#define TIDY_MIN 4096

struct type {
	struct header h;
	int column; /* -1: profiles did not agree */
};

struct replicas {
	struct grouping by;
	const struct watched_label *watched;
	size_t nwatched;
	struct label_groups *groups;
	struct type *types;
	size_t ntypes, types_cap;
	struct replica *v;
	size_t n, cap;
	struct id_table ids; /* by side, type, name */
	const struct work *work;
	struct sources sources;
	/* the open profile */
	struct store *st;
	enum side side;
	uint32_t type, name; /* name ID_NONE: it depends on the sample */
	size_t column;
	uint64_t message;
	double scale, profile_work;
	int64_t time_ns, duration_ns;
	uint32_t host;	 /* string id; 0: the profile does not say */
	size_t *touched; /* replicates that the profile is part of */
	size_t ntouched, touched_cap;
	double first_period;
};

int grouping_parse(const char *text, struct grouping *g, struct err *e)
{
	*g = (struct grouping){0};
	if (!strcmp(text, "profile"))
		g->kind = GROUP_PROFILE;
	else if (!strcmp(text, "file"))
		g->kind = GROUP_FILE;
	else if (!strcmp(text, "host"))
		g->kind = GROUP_HOST;
	else if (!strncmp(text, "time:", 5)) {
		g->kind = GROUP_TIME;
		if (num_parse_duration(text + 5, &g->window_ns) || g->window_ns <= 0)
			return err_set(e, EINVAL, "a duration expected after time:");
	} else {
		g->kind = GROUP_LABEL;
		g->label = strncmp(text, "label:", 6) ? text : text + 6;
		if (!*g->label || strpbrk(text, "={}, "))
			return err_set(e, EINVAL,
				       "profile, file, host, time:DURATION or label:KEY "
				       "expected, not %s",
				       text);
	}
	return 0;
}

struct replicas *replicas_new(const struct grouping *by, const struct work *work,
			      const struct watched_label *watched, size_t nwatched,
			      struct label_groups *groups)
{
	struct replicas *r = xcalloc(1, sizeof(*r));

	r->by = *by;
	r->work = work;
	r->watched = watched;
	r->nwatched = nwatched;
	r->groups = groups;
	id_table_init(&r->ids);
	return r;
}

void replicas_free(struct replicas *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n; i++) {
		free(r->v[i].watched);
		free(r->v[i].groups);
		free(r->v[i].costs);
	}
	for (i = 0; i < r->ntypes; i++)
		header_release(&r->types[i].h);
	free(r->v);
	free(r->types);
	sources_release(&r->sources);
	free(r->touched);
	id_table_release(&r->ids);
	free(r);
}

static uint32_t type_of(struct replicas *r, const struct header *h, size_t column)
{
	size_t i;

	for (i = 0; i < r->ntypes; i++) {
		if (!header_same_type(&r->types[i].h, h))
			continue;
		if (r->types[i].column != (int)column)
			r->types[i].column = -1;
		return (uint32_t)i;
	}
	XGROW(r->types, r->ntypes, r->types_cap);
	r->types[r->ntypes].column = (int)column;
	header_copy(&r->types[r->ntypes].h, h);
	return (uint32_t)r->ntypes++;
}

static struct replica *replica_for(struct replicas *r, uint32_t name)
{
	uint64_t x = hash_u64((uint64_t)r->side << 32 | r->type, name);
	struct replica *v;
	uint32_t id;
	size_t s;

	for (s = id_table_first(&r->ids, x);
	     (id = id_table_at(&r->ids, x, &s)) != ID_NONE; s++) {
		v = &r->v[id];
		if (v->side == r->side && v->type == r->type && v->name == name)
			break;
	}
	if (id == ID_NONE) {
		XGROW(r->v, r->n, r->cap);
		id = (uint32_t)r->n++;
		r->v[id] = (struct replica){.side = r->side,
					    .type = r->type,
					    .name = name,
					    .source = ID_NONE};
		r->v[id].watched = xcalloc(r->nwatched + 1, sizeof(double));
		id_table_put(&r->ids, x, id);
	}
	v = &r->v[id];
	if (v->last_message != r->message) {
		v->last_message = r->message;
		XGROW(r->touched, r->ntouched, r->touched_cap);
		r->touched[r->ntouched++] = id;
	}
	return v;
}

/* The file of "a.pb.gz: member 3" and of "a.txt: profile 3". */
static char *file_of(const char *place)
{
	static const char *const parts[] = {": member ", ": profile "};
	const char *p, *end = place + strlen(place);
	size_t i, n;

	for (i = 0; i < 2; i++) {
		n = strlen(parts[i]);
		for (p = strstr(place, parts[i]); p; p = strstr(p + 1, parts[i])) {
			if (p[n + strspn(p + n, "0123456789")] == 0)
				end = p;
		}
	}
	return xstrndup(place, (size_t)(end - place));
}

static uint32_t host_of(struct store *st, const struct header *h)
{
	size_t i, n = strlen(HOST_COMMENT);

	for (i = 0; i < h->ncomments; i++) {
		if (!strncmp(store_cstr(st, h->comments[i]), HOST_COMMENT, n))
			return store_puts(st, store_cstr(st, h->comments[i]) + n);
	}
	return store_puts(st, "");
}

static uint32_t name_of(struct replicas *r, struct store *st, const char *place,
			const char *file)
{
	char *text;
	uint32_t id;

	switch (r->by.kind) {
	case GROUP_PROFILE:
		/* every profile is one: a name twice would make two of them one */
		text = xasprintf("%s#%" PRIu64, place, r->message);
		break;
	case GROUP_FILE:
		text = xstrdup(file);
		break;
	case GROUP_TIME:
		text = xmalloc(NUM_TIME_MAX);
		num_format_time(r->time_ns - r->time_ns % r->by.window_ns, text);
		break;
	default:
		return ID_NONE;
	}
	id = store_puts(st, text);
	free(text);
	return id;
}

/* In nanoseconds, if it is a time. */
static double period_of(const struct store *st, const struct header *h)
{
	const char *unit = store_cstr(st, h->period_type.unit), *shown;

	return units_fit(unit, "ns") ? units_scale(h->period, unit, "ns", &shown)
				     : (double)h->period;
}

void replicas_open(struct replicas *r, enum side side, struct store *st,
		   const struct header *h, size_t column, const char *place)
{
	const char *type = store_cstr(st, h->types[column].type);
	char *file = file_of(place), *base = strrchr(file, '/');
	double period;

	r->st = st;
	r->side = side;
	r->type = type_of(r, h, column);
	r->column = column;
	r->message++;
	r->ntouched = 0;
	r->time_ns = h->time_ns;
	r->duration_ns = h->duration_ns;
	/* bare counts of samples mean what their period makes of them */
	r->scale = 1;
	period = period_of(st, h);
	if (!strcmp(type, "samples") && period > 0) {
		if (r->first_period <= 0)
			r->first_period = period;
		r->scale = period / r->first_period;
	}
	r->profile_work = work_of(r->work, file);
	if (r->profile_work <= 0)
		r->profile_work = work_of(r->work, base ? base + 1 : file);
	r->host = host_of(st, h);
	r->name = name_of(r, st, place, file);
	/* also when it has no sample: nothing is a measurement too */
	if (r->name != ID_NONE)
		replica_for(r, r->name);
	free(file);
}

static uint32_t name_by_sample(const struct replicas *r, uint32_t labelset)
{
	uint32_t id;

	if (r->by.kind == GROUP_LABEL) {
		id = label_value(r->st, labelset, r->by.label);
		return id == ID_NONE ? 0 : id;
	}
	id = label_value(r->st, labelset, "host");
	if (id == ID_NONE)
		id = label_value(r->st, labelset, "node");
	return id == ID_NONE ? r->host : id;
}

static int cmp_cost(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Costs of one stack as one. */
static void tidy(struct replica *v)
{
	size_t i, n = 0;

	if (v->ncosts)
		qsort(v->costs, v->ncosts, sizeof(*v->costs), cmp_cost);
	for (i = 0; i < v->ncosts; i++) {
		if (n && v->costs[n - 1].stack == v->costs[i].stack)
			v->costs[n - 1].value += v->costs[i].value;
		else
			v->costs[n++] = v->costs[i];
	}
	v->ncosts = n;
	v->tidy_at = n < TIDY_MIN / 2 ? TIDY_MIN : 2 * n;
}

static void add_groups(struct replicas *r, struct replica *v, uint32_t labelset,
		       double value)
{
	size_t k, group, old;

	for (k = 0; k < r->groups->nkeys; k++) {
		group = label_group_of(r->groups, r->st, labelset, k);
		if (group >= v->ngroups) {
			old = v->ngroups;
			XRESERVE(v->groups, v->ngroups, group + 1);
			memset(v->groups + old, 0,
			       (v->ngroups - old) * sizeof(*v->groups));
		}
		v->groups[group] += value;
	}
}

void replicas_add(struct replicas *r, uint32_t stack, uint32_t labelset,
		  const int64_t *values)
{
	double value = (double)values[r->column] * r->scale;
	struct replica *v;
	uint32_t source;
	size_t i;

	if (!values[r->column])
		return;
	v = replica_for(r, r->name != ID_NONE ? r->name : name_by_sample(r, labelset));
	v->total += value;
	source = sources_of(&r->sources, r->st, labelset);
	if (source == ID_NONE && r->host)
		source = r->host;
	if (v->source == ID_NONE)
		v->source = source;
	else if (v->source != source)
		v->source = SOURCE_MANY;
	for (i = 0; i < r->nwatched; i++) {
		if (label_has(r->st, labelset, r->watched[i].key, r->watched[i].value))
			v->watched[i] += value;
	}
	add_groups(r, v, labelset, value);
	if (v->tidy_at && v->ncosts >= v->tidy_at)
		tidy(v);
	else if (!v->tidy_at)
		v->tidy_at = TIDY_MIN;
	XGROW(v->costs, v->ncosts, v->costs_cap);
	v->costs[v->ncosts++] = (struct cost){stack, (float)value};
}

void replicas_close(struct replicas *r, bool counts)
{
	struct replica *v;
	size_t i;

	for (i = 0; i < r->ntouched && counts; i++) {
		v = &r->v[r->touched[i]];
		if (!v->profiles || r->time_ns < v->time_ns)
			v->time_ns = r->time_ns;
		v->profiles++;
		v->duration_ns += r->duration_ns;
		v->work += r->profile_work;
	}
	if (r->by.kind != GROUP_PROFILE)
		return;
	/* it gets no more */
	for (i = 0; i < r->ntouched; i++) {
		v = &r->v[r->touched[i]];
		tidy(v);
		if (v->ncosts)
			v->costs = xreallocarray(v->costs, v->ncosts, sizeof(*v->costs));
		v->costs_cap = v->ncosts;
	}
}

struct replica **replicas_of(struct replicas *r, enum side side, const struct header *h,
			     size_t *n, int *column)
{
	struct replica **v = xcalloc(r->n + 1, sizeof(*v));
	size_t i;

	*n = 0;
	*column = -1;
	for (i = 0; i < r->n; i++) {
		const struct type *t = &r->types[r->v[i].type];

		if (r->v[i].side != side || !r->v[i].profiles ||
		    !header_same_type(&t->h, h))
			continue;
		v[(*n)++] = &r->v[i];
		*column = t->column;
	}
	return v;
}

static void multiply(struct replica *v, size_t nwatched, double by)
{
	size_t i;

	v->total *= by;
	for (i = 0; i < nwatched; i++)
		v->watched[i] *= by;
	for (i = 0; i < v->ngroups; i++)
		v->groups[i] *= by;
	for (i = 0; i < v->ncosts; i++)
		v->costs[i].value *= (float)by;
}

void replicas_convert(struct replicas *r, enum side side, const struct header *was,
		      const struct header *now, const int64_t *by)
{
	size_t i, k;

	for (i = 0; i < r->ntypes; i++) {
		struct type *t = &r->types[i];

		if (!header_same_type(&t->h, was))
			continue;
		/* a type of the other side too would have had a partner as it was */
		for (k = 0; k < r->n; k++) {
			if (r->v[k].type == i && r->v[k].side == side && t->column >= 0)
				multiply(&r->v[k], r->nwatched, (double)by[t->column]);
		}
		header_release(&t->h);
		header_copy(&t->h, now);
	}
}
