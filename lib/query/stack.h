/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing stacks: pprof's frame pruning (drop_frames), its stack filters, granularity. Inside
 * lib/query only; the meaning is that of google/pprof's profile/prune.go and profile/filter.go.
 *
 * Everything is remembered by id: what a regular expression says by string, what becomes of a
 * location by location, the result by stack.
 */
#pragma once

#include "lib/query/query.h"
#include "lib/query/regex.h"

/* uint32_t by id, MEMO_UNKNOWN where not yet known. */
#define MEMO_UNKNOWN (UINT32_MAX - 1)
struct memo {
	uint32_t *v;
	size_t n;
};
void memo_release(struct memo *m);
void memo_grow(struct memo *m, size_t need);

/* The place for id, of ids below `end`; good until the next call. */
static inline uint32_t *memo_at(struct memo *m, uint32_t id, size_t end)
{
	if (id >= m->n)
		memo_grow(m, end);
	return &m->v[id];
}

/* A copy of a location's lines, to be freed: the store's own move when it grows. */
struct line *lines_copy(const struct store *st, uint32_t location);

/* Alternatives, and by string id whether one of them matches. */
struct patterns {
	struct regex **re;
	size_t n;
	uint8_t *seen; /* 0 = not yet asked, 1 = no, 2 = yes */
	size_t nseen;
	bool asked, matched; /* of any string, whatever was forgotten */
};
void patterns_release(struct patterns *p);
void patterns_reset(struct patterns *p); /* forget the strings */
int patterns_add(struct patterns *p, const char *re, struct err *e);
bool patterns_match(struct patterns *p, const struct store *st, uint32_t string);
int patterns_status(const struct patterns *p, struct err *e);

/* drop_frames and keep_frames of one kind of profile. */
struct prune {
	uint32_t drop_id, keep_id; /* string ids of the texts */
	struct regex *drop, *keep; /* drop NULL: nothing to do */
	struct memo locations;	   /* trimmed location */
	uint8_t *cuts;		   /* by location id: enum cut */
	size_t ncuts;
	struct memo stacks;
};
/* The texts, without the anchors, in st. On error p prunes nothing. */
int prune_init(struct prune *p, const struct store *st, uint32_t drop, uint32_t keep,
	       struct err *e);
void prune_release(struct prune *p);
uint32_t prune_stack(struct prune *p, struct store *st, uint32_t stack);

struct filters {
	struct patterns patterns[STACK_FILTERS];
	enum granularity granularity;
	bool no_inlines;
	struct memo locations; /* what is left after hide, show; ID_NONE: nothing */
	uint8_t *chosen;       /* by location id: enum choice, for focus and ignore */
	size_t nchosen;
	struct memo from;   /* for show_from: the trimmed location; ID_NONE: no match */
	struct memo coarse; /* the location at the wanted granularity */
	struct memo stacks;
	uint32_t *scratch;
	size_t scratch_cap;
};
void filters_release(struct filters *f);
void filters_reset(struct filters *f); /* forget the memos */
bool filters_active(const struct filters *f);
uint32_t filters_stack(struct filters *f, struct store *st, uint32_t stack);
