/* SPDX-License-Identifier: Apache-2.0 */
/* Exposures of replicates. */
#include "tools/diff/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/frames.h"

/* What one side is at most multiplied by: a million seconds against one, and to spare. */
#define FACTOR_MAX 1e9

static const char *const side_names[SIDES] = {"base", "new"};

static bool string_is(const struct store *st, uint32_t id, const char *s)
{
	return !strcmp(store_cstr(st, id), s);
}

/* The mean value that goes with one of the counts in the column before: bytes of an object. */
static double value_per_count(const struct pair *pair, size_t column)
{
	double counts = 0, values = 0;
	int side;

	for (side = 0; side < SIDES; side++) {
		const struct profile *p = pair->side[side];
		size_t i;

		for (i = 0; i < p->nsamples; i++) {
			counts += (double)profile_values(p, i)[column - 1];
			values += (double)profile_values(p, i)[column];
		}
	}
	return counts > 0 && values > 0 ? values / counts : 0;
}

static double least_value(struct replica **const r[SIDES], const size_t n[SIDES])
{
	double least = INFINITY;
	size_t i, k;
	int side;

	for (side = 0; side < SIDES; side++) {
		for (i = 0; i < n[side]; i++) {
			for (k = 0; k < r[side][i]->ncosts; k++) {
				if (r[side][i]->costs[k].value > 0)
					least = fmin(least, r[side][i]->costs[k].value);
			}
		}
	}
	return isinf(least) ? 1 : least;
}

/* What one sample, allocation or event is worth in the column. */
static double find_unit(struct replica **const r[SIDES], const size_t n[SIDES],
			const struct pair *pair, size_t column)
{
	const struct profile *p = pair->side[SIDE_NEW];
	const struct value_type *t = &p->h.types[column];
	double v;

	if (string_is(p->store, t->unit, "count"))
		return 1;
	if (t->type == p->h.period_type.type && t->unit == p->h.period_type.unit &&
	    p->h.period > 0)
		return (double)p->h.period;
	if (column && string_is(p->store, p->h.types[column - 1].unit, "count")) {
		v = value_per_count(pair, column);
		if (v > 0)
			return v;
	}
	return least_value(r, n);
}

/* Counts by function, in the leaf alone, for the size factor. */
static void add_functions(struct frames *f, struct replica *const *r, size_t n,
			  double unit, double **sums, size_t *cap)
{
	const uint32_t *locations, *ids;
	uint32_t nl, nf;
	size_t i, k, old;

	for (i = 0; i < n; i++) {
		for (k = 0; k < r[i]->ncosts; k++) {
			locations = store_frames(f->p->store, r[i]->costs[k].stack, &nl);
			if (!nl)
				continue;
			ids = frames_of(f, locations[0], &nf);
			if (f->n > *cap) {
				old = *cap;
				XRESERVE(*sums, *cap, f->n);
				memset(*sums + old, 0, (*cap - old) * sizeof(**sums));
			}
			(*sums)[ids[nf - 1]] += r[i]->costs[k].value / unit;
		}
	}
}

static double sum_totals(struct replica *const *r, size_t n)
{
	double s = 0;
	size_t i;

	for (i = 0; i < n; i++)
		s += r[i]->total;
	return s;
}

/* 0 if one of them does not say. */
static double sum_durations(struct replica *const *r, size_t n)
{
	double s = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (r[i]->duration_ns <= 0)
			return 0;
		s += (double)r[i]->duration_ns;
	}
	return s;
}

static void find_size_factor(struct evidence *ev, const struct pair *pair)
{
	double *sums[SIDES] = {NULL, NULL};
	size_t cap[SIDES] = {0, 0}, least;
	struct size_side s[SIDES];
	struct frames f;
	int side;

	frames_init(&f, pair->side[SIDE_NEW], GRANULARITY_FUNCTIONS);
	for (side = 0; side < SIDES; side++) {
		struct replica *const *r = ev->r[side];
		size_t n = ev->design.n[side];

		add_functions(&f, r, n, ev->unit, &sums[side], &cap[side]);
		s[side] = (struct size_side){sums[side], sum_totals(r, n) / ev->unit,
					     sum_durations(r, n)};
	}
	least = cap[0] < cap[1] ? cap[0] : cap[1];
	least = least < f.n ? least : f.n;
	stat_size_factor(&ev->size, &s[SIDE_BASE], &s[SIDE_NEW], least,
			 ev->design.n[SIDE_BASE]);
	free(sums[SIDE_BASE]);
	free(sums[SIDE_NEW]);
	frames_release(&f);
}

