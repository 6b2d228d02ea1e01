/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks rewritten line by line, each thing once. Results are remembered by id, so a rewriter
 * belongs to one store.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/diff/replicas.h"
#include "tools/diff/sides.h"

/* uint32_t by id; ID_NONE where not yet known. */
struct known {
	uint32_t *v;
	size_t n;
};

/* The place for id, of ids below `end`; good until the next call. */
uint32_t *known_at(struct known *k, uint32_t id, size_t end);

struct rewriter {
	/* make of a line what is to be there instead; false: it stays */
	bool (*line)(void *ctx, struct store *st, struct line *l);
	void *ctx;
	struct known locations, stacks;
	uint32_t *frames;
	size_t frames_cap;
};
void rewriter_release(struct rewriter *r);

/* Of a stack (its id) the one to have instead. */
typedef uint32_t stack_rewrite(void *ctx, struct store *st, uint32_t stack);

/* That of a struct rewriter; the stack itself where nothing changes. */
stack_rewrite rewriter_stack;

/* Stacks of a side that has been read: in its profile, and in its replicates. */
void rewrite_side(struct pair *pair, enum side side, struct replicas *all,
		  stack_rewrite *rewrite, void *ctx);
