/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

bool is_no_file(const char *name)
{
	static const char *const starts[] = {"[",      "linux-vdso", "/dev/dri/",
					     "//anon", "/memfd:",    "/dev/zero",
					     "/SYSV",  "anon_inode:"};
	size_t i;

	for (i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return !name[0];
}

static bool is_anonymous(const char *name)
{
	return !name[0] || !strncmp(name, "//anon", 6) || !strncmp(name, "[anon", 5);
}

static int by_start(const void *a, const void *b, void *store)
{
	const struct store *st = store;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t sx = st->mappings[x].start, sy = st->mappings[y].start;

	return sx != sy ? (sx > sy) - (sx < sy) : (x > y) - (x < y);
}

void pieces_init(struct pieces *p, const struct store *st, size_t nmappings)
{
	size_t i;

	*p = (struct pieces){xcalloc(nmappings + 1, sizeof(*p->v)), 0};
	for (i = 0; i < nmappings; i++)
		if (!is_no_file(store_cstr(st, st->mappings[i].file)) &&
		    !store_is_kernel_mapping(st, &st->mappings[i]))
			p->v[p->n++] = i;
	if (p->n)
		qsort_r(p->v, p->n, sizeof(*p->v), by_start, (void *)st);
}

void pieces_release(struct pieces *p)
{
	free(p->v);
}

bool pieces_around(const struct pieces *p, const struct store *st,
		   const struct mapping *anonymous, struct mapping *out)
{
	size_t lo = 0, hi = p->n, mid;
	const struct mapping *a, *b;

	if (!is_anonymous(store_cstr(st, anonymous->file)))
		return false;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (st->mappings[p->v[mid]].start <= anonymous->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || lo == p->n)
		return false;
	a = &st->mappings[p->v[lo - 1]];
	b = &st->mappings[p->v[lo]];
	if (a->file != b->file || a->build_id != b->build_id ||
	    a->start - a->offset != b->start - b->offset || a->limit > anonymous->start ||
	    anonymous->limit > b->start || anonymous->limit <= anonymous->start)
		return false;
	*out = *a;
	out->limit = b->limit;
	return true;
}