static void drop_replica(struct evidence *ev, int side, size_t i)
{
	size_t *n = &ev->design.n[side];

	memmove(ev->r[side] + i, ev->r[side] + i + 1,
		(*n - i - 1) * sizeof(struct replica *));
	(*n)--;
}

/* By its own total an interval without samples is no measurement: 0 of nothing. */
static void drop_empty(struct evidence *ev)
{
	size_t i;
	int side;

	for (side = 0; side < SIDES; side++) {
		for (i = ev->design.n[side]; i--;) {
			if (ev->r[side][i]->total > 0)
				continue;
			drop_replica(ev, side, i);
			ev->empty++;
		}
	}
}

/* Twins have one name: keep those, in the same order on both sides. */
static int pair_replicas(struct evidence *ev, struct err *e)
{
	size_t *n = ev->design.n, i, k;
	struct replica *r;

	for (i = 0; i < n[SIDE_BASE];) {
		for (k = i; k < n[SIDE_NEW] &&
			    ev->r[SIDE_NEW][k]->name != ev->r[SIDE_BASE][i]->name;
		     k++)
			;
		if (k < n[SIDE_NEW]) {
			r = ev->r[SIDE_NEW][k];
			ev->r[SIDE_NEW][k] = ev->r[SIDE_NEW][i];
			ev->r[SIDE_NEW][i] = r;
			i++;
		} else {
			drop_replica(ev, SIDE_BASE, i);
			ev->unpaired++;
		}
	}
	ev->unpaired += n[SIDE_NEW] - i;
	n[SIDE_NEW] = i;
	if (!i)
		return err_set(e, ENODATA,
			       "--pair-by: no pair: nothing has a twin on "
			       "the other side");
	for (k = 0; k < SIDES; k++) {
		ev->slot[k] = xcalloc(i, sizeof(uint32_t));
		ev->design.slot[k] = ev->slot[k];
		for (n[k] = 0; n[k] < i; n[k]++)
			ev->slot[k][n[k]] = (uint32_t)n[k];
	}
	/* one pair is no more than one profile a side */
	ev->design.nslots = i > 1 ? i : 0;
	return 0;
}

/* Exposure before it is put into units of counts. */
static double raw_exposure(struct evidence *ev, const struct evidence_opts *o,
			   const struct replica *r, double side_total)
{
	switch (ev->norm) {
	case NORM_SECONDS:
		return (double)r->duration_ns;
	case NORM_WORK:
		if (o->work_file && r->work > 0)
			return r->work;
		if (o->work_each)
			return (double)r->profiles;
		/* within a side, as the cost is */
		ev->work_of_sides = true;
		return o->work[r->side] * r->total / side_total;
	case NORM_NONE:
		return (double)r->profiles;
	default:
		return r->total;
	}
}

static int find_exposures(struct evidence *ev, const struct evidence_opts *o, bool gauge,
			  struct err *e)
{
	double raw[SIDES] = {0, 0}, count[SIDES], scale;
	size_t i;
	int s;

	for (s = 0; s < SIDES; s++) {
		count[s] = sum_totals(ev->r[s], ev->design.n[s]);
		ev->exposure[s] = xcalloc(ev->design.n[s] + 1, sizeof(double));
		for (i = 0; i < ev->design.n[s]; i++) {
			ev->exposure[s][i] = raw_exposure(ev, o, ev->r[s][i], count[s]);
			if (!(ev->exposure[s][i] > 0))
				return err_set(e, EINVAL,
					       ev->norm == NORM_SECONDS
						       ? "--norm seconds: %s has no "
							 "duration"
						       : "%s has a profile without a "
							 "count of work",
					       side_names[s]);
			raw[s] += ev->exposure[s][i];
		}
	}
	for (s = 0; s < SIDES; s++) {
		scale = count[SIDE_BASE] / ev->unit / raw[SIDE_BASE];
		/* sums as they are: both sides are one unit, whatever they were made of */
		if (ev->norm == NORM_NONE && !gauge)
			scale = count[SIDE_BASE] / ev->unit / raw[s];
		if (ev->norm == NORM_SHARE || ev->norm == NORM_STABLE)
			scale = 1 / ev->unit;
		if (s == SIDE_NEW)
			scale *= ev->size.factor;
		for (i = 0; i < ev->design.n[s]; i++) {
			ev->exposure[s][i] *= scale;
			ev->design.total[s] += ev->exposure[s][i];
		}
		ev->design.exposure[s] = ev->exposure[s];
	}
	ev->factor = ev->design.total[SIDE_NEW] / ev->design.total[SIDE_BASE];
	if (!(ev->factor > 1 / FACTOR_MAX && ev->factor < FACTOR_MAX))
		return err_set(e, ERANGE,
			       "base and new are too far apart to be scaled (--norm %s)",
			       norm_name(ev->norm));
	return 0;
}

