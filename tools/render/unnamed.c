/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/render/unnamed.h"

#include <math.h>

/* In a file that prof-symbolize would look for. */
static bool is_in_file(const struct store *st, const struct location *l)
{
	const struct mapping *m;

	if (l->mapping == ID_NONE)
		return false;
	m = &st->mappings[l->mapping];
	return store_cstr(st, m->file)[0] == '/' && !store_is_kernel_mapping(st, m);
}

bool is_unnamed(const struct report *r)
{
	const struct store *st = r->p->store;
	double named = 0, unnamed = 0, v;
	const uint32_t *frames;
	uint32_t n, k;
	size_t i;

	for (i = 0; i < r->p->nsamples; i++) {
		frames = store_frames(st, r->p->samples[i].stack, &n);
		v = fabs((double)profile_values(r->p, i)[r->column]);
		for (k = 0; k < n; k++) {
			const struct location *l = &st->locations[frames[k]];

			if (!is_in_file(st, l))
				continue;
			if (l->nlines)
				named += v;
			else
				unnamed += v;
		}
	}
	return unnamed > named;
}
