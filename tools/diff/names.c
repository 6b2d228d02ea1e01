/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting stacks name by name, each thing once. */
#include "tools/diff/names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/canonical.h"

/* uint32_t by id; ID_NONE where not yet known. */
struct known {
	uint32_t *v;
	size_t n;
};

struct renamed {
	uint32_t canonical, raw; /* string ids */
};

struct names {
	struct known strings, functions, locations, stacks;
	struct renamed *renamed; /* in order of appearance, each raw name once */
	size_t nrenamed, renamed_cap;
	struct buf buf;
	uint32_t *frames;
	size_t frames_cap;
};

struct names *names_new(void)
{
	struct names *n = xcalloc(1, sizeof(*n));

	n->buf = BUF_INIT(SIZE_MAX / 2);
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	free(n->strings.v);
	free(n->functions.v);
	free(n->locations.v);
	free(n->stacks.v);
	free(n->renamed);
	free(n->frames);
	buf_release(&n->buf);
	free(n);
}

static uint32_t *known_at(struct known *k, uint32_t id, size_t end)
{
	size_t cap = k->n;

	if (id >= k->n) {
		XRESERVE(k->v, cap, end);
		memset(k->v + k->n, 0xff, (cap - k->n) * sizeof(*k->v));
		k->n = cap;
	}
	return &k->v[id];
}

static uint32_t canonical_string(struct names *n, struct store *st, uint32_t id)
{
	uint32_t to = *known_at(&n->strings, id, st->strings.n);
	struct str s = store_str(st, id);

	if (to != ID_NONE)
		return to;
	to = id;
	if (canonical_name(s.p, s.n, &n->buf)) {
		to = intern_put(&st->strings, n->buf.data, n->buf.len);
		XGROW(n->renamed, n->nrenamed, n->renamed_cap);
		n->renamed[n->nrenamed++] = (struct renamed){to, id};
	}
	*known_at(&n->strings, id, st->strings.n) = to;
	return to;
}

static uint32_t canonical_function(struct names *n, struct store *st, uint32_t id)
{
	uint32_t to = *known_at(&n->functions, id, st->nfunctions);
	struct function fn;

	if (to != ID_NONE)
		return to;
	fn = st->functions[id];
	fn.name = canonical_string(n, st, fn.name);
	to = fn.name == st->functions[id].name ? id : store_function(st, &fn);
	*known_at(&n->functions, id, st->nfunctions) = to;
	return to;
}

static uint32_t canonical_location(struct names *n, struct store *st, uint32_t id)
{
	uint32_t to = *known_at(&n->locations, id, st->nlocations), i, fn;
	struct location l = st->locations[id];
	struct line *lines;
	bool changed = false;

	if (to != ID_NONE)
		return to;
	lines = xcalloc(l.nlines + 1, sizeof(*lines));
	for (i = 0; i < l.nlines; i++) {
		lines[i] = store_lines(st, id)[i];
		fn = canonical_function(n, st, lines[i].function);
		changed |= fn != lines[i].function;
		lines[i].function = fn;
	}
	to = changed ? store_location(st, l.mapping, l.address, l.folded, lines, l.nlines)
		     : id;
	free(lines);
	*known_at(&n->locations, id, st->nlocations) = to;
	return to;
}

uint32_t names_stack(struct names *n, struct store *st, uint32_t stack)
{
	uint32_t to = *known_at(&n->stacks, stack, st->nstacks), depth, i, id;
	const uint32_t *frames;
	bool changed = false;

	if (to != ID_NONE)
		return to;
	depth = st->stacks[stack].n;
	XRESERVE(n->frames, n->frames_cap, depth + 1);
	for (i = 0; i < depth; i++) {
		frames = store_frames(st, stack, &depth);
		id = canonical_location(n, st, frames[i]);
		changed |= id != frames[i];
		n->frames[i] = id;
	}
	to = changed ? store_stack(st, n->frames, depth) : stack;
	*known_at(&n->stacks, stack, st->nstacks) = to;
	return to;
}

uint32_t names_raw(const struct names *n, uint32_t canonical, size_t *at)
{
	while (*at < n->nrenamed) {
		const struct renamed *r = &n->renamed[(*at)++];

		if (r->canonical == canonical)
			return r->raw;
	}
	return 0;
}
