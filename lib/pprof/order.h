/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a profile's content in every output, and the dense numbers that follow from it.
 * It depends on content alone, never on ids or on the order of arrival:
 *
 * mappings   STORE_EXACT: as read. STORE_MERGED: the user mapping with the largest cumulative
 *            value of the default type first (ties: file, build id), the rest by file, build id.
 * functions  by name, system name, file, start line.
 * locations  by mapping, address, lines.
 * samples    by stack (location numbers, root first), then label set.
 *
 * Only what samples refer to is there (and profile.main_mapping).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/pprof/model.h"

struct order {
	uint32_t *mappings, *functions, *locations; /* store ids in output order */
	uint32_t *samples;			    /* sample indexes in output order */
	size_t nmappings, nfunctions, nlocations;
	uint32_t *mapping_no, *function_no,
		*location_no; /* store id -> number from 1; 0: unused */
};

void order_init(struct order *o, const struct profile *p);
void order_release(struct order *o);

/* Number of a location's mapping, 0 for none. */
static inline uint32_t order_mapping(const struct order *o, const struct location *l)
{
	return l->mapping == ID_NONE ? 0 : o->mapping_no[l->mapping];
}