static enum norm choose_norm(const struct evidence_opts *o, bool gauge)
{
	bool work = o->work_each || o->work_file || o->work[SIDE_BASE] > 0;

	/* a level is what it is, however long the profile and whatever was done */
	if (gauge)
		return o->norm == NORM_SHARE ? NORM_SHARE : NORM_NONE;
	if (o->norm == NORM_AUTO)
		return work ? NORM_WORK : NORM_STABLE;
	return o->norm;
}

static void find_work(struct evidence_opts *o)
{
	double count;
	int s;

	for (s = 0; s < SIDES; s++) {
		count = work_of(o->work_file, side_names[s]);
		if (count > 0)
			o->work[s] = count;
	}
}

/* Several replicates of a side, all of one run or host. */
static bool is_one_source(struct replica *const *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (r[i]->source == ID_NONE || r[i]->source == SOURCE_MANY ||
		    r[i]->source != r[0]->source)
			return false;
	}
	return n > 1;
}

int evidence_init(struct evidence *ev, struct replicas *all, const struct pair *pair,
		  size_t column, const struct evidence_opts *opts, struct err *e)
{
	const struct profile *p = pair->side[SIDE_NEW];
	bool gauge = type_is_gauge(p, column);
	struct evidence_opts o = *opts;
	int side, from, r;

	*ev = (struct evidence){.size = {.factor = 1}, .factor = 1, .unit = 1};
	find_work(&o);
	ev->norm = choose_norm(&o, gauge);
	for (side = 0; side < SIDES; side++) {
		ev->r[side] = replicas_of(all, side, &pair->side[side]->h,
					  &ev->design.n[side], &from);
		if (ev->design.n[side] && from != (int)column)
			return err_set(e, EINVAL,
				       "%s: profiles of %s differ in their default type: "
				       "say which by -t",
				       store_cstr(p->store, p->h.types[column].type),
				       side_names[side]);
	}
	if (ev->norm == NORM_SHARE || ev->norm == NORM_STABLE ||
	    (ev->norm == NORM_WORK && !o.work_each))
		drop_empty(ev);
	for (side = 0; side < SIDES; side++) {
		if (!(sum_totals(ev->r[side], ev->design.n[side]) > 0))
			return err_set(e, ENODATA, "%s has no %s", side_names[side],
				       store_cstr(p->store, p->h.types[column].type));
	}
	if (o.paired) {
		r = pair_replicas(ev, e);
		if (r < 0)
			return r;
	}
	ev->unit = find_unit(ev->r, ev->design.n, pair, column);
	if (ev->norm == NORM_STABLE) {
		find_size_factor(ev, pair);
		ev->scale_unknown = ev->size.used < STAT_SIZE_FACTOR_MIN;
		if (ev->scale_unknown)
			ev->norm = NORM_SHARE;
		ev->design.se_of_log_factor = ev->size.se_of_log;
	}
	r = find_exposures(ev, &o, gauge, e);
	for (side = 0; side < SIDES; side++)
		ev->one_source |= is_one_source(ev->r[side], ev->design.n[side]);
	ev->single = ev->design.n[SIDE_BASE] + ev->design.n[SIDE_NEW] < 3 ||
		     (o.paired && ev->design.n[SIDE_BASE] < 2);
	ev->total_assessed = ev->norm != NORM_SHARE;
	return r;
}

void evidence_release(struct evidence *ev)
{
	int side;

	for (side = 0; side < SIDES; side++) {
		free(ev->r[side]);
		free(ev->exposure[side]);
		free(ev->slot[side]);
	}
	*ev = (struct evidence){0};
}
