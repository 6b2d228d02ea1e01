/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and finding verdicts. */
#include "tools/render/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

#define TESTED "profpipe: tested="
#define VERDICT "profpipe: verdict="
#define NAME " name="

static int cmp_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

static bool parse(struct str s, struct found *f)
{
	const char *p = s.p + strlen(VERDICT), *name = strstr(p, NAME);

	if (!name)
		return false;
	f->verdict = (struct str){p, (uint32_t)(name - p)};
	name += strlen(NAME);
	f->name = (struct str){name, (uint32_t)(s.p + s.n - name)};
	return true;
}

void verdict_list_init(struct verdict_list *l, const struct profile *p)
{
	size_t i;

	*l = (struct verdict_list){.v = xcalloc(p->h.ncomments + 1, sizeof(*l->v))};
	for (i = 0; i < p->h.ncomments; i++) {
		struct str s = store_str(p->store, p->h.comments[i]);

		if (!strncmp(s.p, TESTED, strlen(TESTED)))
			l->tested = true;
		else if (!strncmp(s.p, VERDICT, strlen(VERDICT)) && parse(s, &l->v[l->n]))
			l->n++;
	}
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), cmp_found);
}

void verdict_list_release(struct verdict_list *l)
{
	free(l->v);
	*l = (struct verdict_list){0};
}

struct str verdict_list_find(const struct verdict_list *l, struct str name)
{
	const struct found key = {.name = name}, *f;

	f = l->n ? bsearch(&key, l->v, l->n, sizeof(*l->v), cmp_found) : NULL;
	return f ? f->verdict : (struct str){"", 0};
}
