/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

static uint64_t row_id(const struct idmap *m, size_t i)
{
	uint64_t id;

	memcpy(&id, m->rows + i * m->stride, sizeof(id));
	return id;
}

static bool build_direct(struct idmap *m, uint64_t max, size_t *bad)
{
	uint64_t id;
	size_t i;

	m->direct_n = max + 1;
	XRESERVE(m->direct, m->direct_cap, m->direct_n);
	memset(m->direct, 0xff, m->direct_n * sizeof(*m->direct));
	for (i = 0; i < m->n; i++) {
		id = row_id(m, i);
		if (!id || m->direct[id] != ID_NONE) {
			*bad = i;
			return false;
		}
		m->direct[id] = i;
	}
	return true;
}

bool idmap_build(struct idmap *m, const void *rows, size_t n, size_t stride, size_t *bad)
{
	uint64_t id, max = 0;
	size_t i;

	m->rows = rows;
	m->n = n;
	m->stride = stride;
	m->sequential = true;
	for (i = 0; i < n; i++) {
		id = row_id(m, i);
		m->sequential &= id == i + 1;
		if (id > max)
			max = id;
	}
	if (m->sequential)
		return true;
	m->is_direct = max < 1024 || max / 4 < n;
	if (m->is_direct)
		return build_direct(m, max, bad);
	if (!m->table.slots)
		id_table_init(&m->table);
	else
		id_table_clear(&m->table);
	for (i = 0; i < n; i++) {
		id = row_id(m, i);
		if (!id || idmap_find_hashed(m, id) != ID_NONE) {
			*bad = i;
			return false;
		}
		id_table_put(&m->table, hash_u64(0, id), i);
	}
	return true;
}

uint32_t idmap_find_hashed(const struct idmap *m, uint64_t id)
{
	uint64_t h = hash_u64(0, id);
	uint32_t i;
	size_t s;

	for (s = id_table_first(&m->table, h);
	     (i = id_table_at(&m->table, h, &s)) != ID_NONE; s++) {
		if (row_id(m, i) == id)
			return i;
	}
	return ID_NONE;
}

void idmap_release(struct idmap *m)
{
	free(m->direct);
	if (m->table.slots)
		id_table_release(&m->table);
	*m = (struct idmap){0};
}
