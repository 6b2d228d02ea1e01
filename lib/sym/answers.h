/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of one object: distinct functions and locations under dense ids, and which
 * location belongs to an address. Positions are never negative: a location's caller was put
 * before it.
 */
#pragma once

#include "lib/base/intern.h"
#include "lib/sym/object.h"
#include "lib/sym/u64map.h"

struct answers {
	struct intern functions, locations; /* the records themselves are the strings */
	struct u64map by_vaddr;		    /* -> index in v */
	struct sym_answer *v;
	size_t n, cap;
};

void answers_init(struct answers *a);
void answers_release(struct answers *a);
uint32_t answers_function(struct answers *a, struct sym_function f);
uint32_t answers_location(struct answers *a, struct sym_location l);
struct sym_function answers_get_function(const struct answers *a, uint32_t id);
struct sym_location answers_get_location(const struct answers *a, uint32_t id);
void answers_put(struct answers *a, uint64_t vaddr, struct sym_answer answer);
bool answers_get(const struct answers *a, uint64_t vaddr, struct sym_answer *out);
