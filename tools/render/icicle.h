/* SPDX-License-Identifier: Apache-2.0 */
/* An icicle while it is drawn: what svg.c lays out and svg_head.c describes. */
#pragma once

#include "lib/ui/units.h"
#include "tools/render/change.h"
#include "tools/render/report.h"
#include "tools/render/svg_style.h"
#include "tools/render/tree.h"
#include "tools/render/verdicts.h"

struct icicle {
	const struct report *r;
	struct frames frames;
	struct weights weights;
	struct verdict_list verdicts; /* of a difference: what is more than noise */
	struct rows rows;	      /* the five heaviest, and the main binary */
	struct tree tree;
	struct str *names; /* by frame id */
	uint32_t *rank;	   /* by frame id: place among the names */
	struct arena arena;
	/* by node: where it starts and how wide it is, in the unit of values or, of a
	 * difference, as parts of the whole */
	double *at, *width;
	uint32_t *below; /* by node: nodes in its subtree, itself too */
	double scale;	 /* pixels per unit */
	uint32_t depth;	 /* of the deepest row drawn */
	size_t ndrawn, nsmall, nboxes;
	double small; /* what the grey boxes stand for, as wide as they are */
	bool kinds[SVG_KINDS];
	const char *unit;
	struct buf boxes;
};

/* The values of a difference below a node. */
static inline struct change node_change(const struct node *n)
{
	return change_of(n->total, n->size);
}

/* Each returns its argument `text`. */
const char *icicle_value(const struct icicle *c, int64_t v, char text[UNITS_TEXT_MAX]);
const char *icicle_share(const struct icicle *c, int64_t v, char text[UNITS_TEXT_MAX]);

/* Texts of the heading, not escaped. */
void icicle_title(const struct icicle *c, struct buf *raw);
void icicle_facts(const struct icicle *c, struct buf *raw);
void icicle_description(const struct icicle *c, struct buf *raw);

/* What `put` makes, escaped; in at most `columns` (0: any number). */
void icicle_put_text(const struct icicle *c, struct buf *out,
		     void (*put)(const struct icicle *c, struct buf *raw),
		     size_t columns);
