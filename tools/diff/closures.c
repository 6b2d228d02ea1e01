/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/closures.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/intern.h"
#include "lib/base/xalloc.h"
#include "lib/sym/canonical.h"

struct closures {
	struct intern names;
	uint32_t *family; /* by frame: id of its family's name; ID_NONE: none */
	bool *shifted;	  /* by family */
	size_t *members;  /* by family: how many */
	uint32_t *first;  /* by family: its first frame */
};

static bool is_shift(const struct comparison *c, const struct diff_row *r, double least)
{
	if (r->joined || row_status(r) == STATUS_BOTH)
		return false;
	if (row_status(r) == STATUS_NEW)
		return (double)r->cum.new >= least *(double)c->total.new;
	return (double)r->cum.base >= least * (double)c->total.base;
}

static bool find_families(struct closures *f, const struct comparison *c, double least)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	bool any = false;
	size_t i;

	for (i = 0; i < c->nrows; i++) {
		const struct diff_row *r = &c->rows[i];

		f->family[i] = ID_NONE;
		if (r->joined || !canonical_family(r->name.p, r->name.n, &b))
			continue;
		f->family[i] = intern_put(&f->names, b.data, b.len);
		f->members[f->family[i]]++;
		if (f->first[f->family[i]] == ID_NONE)
			f->first[f->family[i]] = (uint32_t)i;
		if (is_shift(c, r, least))
			any = f->shifted[f->family[i]] = true;
	}
	buf_release(&b);
	return any;
}

void fold_closures(struct comparison *c, double least)
{
	/* the empty string has an id as well */
	size_t n = c->nrows + 2, i;
	struct closures f = {.family = xcalloc(n, sizeof(uint32_t)),
			     .shifted = xcalloc(n, sizeof(bool)),
			     .members = xcalloc(n, sizeof(size_t)),
			     .first = xmalloc(n * sizeof(uint32_t))};
	struct str *names = xcalloc(n, sizeof(*names));

	memset(f.first, 0xff, n * sizeof(uint32_t));
	intern_init(&f.names);
	if (find_families(&f, c, least)) {
		for (i = 0; i < c->nrows; i++) {
			uint32_t id = f.family[i];

			if (id == ID_NONE || !f.shifted[id] || f.members[id] < 2)
				continue;
			c->alias[i] = f.first[id];
			names[f.first[id]] = f.names.strs[id];
		}
		comparison_fold(c, names);
	}
	intern_release(&f.names);
	free(names);
	free(f.family);
	free(f.shifted);
	free(f.members);
	free(f.first);
}
