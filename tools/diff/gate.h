/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates: limits that the change must keep.
 *
 *	[fail|warn] (total | regressed | new | (flat|cum):RE | label:KEY=VALUE) > LIMIT
 *		[where share >= P]
 *
 * LIMIT is +P% of the base's total, or xR: R times the item's own base. A gate fails on an item
 * whose rise is real (a verdict of regressed or new, tested among the items that the gate names)
 * and over the limit, unless it is waived. A gate whose item is not there is an error: a gate
 * that watches nothing must not pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "tools/diff/compare.h"
#include "tools/diff/verdict.h"
#include "tools/diff/waiver.h"

struct gate;

enum gate_state {
	GATE_OK,
	GATE_INCONCLUSIVE, /* not over, but it could not have seen that it is */
	GATE_WAIVED,	   /* over, and accepted */
	GATE_OVER,
};

struct gate_result {
	const struct gate *gate;
	enum gate_state state;
	bool failed;	     /* GATE_OVER */
	bool over_by_chance; /* something is over the limit without being shown to have grown */
	/* the worst offender, or the only item: name of a function, or "total"; p NULL: what
	 * the gate speaks of is there, but nothing has the share it asks for */
	struct str item;
	struct amount amount;	       /* its values */
	int64_t limit;		       /* the largest `new` that passes */
	const struct finding *finding; /* the item's; NULL where nothing was tested */
};

int gate_parse(const char *text, struct gate **out, struct err *e);
void gate_free(struct gate *g);
const char *gate_text(const struct gate *g);
bool gate_only_warns(const struct gate *g);

/* Key and value of a gate on a label; false for others. */
bool gate_label(const struct gate *g, const char **key, const char **value);
/* Which of the watched labels it is. */
void gate_watch(struct gate *g, size_t label);

struct gate_context {
	const struct comparison *c;
	const struct verdicts *v; /* NULL: values as they are, without a test */
	struct waivers *waivers;  /* NULL without */
	int64_t now_ns;		  /* for waivers */
};

/*
 * Judge one comparison: 0 with *r filled in, -ENOENT when nothing is there that the gate speaks
 * of (e is set), negative on error. r->item lives as long as the comparison.
 */
int gate_judge(const struct gate *g, const struct gate_context *ctx,
	       struct gate_result *r, struct err *e);
