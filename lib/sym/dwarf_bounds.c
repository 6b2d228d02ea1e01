/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/sym/dwarf_internal.h"

struct bounding {
	const struct dwarf *dw;
	struct bounds *b;
};

static void add_unit(void *arg, uint32_t unit)
{
	const struct bounding *g = arg;
	const struct dw_table *t = g->dw->units[unit].table;
	size_t k;

	for (k = 0; k < t->nstretches; k++)
		bounds_add(g->b, t->stretches[k].start);
	for (k = 0; k < t->lines.nrows; k++)
		bounds_add(g->b, t->lines.rows[k].addr);
	for (k = 0; k < t->lines.nseqs; k++)
		bounds_add(g->b, t->lines.seqs[k].high);
}

void dwarf_bounds(struct dwarf *dw, struct bounds *b)
{
	uint32_t *units = xcalloc(dw->nunits + 1, sizeof(*units));
	struct bounding g = {dw, b};
	size_t i, n = 0;

	for (i = 0; i < dw->nclaims; i++) {
		bounds_add(b, dw->claims[i].low);
		bounds_add(b, dw->claims[i].high);
	}
	dw->work = dw->work_full;
	for (i = 0; i < dw->nunits; i++)
		if (dw->units[i].code)
			units[n++] = i;
	dw_decode(dw, units, n, add_unit, &g);
	free(units);
}
