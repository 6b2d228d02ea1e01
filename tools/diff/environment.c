/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing comments. */
#include "tools/diff/environment.h"

#include <string.h>

static const struct {
	const char *key, *name;
	bool alone; /* it says something that the other side does not have it */
} things[] = {
	{"cpu", "CPU", false},	     {"cpus", "number of CPUs", false},
	{"kernel", "kernel", false}, {"rate", "rate", false},
	{"event", "event", false},   {"quota", "CPU quota", false},
	{"mode", "mode", true},
};

#define PREFIX "profpipe: "

/* The value of the next comment with this key, from *at on; NULL at the end. */
static const char *value_of(const struct profile *p, const char *key, size_t *at)
{
	size_t prefix = strlen(PREFIX), n = strlen(key);

	while (*at < p->h.ncomments) {
		const char *text = store_cstr(p->store, p->h.comments[(*at)++]);

		if (!strncmp(text, PREFIX, prefix) && !strncmp(text + prefix, key, n) &&
		    text[prefix + n] == '=')
			return text + prefix + n + 1;
	}
	return NULL;
}

/* Comments are in order, so that equal sets are equal lists. */
static bool differs(const struct pair *pair, const char *key, bool alone)
{
	const struct profile *base = pair->side[SIDE_BASE], *new = pair->side[SIDE_NEW];
	size_t i = 0, k = 0, n = 0;
	const char *a, *b;

	for (;; n++) {
		a = value_of(base, key, &i);
		b = value_of(new, key, &k);
		if (!a || !b)
			return (n || alone) && a != b;
		if (strcmp(a, b) != 0)
			return true;
	}
}

static void put_values(const struct profile *p, const char *key, struct buf *out)
{
	const char *v;
	size_t at = 0, n = 0;

	while ((v = value_of(p, key, &at)))
		buf_printf(out, "%s%s", n++ ? ", " : "", v);
	if (!n)
		buf_puts(out, "none");
}

bool environment_differs(const struct pair *pair, size_t *at, struct buf *out)
{
	while (*at < sizeof(things) / sizeof(*things)) {
		const char *key = things[*at].key;

		(*at)++;
		if (!differs(pair, key, things[*at - 1].alone))
			continue;
		buf_printf(out, "%s: base has ", things[*at - 1].name);
		put_values(pair->side[SIDE_BASE], key, out);
		buf_puts(out, "; new has ");
		put_values(pair->side[SIDE_NEW], key, out);
		return true;
	}
	return false;
}
