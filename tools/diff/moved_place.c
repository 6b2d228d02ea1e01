/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/moved_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/sym/canonical.h"
#include "lib/ui/name.h"

enum kind { GROUP, FILE_OF, PACKAGE, NAMESPACE };

/* The places that the rows are put into, one after another. */
struct filling {
	struct places *p;
	double cost; /* of the row */
	struct buf key, name;
};

static void put_place(struct filling *f, enum kind kind, const char *name, size_t n)
{
	struct places *p = f->p;
	uint32_t id;

	if (!n)
		return;
	buf_clear(&f->key);
	buf_putc(&f->key, (char)('0' + kind));
	buf_put(&f->key, name, n);
	id = intern_put(&p->keys, f->key.data, f->key.len);
	if (id >= p->cap) {
		size_t old = p->cap;

		XRESERVE(p->v, p->cap, (size_t)id + 1);
		memset(p->v + old, 0, (p->cap - old) * sizeof(*p->v));
	}
	p->v[id].cost += f->cost;
	p->v[id].wide = kind == NAMESPACE;
	XGROW(p->pool, p->npool, p->pool_cap);
	p->pool[p->npool++] = id;
}

/* Where the last part of "a::b<c::d>" begins, its separator; n: there is but one part. */
static size_t last_separator(const char *p, size_t n, const char *separator)
{
	size_t len = strlen(separator), i;
	int depth = 0;

	for (i = n; i; i--) {
		if (p[i - 1] == '>')
			depth++;
		else if (p[i - 1] == '<')
			depth--;
		else if (!depth && i > len && !memcmp(p + i - len, separator, len))
			return i - len;
	}
	return n;
}

/* "a::b" and "a" of "a::b::C"; "example.com/app" of "example.com/app/parse", but no host alone. */
static void put_namespaces(struct filling *f, const char *p, size_t n)
{
	const char *separator = ".";
	size_t end;

	if (memchr(p, '/', n))
		separator = "/";
	else if (last_separator(p, n, "::") < n)
		separator = "::";
	while ((end = last_separator(p, n, separator)) < n) {
		n = end;
		if (*separator == '/' && !memchr(p, '/', n) && memchr(p, '.', n))
			return;
		put_place(f, NAMESPACE, p, n);
	}
}

static void put_row(struct filling *f, const struct comparison *c,
		    const struct diff_row *row)
{
	const struct frame *frame = &c->frames.v[row->frame];
	struct str name = row->name, file = store_str(c->p->store, frame->where_file);
	size_t n;

	/* lines have more in their names */
	if (frame->line && frame->name)
		name = store_str(c->p->store, frame->name);
	if (frame->name && canonical_name(name.p, name.n, &f->name))
		put_place(f, GROUP, buf_str(&f->name), f->name.len);
	else if (frame->name)
		put_place(f, GROUP, name.p, name.n);
	put_place(f, FILE_OF, file.p, file.n);
	n = name_package(name.p, name.n);
	put_place(f, PACKAGE, name.p, n);
	if (n)
		put_namespaces(f, name.p, n);
}

void places_init(struct places *p, const struct comparison *c, const struct verdicts *v)
{
	struct filling f = {
		.p = p, .key = BUF_INIT(SIZE_MAX / 2), .name = BUF_INIT(SIZE_MAX / 2)};
	size_t i;

	*p = (struct places){.by_frame = xcalloc(v->nrows + 1, sizeof(*p->by_frame))};
	intern_init(&p->keys);
	for (i = 0; i < c->nrows; i++) {
		const struct diff_row *row = &c->rows[i];

		p->by_frame[row->frame].off = (uint32_t)p->npool;
		f.cost = finding_cost(&v->rows[row->frame].flat);
		put_row(&f, c, row);
		p->by_frame[row->frame].n =
			(uint32_t)p->npool - p->by_frame[row->frame].off;
	}
	buf_release(&f.key);
	buf_release(&f.name);
}

void places_release(struct places *p)
{
	if (p->by_frame)
		intern_release(&p->keys);
	free(p->v);
	free(p->pool);
	free(p->by_frame);
	*p = (struct places){0};
}

double places_in_common(const struct places *p, uint32_t a, uint32_t b, double rise,
			bool certain)
{
	const uint32_t *x = p->pool + p->by_frame[a].off,
		       *y = p->pool + p->by_frame[b].off;
	double least = INFINITY;
	uint32_t i, k;

	for (i = 0; i < p->by_frame[a].n; i++) {
		const struct place *place = &p->v[x[i]];

		for (k = 0; k < p->by_frame[b].n && y[k] != x[i]; k++)
			;
		if (k < p->by_frame[b].n &&
		    is_domain(place->cost, rise, place->wide, certain))
			least = fmin(least, place->cost);
	}
	return least;
}
