/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting stacks name by name, each thing once. */
#include "tools/diff/names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/canonical.h"
#include "tools/diff/rewrite.h"

struct renamed {
	uint32_t canonical, raw; /* string ids */
};

struct names {
	struct rewriter rewriter;
	struct known strings, functions;
	struct renamed *renamed; /* in order of appearance, each raw name once */
	size_t nrenamed, renamed_cap;
	struct buf buf;
};

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

static bool canonical_line(void *ctx, struct store *st, struct line *l)
{
	uint32_t to = canonical_function(ctx, st, l->function);
	bool changed = to != l->function;

	l->function = to;
	return changed;
}

struct names *names_new(void)
{
	struct names *n = xcalloc(1, sizeof(*n));

	n->rewriter = (struct rewriter){.line = canonical_line, .ctx = n};
	n->buf = BUF_INIT(SIZE_MAX / 2);
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	free(n->strings.v);
	free(n->functions.v);
	rewriter_release(&n->rewriter);
	free(n->renamed);
	buf_release(&n->buf);
	free(n);
}

uint32_t names_stack(struct names *n, struct store *st, uint32_t stack)
{
	return rewriter_stack(&n->rewriter, st, stack);
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
