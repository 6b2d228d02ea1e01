/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of one object: distinct functions and locations under dense ids, and which
 * location belongs to an address. Positions are never negative: a location's caller was put
 * before it.
 */
#pragma once

#include "lib/base/idtable.h"
#include "lib/sym/object.h"
#include "lib/sym/u64map.h"

struct answers {
	struct sym_function *functions;
	struct sym_location *locations;
	size_t nfunctions, functions_cap, nlocations, locations_cap;
	struct id_table function_ids, location_ids;
	struct u64map by_vaddr; /* -> index in v */
	struct sym_answer *v;
	size_t n, cap;
};

void answers_init(struct answers *a);
void answers_release(struct answers *a);
uint32_t answers_function(struct answers *a, struct sym_function f);
uint32_t answers_location(struct answers *a, struct sym_location l);
/* One that is known not to be there, as those of an index differ: nor is it found later. */
uint32_t answers_add_location(struct answers *a, struct sym_location l);
size_t answers_bytes(const struct answers *a); /* memory in functions and locations */
void answers_reserve(struct answers *a, size_t answers, size_t locations); /* more */
void answers_put(struct answers *a, uint64_t vaddr, struct sym_answer answer);
bool answers_get(const struct answers *a, uint64_t vaddr, struct sym_answer *out);
