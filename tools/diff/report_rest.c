/* SPDX-License-Identifier: Apache-2.0 */
/* What was not compared, in the same words for text and Markdown. */
#include <string.h>

#include "lib/ui/escape.h"
#include "tools/diff/report.h"

/* Sample types that the profiles have beside the one that is reported. */
static void put_other_types(const struct comparison *c, struct buf *line)
{
	struct str type;
	size_t i;

	if (c->p->h.ntypes < 2)
		return;
	buf_puts(line, "other sample types (-t):");
	for (i = 0; i < c->p->h.ntypes; i++) {
		if (i == c->column)
			continue;
		type = store_str(c->p->store, c->p->h.types[i].type);
		buf_putc(line, ' ');
		escape_terminal(line, type.p, type.n);
	}
}

static void put_of_part(const struct part *p, size_t which, struct buf *line)
{
	const struct comparison *c = &p->comparison;
	const struct evidence *ev = &p->evidence;

	switch (which) {
	case 0:
		buf_printf(line,
			   "in functions of both sides: %.1f%% of base, %.1f%% of new",
			   c->matched[0] * 100, c->matched[1] * 100);
		break;
	case 1:
		if (c->unnamed_share[0] > 0 || c->unnamed_share[1] > 0)
			buf_printf(
				line,
				"not compared by function: without names are %.2g%% of "
				"base, %.2g%% of new",
				c->unnamed_share[0] * 100, c->unnamed_share[1] * 100);
		break;
	case 2:
		if (ev->empty)
			buf_printf(line, "left out: %zu profiles without a sample",
				   ev->empty);
		break;
	case 3:
		if (ev->one_source)
			buf_puts(line, "replicates of a side are of one host or run: how "
				       "runs differ is not known");
		break;
	case 4:
		if (ev->scale_unknown)
			buf_puts(line,
				 "too few functions to tell what rose from what the "
				 "others fell by: --work");
		break;
	case 5:
		if (ev->unpaired)
			buf_printf(line, "left out: %zu replicates without a twin",
				   ev->unpaired);
		break;
	case 6:
		if (p->pair->inlined_only >= 0)
			buf_printf(line, "only %s has inlined frames%s",
				   p->pair->inlined_only == SIDE_NEW ? "new" : "base",
				   p->pair->folded
					   ? ": they count as what they are inlined into"
					   : "");
		break;
	default:
		put_other_types(c, line);
		break;
	}
}

static void put_of_all(const struct sides *s, size_t which, struct buf *line)
{
	struct buf b = BUF_INIT(400);

	if (which < s->nlonely) {
		lonely_text(&s->lonely[which], &b);
		escape_terminal(line, buf_str(&b), b.len);
	} else if (s->left_out[SIDE_BASE] || s->left_out[SIDE_NEW]) {
		buf_printf(line,
			   "left out, of another type or time: %zu profiles of base, %zu "
			   "of new",
			   s->left_out[SIDE_BASE], s->left_out[SIDE_NEW]);
	}
	buf_release(&b);
}

bool report_left_out(const struct report *r, const struct part *p, size_t *at,
		     struct buf *line)
{
	size_t n = p ? 8 : r->sides->nlonely + 1, before = line->len;

	while (*at < n && line->len == before) {
		if (p)
			put_of_part(p, (*at)++, line);
		else
			put_of_all(r->sides, (*at)++, line);
	}
	return line->len > before;
}
