/* SPDX-License-Identifier: Apache-2.0 */
/* Making stacks with label values as their outermost frames. */
#include "lib/query/rooted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"

struct rooter {
	struct store *st;
	char *const *keys;
	size_t nkeys;
	uint32_t *locations; /* of one stack, leaf first */
	size_t cap;
	struct buf text;
};

bool label_values(const struct store *st, uint32_t labelset, const char *key,
		  struct buf *out)
{
	const struct label *l;
	struct str s;
	uint32_t n, i;
	bool found = false;

	buf_clear(out);
	l = store_labels(st, labelset, &n);
	for (i = 0; i < n; i++) {
		s = store_str(st, l[i].key);
		if (s.n != strlen(key) || memcmp(s.p, key, s.n))
			continue;
		if (found)
			buf_putc(out, ',');
		found = true;
		if (l[i].numeric) {
			buf_printf(out, "%" PRId64, l[i].num);
			continue;
		}
		s = store_str(st, l[i].str);
		buf_put(out, s.p, s.n);
	}
	return out->len > 0;
}

static uint32_t location_of(struct rooter *r, const char *key)
{
	struct function f = {
		.name = intern_put(&r->st->strings, buf_str(&r->text), r->text.len),
		.file = store_puts(r->st, key)};
	struct line line = {.function = store_function(r->st, &f)};

	return store_location(r->st, ID_NONE, 0, false, &line, 1);
}

static uint32_t rooted_stack(struct rooter *r, uint32_t stack, uint32_t labelset)
{
	const uint32_t *frames;
	uint32_t n;
	size_t i;

	frames = store_frames(r->st, stack, &n);
	XRESERVE(r->locations, r->cap, n + r->nkeys);
	if (n)
		memcpy(r->locations, frames, n * sizeof(*frames));
	for (i = r->nkeys; i--;) {
		if (label_values(r->st, labelset, r->keys[i], &r->text))
			r->locations[n++] = location_of(r, r->keys[i]);
	}
	return store_stack(r->st, r->locations, n);
}

int profile_root_by(struct profile *p, char *const *keys, size_t n, struct err *e)
{
	struct rooter r = {
		.st = p->store, .keys = keys, .nkeys = n, .text = BUF_INIT(SIZE_MAX / 2)};
	struct profile *rooted = profile_new(p->store);
	int ret = 0;
	size_t i;

	header_copy(&rooted->h, &p->h);
	for (i = 0; i < p->nsamples && !ret; i++)
		ret = profile_add(
			rooted,
			rooted_stack(&r, p->samples[i].stack, p->samples[i].labelset),
			p->samples[i].labelset, profile_values(p, i), e);
	profile_swap_samples(p, rooted);
	profile_free(rooted);
	buf_release(&r.text);
	free(r.locations);
	return ret;
}
