/* SPDX-License-Identifier: Apache-2.0 */
/* Remembering by id: numbers, and what regular expressions say of strings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/stack.h"

void memo_release(struct memo *m)
{
	free(m->v);
	*m = (struct memo){0};
}

void memo_grow(struct memo *m, size_t need)
{
	size_t cap = m->n;

	XRESERVE(m->v, cap, need);
	for (; m->n < cap; m->n++)
		m->v[m->n] = MEMO_UNKNOWN;
}

struct line *lines_copy(const struct store *st, uint32_t location)
{
	uint32_t n = st->locations[location].nlines;
	struct line *lines = xcalloc(n + 1, sizeof(*lines));

	if (n)
		memcpy(lines, store_lines(st, location), n * sizeof(*lines));
	return lines;
}

void patterns_release(struct patterns *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		regex_free(p->re[i]);
	free(p->re);
	free(p->seen);
	*p = (struct patterns){0};
}

void patterns_reset(struct patterns *p)
{
	free(p->seen);
	p->seen = NULL;
	p->nseen = 0;
}

int patterns_add(struct patterns *p, const char *text, struct err *e)
{
	struct regex *re;
	int r = regex_new(text, strlen(text), false, &re, e);

	if (r)
		return r;
	p->re = xreallocarray(p->re, p->n + 1, sizeof(struct regex *));
	p->re[p->n++] = re;
	return 0;
}

bool patterns_match(struct patterns *p, const struct store *st, uint32_t string)
{
	struct str s = store_str(st, string);
	size_t cap = p->nseen, i;
	bool yes = false;

	if (string >= p->nseen) {
		XRESERVE(p->seen, cap, st->strings.n);
		memset(p->seen + p->nseen, 0, cap - p->nseen);
		p->nseen = cap;
	}
	if (p->seen[string])
		return p->seen[string] == 2;
	for (i = 0; i < p->n && !yes; i++)
		yes = regex_match(p->re[i], s.p, s.n);
	p->seen[string] = yes ? 2 : 1;
	p->asked = true;
	p->matched |= yes;
	return yes;
}

int patterns_status(const struct patterns *p, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < p->n && !r; i++)
		r = regex_status(p->re[i], e);
	return r;
}
