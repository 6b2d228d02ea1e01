/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of a comparison, all from one model. */
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "tools/diff/combine.h"
#include "tools/diff/compare.h"
#include "tools/diff/gate.h"
#include "tools/diff/sides.h"

/* One compared profile type. */
struct part {
	const struct pair *pair;
	struct combined combined;
	struct comparison comparison;
	struct gate_result *results; /* one per gate that found its item here */
	size_t nresults;
};

struct report {
	enum norm norm;
	bool by_cum;
	size_t top; /* rows of the text report */
	struct part *parts;
	size_t nparts;
};

/* Each appends a whole document. `columns` is the width that text is fit to. */
void report_text(const struct report *r, size_t columns, struct buf *out);
void report_json(const struct report *r, size_t columns, struct buf *out);

/* "fib is 1.2s, was 0.8s, may be 0.81s": a gate's verdict in words, at most `columns` wide
 * (as far as values can be). */
void report_gate(const struct part *p, const struct gate_result *g, size_t columns,
		 struct buf *out);
