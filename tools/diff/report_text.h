/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the text report have in common. */
#pragma once

#include "lib/ui/units.h"
#include "tools/diff/report.h"

/* A name is not shortened to less. */
#define NAME_COLUMNS_MIN 16

struct text {
	const struct report *r;
	struct part *p;
	const char *unit, *unit_out;
	size_t columns;
	struct buf *out;
};

const char *text_value(const struct text *t, int64_t v, char text[UNITS_TEXT_MAX]);

/* "+1.20s": a change always says its direction. */
void text_change(const struct text *t, const struct amount *a, int width,
		 struct buf *line);

/* A line of the heading: cut where it is too wide. */
void text_end_line(const struct text *t, struct buf *line);

/* What something is in one short word. */
const char *text_mark(enum verdict v);

/* The columns of a table: their heading, the numbers of a row, and the name that ends it. */
void text_heading(const struct text *t, const char *what);
void text_amounts(const struct text *t, const struct amount *a, const char *mark,
		  struct buf *line);
void text_name(const struct text *t, struct str name, struct buf *line);

/* A name in what `taken` leaves of the width. */
void text_fit_name(const struct text *t, struct str name, size_t taken, struct buf *line);

/* "+0.10% to +0.30%" */
void text_interval(const struct finding *f, struct buf *line);

/* Frames, the innermost ones of many. */
void text_path(const struct text *t, const uint32_t *path, size_t n, struct buf *line);

/* Rises first, then what moved or has another name, then falls; each largest first. */
void text_findings(const struct text *t);

/* What --by asked for. */
void text_families(const struct text *t);
