/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/answers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

void answers_init(struct answers *a)
{
	*a = (struct answers){0};
	intern_init(&a->functions);
	intern_init(&a->locations);
}

void answers_release(struct answers *a)
{
	intern_release(&a->functions);
	intern_release(&a->locations);
	u64map_release(&a->by_vaddr);
	free(a->v);
	*a = (struct answers){0};
}

/* Id 0 of an intern table is the empty string, so records start at 1. */
uint32_t answers_function(struct answers *a, struct sym_function f)
{
	return intern_put(&a->functions, &f, sizeof(f)) - 1;
}

uint32_t answers_location(struct answers *a, struct sym_location l)
{
	return intern_put(&a->locations, &l, sizeof(l)) - 1;
}

struct sym_function answers_get_function(const struct answers *a, uint32_t id)
{
	struct sym_function f;

	memcpy(&f, intern_str(&a->functions, id + 1).p, sizeof(f));
	return f;
}

struct sym_location answers_get_location(const struct answers *a, uint32_t id)
{
	struct sym_location l;

	memcpy(&l, intern_str(&a->locations, id + 1).p, sizeof(l));
	return l;
}

void answers_put(struct answers *a, uint64_t vaddr, struct sym_answer answer)
{
	XGROW(a->v, a->n, a->cap);
	u64map_put(&a->by_vaddr, vaddr, a->n);
	a->v[a->n++] = answer;
}

bool answers_get(const struct answers *a, uint64_t vaddr, struct sym_answer *out)
{
	uint32_t i = u64map_get(&a->by_vaddr, vaddr);

	if (i == U64MAP_NONE)
		return false;
	*out = a->v[i];
	return true;
}
