/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks: "root;child;leaf VALUE", one line per distinct stack, in byte order. A ";" in
 * a name becomes ":", control characters are escaped, so that a line is always one stack.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/intern.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "tools/render/report.h"

#define EMPTY_STACK "[no frames]"

struct folded_line {
	struct str text; /* without the value */
	int64_t value;
};

struct folded {
	struct frames frames;
	struct intern names; /* of frames, escaped; and then the lines */
	uint32_t *name;	     /* by frame id: string id + 1 */
	size_t nnames;
	struct intern texts;
	int64_t *sums; /* by string id of texts */
	size_t nsums;
};

static struct str frame_name(struct folded *f, uint32_t frame)
{
	struct buf raw = BUF_INIT(SIZE_MAX / 2), b = BUF_INIT(SIZE_MAX / 2);
	size_t cap = f->nnames, i;

	if (frame >= f->nnames) {
		XRESERVE(f->name, cap, f->frames.n);
		memset(f->name + f->nnames, 0, (cap - f->nnames) * sizeof(*f->name));
		f->nnames = cap;
	}
	if (!f->name[frame]) {
		frames_name(&f->frames, frame, &raw);
		escape_terminal(&b, buf_str(&raw), raw.len);
		for (i = 0; i < b.len; i++) {
			if (b.data[i] == ';')
				b.data[i] = ':';
		}
		f->name[frame] = intern_put(&f->names, b.data, b.len) + 1;
		buf_release(&raw);
		buf_release(&b);
	}
	return intern_str(&f->names, f->name[frame] - 1);
}

static void put_stack(struct folded *f, uint32_t stack, struct buf *line)
{
	const uint32_t *locations, *ids;
	uint32_t n, k, i, j;
	struct str name;

	locations = store_frames(f->frames.p->store, stack, &n);
	for (i = n; i; i--) {
		ids = frames_of(&f->frames, locations[i - 1], &k);
		for (j = 0; j < k; j++) {
			name = frame_name(f, ids[j]);
			if (line->len)
				buf_putc(line, ';');
			buf_put(line, name.p, name.n);
		}
	}
	if (!n)
		buf_puts(line, EMPTY_STACK);
}

/* Different stacks may come to the same line: they are added. Their sum is within the total. */
static void add_lines(struct folded *f, const struct weights *w)
{
	struct buf line = BUF_INIT(SIZE_MAX / 2);
	size_t cap, i;
	uint32_t id;

	for (i = 0; i < w->n; i++) {
		buf_clear(&line);
		put_stack(f, w->v[i].stack, &line);
		id = intern_put(&f->texts, line.data, line.len);
		if (id >= f->nsums) {
			cap = f->nsums;
			XRESERVE(f->sums, cap, (size_t)id + 1);
			memset(f->sums + f->nsums, 0,
			       (cap - f->nsums) * sizeof(*f->sums));
			f->nsums = cap;
		}
		f->sums[id] += w->v[i].plus + w->v[i].minus;
	}
	buf_release(&line);
}

/* The order of the whole lines, value included, as sort(1) in the C locale has it. */
static int cmp_lines(const void *a, const void *b)
{
	const struct folded_line *x = a, *y = b;
	char vx[32], vy[32];
	size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
	int c = memcmp(x->text.p, y->text.p, n);

	if (c)
		return c;
	snprintf(vx, sizeof(vx), " %" PRId64, x->value);
	snprintf(vy, sizeof(vy), " %" PRId64, y->value);
	/* one text is the start of the other: its value stands against the other's rest */
	if (x->text.n < y->text.n)
		return strncmp(vx, y->text.p + n, y->text.n - n) ?: 1;
	if (x->text.n > y->text.n)
		return strncmp(x->text.p + n, vy, x->text.n - n) ?: -1;
	return strcmp(vx, vy);
}

static void put_lines(struct folded *f, struct buf *out)
{
	struct folded_line *lines = xcalloc(f->texts.n + 1, sizeof(*lines));
	size_t n = 0, i;

	for (i = 0; i < f->texts.n && i < f->nsums; i++) {
		if (f->sums[i])
			lines[n++] = (struct folded_line){
				intern_str(&f->texts, (uint32_t)i), f->sums[i]};
	}
	qsort(lines, n, sizeof(*lines), cmp_lines);
	for (i = 0; i < n; i++) {
		buf_put(out, lines[i].text.p, lines[i].text.n);
		buf_printf(out, " %" PRId64 "\n", lines[i].value);
	}
	free(lines);
}

int report_folded(const struct report *r, struct buf *out, struct err *e)
{
	struct folded f = {0};
	struct weights w;
	int ret;

	frames_init(&f.frames, r->p, r->o->granularity);
	intern_init(&f.names);
	intern_init(&f.texts);
	ret = weights_init(&w, r->q, r->p, r->column, e);
	if (!ret) {
		add_lines(&f, &w);
		put_lines(&f, out);
	}
	weights_release(&w);
	intern_release(&f.names);
	intern_release(&f.texts);
	free(f.name);
	free(f.sums);
	frames_release(&f.frames);
	return ret;
}
