/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/answers.h"

#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

void answers_init(struct answers *a)
{
	*a = (struct answers){0};
	id_table_init(&a->function_ids);
	id_table_init(&a->location_ids);
}

void answers_release(struct answers *a)
{
	free(a->functions);
	free(a->locations);
	id_table_release(&a->function_ids);
	id_table_release(&a->location_ids);
	u64map_release(&a->by_vaddr);
	free(a->v);
	*a = (struct answers){0};
}

uint32_t answers_function(struct answers *a, struct sym_function f)
{
	uint64_t h = hash_u64((uint64_t)f.name << 32 | f.system, f.start_line);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&a->function_ids, h);
	     (id = id_table_at(&a->function_ids, h, &s)) != ID_NONE; s++)
		if (a->functions[id].name == f.name &&
		    a->functions[id].system == f.system &&
		    a->functions[id].start_line == f.start_line)
			return id;
	XGROW(a->functions, a->nfunctions, a->functions_cap);
	id = a->nfunctions++;
	a->functions[id] = f;
	id_table_put(&a->function_ids, h, id);
	return id;
}

static bool same(const struct sym_location *a, const struct sym_location *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->column == b->column && a->caller == b->caller;
}

uint32_t answers_location(struct answers *a, struct sym_location l)
{
	uint64_t h = hash_u64(hash_u64((uint64_t)l.function << 32 | l.file, l.caller),
			      (uint64_t)l.line << 32 | l.column);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&a->location_ids, h);
	     (id = id_table_at(&a->location_ids, h, &s)) != ID_NONE; s++)
		if (same(&a->locations[id], &l))
			return id;
	id = answers_add_location(a, l);
	id_table_put(&a->location_ids, h, id);
	return id;
}

uint32_t answers_add_location(struct answers *a, struct sym_location l)
{
	XGROW(a->locations, a->nlocations, a->locations_cap);
	a->locations[a->nlocations] = l;
	return a->nlocations++;
}

size_t answers_bytes(const struct answers *a)
{
	return a->functions_cap * sizeof(*a->functions) +
	       a->locations_cap * sizeof(*a->locations) +
	       (a->function_ids.mask + a->location_ids.mask + 2) *
		       sizeof(*a->location_ids.slots);
}

void answers_reserve(struct answers *a, size_t answers, size_t locations)
{
	XRESERVE(a->v, a->cap, a->n + answers);
	u64map_reserve(&a->by_vaddr, answers);
	XRESERVE(a->locations, a->locations_cap, a->nlocations + locations);
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
