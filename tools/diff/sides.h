/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two sides of a comparison: which profiles belong to which, added up per profile type.
 *
 * Three ways of naming them: BASE NEW; --base FILE... --new FILE...; or one stream that two
 * selectors split (--base-select, --new-select).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/pprof/merge.h"
#include "lib/query/query.h"
#include "lib/ui/cli.h"
#include "tools/diff/names.h"
#include "tools/diff/replicas.h"

struct sides_opts {
	const struct cli *cli;
	struct operands files[SIDES];
	struct operands stream;	      /* with selectors: what both choose from */
	const char *selectors[SIDES]; /* NULL without */
	struct query *query; /* common to both sides; holds no selector of a side */
	struct names *names; /* NULL: names stay as they are */
	struct replicas *replicas;
	bool delta; /* counters from the start of a process: take what was added */
	bool self;  /* the same intervals may be on both sides */
};

/* One profile type that both sides have. */
struct pair {
	struct profile *side[SIDES];
	size_t profiles[SIDES]; /* how many were added up */
	int inlined_only;	/* the only side with inlined frames (inlines.h); -1 */
	bool folded;		/* which count as what they are inlined into */
};

/*
 * Every file that has to do with the cost (program and libraries, not the kernel) is on both
 * sides, by build id.
 */
bool pair_same_build(const struct pair *pair);

/* One that only this side has. */
struct lonely {
	enum side side;
	const struct profile *p;
};

struct sides {
	struct merger *merger;
	struct query *query[SIDES];
	struct pair *pairs;
	size_t npairs;
	struct lonely *lonely;
	size_t nlonely;
	size_t left_out[SIDES]; /* profiles of another type or time than was asked for */
};

/*
 * Read everything. Trouble: nothing on a side, no type in common (both lists are in e), some
 * intervals on both sides. Types that only one side has are named in a note.
 */
int sides_read(struct sides *s, const struct sides_opts *o, struct err *e);
void sides_release(struct sides *s);

/* Append "only in base, not compared: alloc_space/bytes per space/bytes". */
void lonely_text(const struct lonely *l, struct buf *b);
