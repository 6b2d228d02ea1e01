/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of label values and subtrees in the text report. */
#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "tools/diff/report_text.h"

#define PATH_MAX_SHOWN 3
#define PATH_NAME_COLUMNS 20

void text_path(const struct text *t, const uint32_t *path, size_t n, struct buf *line)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2), name = BUF_INIT(SIZE_MAX / 2);
	size_t i, first = n > PATH_MAX_SHOWN ? n - PATH_MAX_SHOWN : 0;

	if (first)
		buf_puts(line, "... ");
	for (i = first; i < n; i++) {
		buf_clear(&b);
		buf_clear(&name);
		frames_name(&t->p->comparison.frames, path[i], &b);
		escape_terminal(&name, buf_str(&b), b.len);
		if (i > first)
			buf_puts(line, " > ");
		name_fit(line, buf_str(&name), name.len, PATH_NAME_COLUMNS);
	}
	buf_release(&b);
	buf_release(&name);
}

/* Of labels all values, of subtrees the roots of what changed. */
static bool is_shown(const struct family *f, const struct item *item)
{
	return f->label || (item->is_root && item->finding.verdict > VERDICT_UNCHANGED);
}

static void put_item(const struct text *t, const struct family *f,
		     const struct item *item, struct buf *line)
{
	static const struct str none = {"(none)", 6};

	text_amounts(t, &item->amount, text_mark(item->finding.verdict), line);
	if (f->label) {
		text_name(t, item->name.n ? item->name : none, line);
		return;
	}
	text_path(t, item->path, item->depth, line);
	text_end_line(t, line);
}

static void put_family(const struct text *t, const struct family *f)
{
	struct buf line = BUF_INIT(SIZE_MAX / 2), what = BUF_INIT(SIZE_MAX / 2);
	size_t i, shown = 0, left = 0;

	report_family(f, &what);
	buf_putc(t->out, '\n');
	for (i = 0; i < f->n; i++) {
		if (!is_shown(f, &f->v[i]))
			continue;
		if (t->r->top && shown >= t->r->top) {
			left++;
			continue;
		}
		if (!shown++)
			text_heading(t, buf_str(&what));
		put_item(t, f, &f->v[i], &line);
	}
	if (!shown)
		buf_printf(t->out, "no %s changed\n", buf_str(&what));
	if (left)
		buf_printf(t->out, "... and %zu more (--top 0 shows all)\n", left);
	buf_release(&line);
	buf_release(&what);
}

void text_families(const struct text *t)
{
	size_t i;

	for (i = 0; i < t->p->families.n; i++)
		put_family(t, &t->p->families.v[i]);
}
