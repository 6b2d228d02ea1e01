/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for intervals that are there twice, by a hash of each. */
#include "tools/diff/overlap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

struct interval {
	uint32_t type; /* index of overlap.types */
	uint64_t hash;
	enum side side;
};

struct overlap {
	char **types;
	size_t ntype_names, types_cap;
	struct interval *v;
	size_t n, cap;
	/* the one that is being read */
	struct interval now;
	size_t ntypes, samples;
	bool has_start;
};

struct overlap *overlap_new(void)
{
	return xcalloc(1, sizeof(struct overlap));
}

void overlap_free(struct overlap *o)
{
	if (!o)
		return;
	while (o->ntype_names)
		free(o->types[--o->ntype_names]);
	free(o->types);
	free(o->v);
	free(o);
}

static uint32_t type_of(struct overlap *o, const char *type)
{
	size_t i;

	for (i = 0; i < o->ntype_names && strcmp(o->types[i], type) != 0; i++)
		;
	if (i == o->ntype_names) {
		XGROW(o->types, o->ntype_names, o->types_cap);
		o->types[o->ntype_names++] = xstrdup(type);
	}
	return (uint32_t)i;
}

void overlap_open(struct overlap *o, enum side side, const struct header *h,
		  const char *type)
{
	size_t i;

	o->now = (struct interval){.type = type_of(o, type), .side = side};
	o->now.hash =
		hash_u64(hash_u64(1, (uint64_t)h->time_ns), (uint64_t)h->duration_ns);
	for (i = 0; i < h->ntypes; i++)
		o->now.hash = hash_u64(o->now.hash, (uint64_t)h->types[i].type << 32 |
							    h->types[i].unit);
	o->ntypes = h->ntypes;
	o->samples = 0;
	o->has_start = h->time_ns != 0;
}

void overlap_sample(struct overlap *o, uint32_t stack, uint32_t labelset,
		    const int64_t *values)
{
	uint64_t hash = hash_u64(2, (uint64_t)stack << 32 | labelset);
	size_t i;

	for (i = 0; i < o->ntypes; i++)
		hash = hash_u64(hash, (uint64_t)values[i]);
	/* in any order */
	o->now.hash += hash;
	o->samples++;
}

void overlap_close(struct overlap *o, bool counts)
{
	if (!counts || !o->samples || !o->has_start)
		return;
	XGROW(o->v, o->n, o->cap);
	o->v[o->n++] = o->now;
}

static int cmp_interval(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->side > y->side) - (x->side < y->side);
}

/* Those of one type. */
static int check_type(const struct interval *v, size_t n, const char *type,
		      const struct cli *cli, bool allowed, struct err *e)
{
	static const char *const names[SIDES] = {"base", "new"};
	size_t distinct = 0, both = 0, again[SIDES] = {0, 0}, count[SIDES], i, end;
	int side;

	for (i = 0; i < n; i = end) {
		count[SIDE_BASE] = count[SIDE_NEW] = 0;
		for (end = i; end < n && v[end].hash == v[i].hash; end++)
			count[v[end].side]++;
		distinct++;
		both += count[SIDE_BASE] && count[SIDE_NEW];
		for (side = 0; side < SIDES; side++)
			again[side] += count[side] > 1 ? count[side] - 1 : 0;
	}
	if (both && both < distinct && !allowed)
		return err_set(e, EINVAL,
			       "%s: %zu of %zu intervals %s on both sides, which are to "
			       "be measured apart (--self)",
			       type, both, distinct, both == 1 ? "is" : "are");
	if (both && both == distinct)
		cli_note(cli, "%s: both sides are the same profiles", type);
	for (side = 0; side < SIDES; side++) {
		if (again[side])
			cli_note(cli,
				 "%s: %s has %zu profile%s more than once: that is no "
				 "further measurement",
				 type, names[side], again[side],
				 again[side] == 1 ? "" : "s");
	}
	return 0;
}

int overlap_check(struct overlap *o, const struct cli *cli, bool allowed, struct err *e)
{
	size_t i, end;
	int r = 0;

	if (o->n)
		qsort(o->v, o->n, sizeof(*o->v), cmp_interval);
	for (i = 0; i < o->n && !r; i = end) {
		for (end = i; end < o->n && o->v[end].type == o->v[i].type; end++)
			;
		r = check_type(o->v + i, end - i, o->types[o->v[i].type], cli, allowed,
			       e);
	}
	return r;
}
