/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels as domains: endpoint=/pay, and what moved within it. A label says so only if its key has
 * few values, as texts (numbers are ids or amounts); what most of the cost carries, such as the
 * node, is left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/diff/labels.h"
#include "tools/diff/moved.h"

/* A key with more values is an id. */
#define VALUES_MAX 64

struct keys {
	const char **v;
	size_t n, cap;
	bool *seen; /* by string id */
};

static void find_keys(struct keys *k, const struct profile *p)
{
	const struct store *st = p->store;
	bool *done = xcalloc(st->nlabelsets + 1, sizeof(*done));
	const struct label *l;
	uint32_t n, j, set;
	size_t i;

	k->seen = xcalloc(st->strings.n + 1, sizeof(*k->seen));
	for (i = 0; i < p->nsamples; i++) {
		set = p->samples[i].labelset;
		l = store_labels(st, set, &n);
		for (j = 0; j < n && !done[set]; j++) {
			if (l[j].numeric || k->seen[l[j].key] ||
			    !strcmp(store_cstr(st, l[j].key), BASE_KEY))
				continue;
			k->seen[l[j].key] = true;
			XGROW(k->v, k->n, k->cap);
			k->v[k->n++] = store_cstr(st, l[j].key);
		}
		done[set] = true;
	}
	free(done);
	free(k->seen);
}

/* What each value of each key costs, on the side where it costs more; INFINITY: no domain. */
static void find_costs(struct search *s, struct label_groups *g)
{
	const struct profile *p = s->c->p;
	size_t cap = 0, i, k, group, *values = xcalloc(g->nkeys + 1, sizeof(*values));
	double *cost = NULL; /* of the base, of the new side, by group */
	int64_t v;

	for (i = 0; i < p->nsamples; i++) {
		v = profile_values(p, i)[s->c->column];
		for (k = 0; k < g->nkeys; k++) {
			group = label_group_of(g, p->store, p->samples[i].labelset, k);
			if (2 * group + 1 >= cap) {
				size_t old = cap;

				XRESERVE(cost, cap, 2 * group + 2);
				memset(cost + old, 0, (cap - old) * sizeof(*cost));
			}
			cost[2 * group + (v > 0)] += fabs((double)v);
		}
	}
	s->label_cost = xcalloc(g->n + 1, sizeof(*s->label_cost));
	for (i = 0; i < g->n; i++)
		values[g->v[i].key] += g->v[i].value != 0;
	for (i = 0; i < g->n; i++)
		s->label_cost[i] = g->v[i].value && values[g->v[i].key] <= VALUES_MAX
					   ? fmax(cost[2 * i], cost[2 * i + 1]) / s->total
					   : INFINITY;
	free(cost);
	free(values);
}

void moved_add_labels(struct search *s)
{
	const struct profile *p = s->c->p;
	struct keys keys = {0};
	struct label_groups g;
	struct mover *m;
	size_t i, k, group;

	find_keys(&keys, p);
	g = (struct label_groups){.keys = keys.v, .nkeys = keys.n};
	if (keys.n)
		find_costs(s, &g);
	for (i = 0; i < p->nsamples && keys.n; i++) {
		m = moved_of_stack(s, p->samples[i].stack);
		for (k = 0; m && k < g.nkeys; k++) {
			group = label_group_of(&g, p->store, p->samples[i].labelset, k);
			if (s->label_cost[group] > WIDE_SHARE)
				continue;
			moved_add_caller(
				m, m->n, (uint32_t)(s->v->nrows + group),
				(double)profile_values(p, i)[s->c->column] / s->total, 0);
		}
	}
	label_groups_release(&g);
	free(keys.v);
}
