/* SPDX-License-Identifier: Apache-2.0 */
/* What every format of prof-render is given: one profile of one type, and the options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/query/query.h"
#include "tools/render/rows.h"
#include "tools/render/timeline.h"

/* What a box of a difference is as wide as. */
enum diff_width { DIFF_WIDTH_MEAN, DIFF_WIDTH_BASE, DIFF_WIDTH_NEW };

struct report_opts {
	enum granularity granularity;
	struct rows_opts rows;
	bool top_given;	      /* rows.top was asked for */
	const char *function; /* peek, lines: a regular expression; or NULL */
	char *const *sources; /* lines: directories of source files */
	size_t nsources;
	const char *unit;  /* "minimum", "auto" or a unit's name */
	const char *title; /* svg; NULL: made from the profile */
	int width_px;	   /* svg */
	double min_width_px;
	enum diff_width diff_width; /* svg */
	bool interactive;	    /* svg: with a script */
	char *const *
		by; /* html, timeline: keys of labels; NULL: html: those that have few values */
	size_t nby;
	size_t columns; /* of the terminal that the table goes to; 0: not a terminal */
};

struct report {
	const struct report_opts *o;
	struct query *q; /* stack filters, deferred */
	const struct profile *p;
	size_t column;			 /* of the sample type */
	const struct timeline *timeline; /* html; samples by time, before stack filters */
};

/* Each appends the whole document to out. */
int report_table(const struct report *r, struct buf *out, struct err *e);
int report_folded(const struct report *r, struct buf *out, struct err *e);
int report_svg(const struct report *r, struct buf *out, struct err *e);
int report_tree(const struct report *r, struct buf *out, struct err *e);
int report_peek(const struct report *r, struct buf *out, struct err *e);
int report_lines(const struct report *r, struct buf *out, struct err *e);
int report_tags(const struct report *r, struct buf *out, struct err *e);
int report_csv(const struct report *r, struct buf *out, struct err *e);
int report_grafana(const struct report *r, struct buf *out, struct err *e);
int report_markdown(const struct report *r, struct buf *out, struct err *e);

/* The same for n profile types in one document. */
int report_json(const struct report *r, size_t n, struct buf *out, struct err *e);
int report_timeline(const struct report *r, size_t n, struct buf *out, struct err *e);
int report_speedscope(const struct report *r, size_t n, struct buf *out, struct err *e);
