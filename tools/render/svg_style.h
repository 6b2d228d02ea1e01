/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of the static SVG: fixed, told by content alone, legible in light and dark. */
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/intern.h"
#include "tools/render/report.h"

enum svg_kind {
	SVG_USER,
	SVG_KERNEL,
	SVG_NOTE,    /* what the profiler has to say: "[truncated]" */
	SVG_INLINED, /* in the legend; as a box it is one of the above, paler */
	SVG_REST,    /* frames too narrow to draw */
	SVG_KINDS,
};

/* Class of a box; `key` chooses among the colours of user code. */
void svg_class(char class[8], enum svg_kind kind, struct str key, bool inlined);

/* Class of a box in a difference; `change` is new - base as a part of the base's total. */
void svg_change_class(char class[8], double change);

/* `changes`: the boxes are those of a difference. */
void svg_put_style(struct buf *out, bool changes);

/* The kinds that are there, from (x, y) on. */
void svg_put_legend(struct buf *out, const bool kinds[SVG_KINDS], int x, int y);

/* That of a difference; `rest`: there are grey boxes of narrow frames. */
void svg_put_change_legend(struct buf *out, enum diff_width by, bool rest, int x, int y);
