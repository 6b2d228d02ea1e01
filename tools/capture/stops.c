/* SPDX-License-Identifier: Apache-2.0 */
/* Where stacks ended before their root. */
#include "tools/capture/stops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define ROWS_MAX 256 /* what is rare in so many others has no row */

void stops_add(struct stops *s, enum unwind_stop stop, const char *file)
{
	struct stop_row *r;
	size_t i;

	s->all++;
	if (stop == STOP_COMPLETE) {
		s->complete++;
		return;
	}
	if (!file ||
	    (stop != STOP_NO_TABLE && stop != STOP_NO_ROW && stop != STOP_UNSUPPORTED))
		file = "";
	for (i = 0; i < s->n; i++) {
		r = &s->rows[i];
		if (r->stop == stop && !strcmp(r->file, file)) {
			r->n++;
			return;
		}
	}
	if (s->n == ROWS_MAX)
		return;
	XGROW(s->rows, s->n, s->cap);
	s->rows[s->n++] = (struct stop_row){stop, xstrdup(file), 1};
}

static int cmp_rows(const void *pa, const void *pb)
{
	const struct stop_row *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	if (a->stop != b->stop)
		return a->stop < b->stop ? -1 : 1;
	return strcmp(a->file, b->file);
}

void stops_sort(struct stops *s)
{
	if (s->n)
		qsort(s->rows, s->n, sizeof(*s->rows), cmp_rows);
}

void stops_release(struct stops *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->rows[i].file);
	free(s->rows);
	*s = (struct stops){0};
}
