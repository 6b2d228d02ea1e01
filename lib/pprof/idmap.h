/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the ids of one pprof message (any distinct non-zero uint64) to the index of the row.
 * Dense ids, which nearly all producers write, are one array access; others are hashed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/idtable.h"

struct idmap {
	const uint8_t *rows; /* the ids, `stride` bytes apart */
	size_t n, stride;
	uint32_t *direct; /* id -> index, ID_NONE where there is none */
	size_t direct_n, direct_cap;
	bool sequential; /* the ids are 1, 2, 3 ...: no look-up needed */
	bool is_direct;
	struct id_table table;
};

/*
 * Build from n rows whose uint64_t id stands first, `stride` bytes apart; they must stay. True, or
 * false when a row's id is 0 or there twice: *bad is its index.
 */
bool idmap_build(struct idmap *m, const void *rows, size_t n, size_t stride, size_t *bad);
void idmap_release(struct idmap *m);

uint32_t idmap_find_hashed(const struct idmap *m, uint64_t id);

/* Index of the row with this id, or ID_NONE. */
static inline uint32_t idmap_find(const struct idmap *m, uint64_t id)
{
	if (m->sequential)
		return id - 1 < m->n ? (uint32_t)id - 1 : ID_NONE;
	if (m->is_direct)
		return id < m->direct_n ? m->direct[id] : ID_NONE;
	return idmap_find_hashed(m, id);
}
