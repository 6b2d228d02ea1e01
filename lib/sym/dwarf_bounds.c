/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/dwarf_internal.h"

void dwarf_bounds(struct dwarf *dw, struct bounds *b)
{
	size_t i, k;

	for (i = 0; i < dw->nclaims; i++) {
		bounds_add(b, dw->claims[i].low);
		bounds_add(b, dw->claims[i].high);
	}
	dw->work = dw->work_full;
	for (i = 0; i < dw->nunits; i++) {
		const struct dw_table *t;

		if (!dw->units[i].code)
			continue;
		t = dw_unit_table(dw, i);
		for (k = 0; k < t->nstretches; k++)
			bounds_add(b, t->stretches[k].start);
		for (k = 0; k < t->lines.nrows; k++)
			bounds_add(b, t->lines.rows[k].addr);
		for (k = 0; k < t->lines.nseqs; k++)
			bounds_add(b, t->lines.seqs[k].high);
	}
}
