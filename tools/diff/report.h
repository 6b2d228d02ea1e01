/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of a comparison, all from one model. */
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/query/query.h"
#include "tools/diff/combine.h"
#include "tools/diff/compare.h"
#include "tools/diff/gate.h"
#include "tools/diff/evidence.h"
#include "tools/diff/family.h"
#include "tools/diff/names.h"
#include "tools/diff/sides.h"
#include "tools/diff/verdict.h"
#include "tools/diff/waiver.h"

/* One compared profile type. */
struct part {
	const struct pair *pair;
	struct evidence evidence;
	struct combined combined;
	struct comparison comparison;
	struct verdicts verdicts;
	struct families families;
	struct gate_result *results; /* one per gate that found its item here */
	size_t nresults;
};

struct report {
	enum norm norm; /* as asked for */
	bool by_cum;
	enum granularity granularity;
	size_t top; /* rows of the text report */
	struct part *parts;
	size_t nparts;
	const struct sides *sides;
	const struct names *names;     /* NULL: raw ones */
	const struct waivers *waivers; /* NULL without */
	bool advisory;		       /* gates that fail only say so */
	bool force_single;
	bool calibrate;
};

/* A gate of this part that fails makes the exit status 1. */
bool report_part_binds(const struct report *r, const struct part *p);

/* "ok", "warn", "fail", "inconclusive", "waived" or "advisory". */
const char *report_gate_verdict(const struct report *r, const struct part *p,
				const struct gate_result *g);

static inline const struct row_finding *report_row(const struct part *p,
						   const struct diff_row *row)
{
	return &p->verdicts.rows[row->frame];
}

/* Where report_raw_name() is; begins as {0}. */
struct raw_names {
	size_t folded, renamed;
	bool any_folded;
};

/* What a row is: "function", "line", "file", "address" or "binary". */
const char *report_row_noun(const struct report *r);

/* The next of the names, as the profiles have them, that went into this row; false at the end. */
bool report_raw_name(const struct report *r, const struct part *p,
		     const struct diff_row *row, struct raw_names *at, struct str *name);

/* What a family of tests is of: "label endpoint" or "subtree". */
void report_family(const struct family *f, struct buf *out);

/*
 * What a comparison does not say, line by line: the next one from *at on is appended to `line`;
 * false at the end. p NULL: of all types together.
 */
bool report_left_out(const struct report *r, const struct part *p, size_t *at,
		     struct buf *line);

/* Each appends a whole document. `columns` is the width that text is fit to. */
void report_text(const struct report *r, size_t columns, struct buf *out);
void report_json(const struct report *r, size_t columns, struct buf *out);
void report_markdown(const struct report *r, size_t columns, struct buf *out);
void report_junit(const struct report *r, size_t columns, struct buf *out);
void report_github(const struct report *r, size_t columns, struct buf *out);
void report_sarif(const struct report *r, size_t columns, struct buf *out);
void report_codequality(const struct report *r, size_t columns, struct buf *out);

/* "fib is 1.2s, was 0.8s, may be 0.81s": a gate's verdict in words, at most `columns` wide
 * (as far as values can be). */
void report_gate(const struct part *p, const struct gate_result *g, size_t columns,
		 struct buf *out);
