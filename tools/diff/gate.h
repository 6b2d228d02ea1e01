/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gates: limits that the change must keep.
 *
 *	[fail|warn] (total | regressed | new | (flat|cum):RE | label:KEY=VALUE) > LIMIT
 *		[where share >= P]
 *
 * LIMIT is +P% of the base's total, or xR: R times the item's own base. Values are compared as
 * they are, without a test of significance. A gate whose item is not there is an error: a gate
 * that watches nothing must not pass.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "tools/diff/compare.h"

struct gate;

struct gate_result {
	const struct gate *gate;
	bool failed;
	/* the worst offender, or the only item: name of a function, or "total"; p NULL: what
	 * the gate speaks of is there, but nothing has the share it asks for */
	struct str item;
	struct amount amount; /* its values */
	int64_t limit;	      /* the largest `new` that passes */
};

int gate_parse(const char *text, struct gate **out, struct err *e);
void gate_free(struct gate *g);
const char *gate_text(const struct gate *g);
bool gate_only_warns(const struct gate *g);

/*
 * Judge one comparison: 0 with *r filled in, -ENOENT when nothing is there that the gate speaks
 * of (e is set), negative on error. r->item lives as long as the comparison.
 */
int gate_judge(const struct gate *g, const struct comparison *c, struct gate_result *r,
	       struct err *e);
