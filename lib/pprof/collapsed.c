/* SPDX-License-Identifier: Apache-2.0 */
/* Reading collapsed stacks. */
#include "lib/pprof/collapsed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/model.h"
#include "lib/pprof/span.h"
#include "lib/pprof/writer.h"

/* Take " COUNT" off the end of a line: 0, -EINVAL when there is none, -ERANGE. */
static int take_count(struct span *line, int64_t *count)
{
	const char *p = line->end, *digit;
	int64_t v = 0;

	while (p > line->p && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (p == line->end || p - line->p < 2 || (p[-1] != ' ' && p[-1] != '\t'))
		return -EINVAL;
	for (digit = p; digit < line->end; digit++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *digit - '0', &v))
			return -ERANGE;
	}
	line->end = p - 1;
	*count = v;
	return 0;
}

bool collapsed_sniff(const uint8_t *p, size_t n)
{
	struct span text = {(const char *)p, (const char *)p + n}, line;
	const char *c;
	int64_t count;
	size_t no = 0;

	if (!span_full_line(&text, &line, &no))
		return false;
	for (c = line.p; c < line.end; c++) {
		if ((uint8_t)*c < 0x20 && *c != '\t')
			return false;
	}
	return take_count(&line, &count) != -EINVAL;
}

/* "name (file:12)": the file and the line taken off. */
static int64_t take_place(struct span *name, struct span *file)
{
	const char *p = name->end - 1, *open;
	int64_t line = 0, unit = 1;

	*file = (struct span){name->end, name->end};
	if (name->end - name->p < 6 || *p != ')')
		return 0;
	for (p--; p > name->p && *p >= '0' && *p <= '9' && unit < 1000000000; p--) {
		line += (*p - '0') * unit;
		unit *= 10;
	}
	if (unit == 1 || *p != ':')
		return 0;
	for (open = p; open > name->p + 1 && *open != '('; open--)
		;
	if (open <= name->p + 1 || open[-1] != ' ' || p - open < 2)
		return 0;
	*file = (struct span){open + 1, p};
	name->end = open - 1;
	return line;
}

static uint32_t put_frame(struct store *st, struct span name)
{
	struct span file;
	struct line line = {.line = take_place(&name, &file)};
	struct function f = {0};

	f.name = intern_put(&st->strings, name.p, (size_t)(name.end - name.p));
	f.file = intern_put(&st->strings, file.p, (size_t)(file.end - file.p));
	line.function = store_function(st, &f);
	return store_location(st, ID_NONE, 0, false, &line, 1);
}

/* Frames are written from the root, stacks are kept from the leaf. */
static uint32_t put_stack(struct store *st, struct span line, uint32_t **frames,
			  size_t *cap)
{
	struct span frame;
	uint32_t n = 0, i, swap;

	for (frame.p = line.p; frame.p < line.end; frame.p = frame.end + 1) {
		frame.end = memchr(frame.p, ';', (size_t)(line.end - frame.p));
		if (!frame.end)
			frame.end = line.end;
		if (frame.end == frame.p)
			continue;
		XGROW(*frames, n, *cap);
		(*frames)[n++] = put_frame(st, frame);
	}
	for (i = 0; i < n / 2; i++) {
		swap = (*frames)[i];
		(*frames)[i] = (*frames)[n - 1 - i];
		(*frames)[n - 1 - i] = swap;
	}
	return store_stack(st, *frames, n);
}

static int read_lines(struct span text, struct profile *p, struct err *e)
{
	uint32_t *frames = NULL, none = store_labelset(p->store, NULL, 0);
	struct span line;
	size_t cap = 0, no = 0;
	int64_t count;
	int r = 0;

	while (!r && span_full_line(&text, &line, &no)) {
		r = take_count(&line, &count);
		if (r == -EINVAL)
			r = err_set(e, EBADMSG,
				    "line %zu: no count at the end of a collapsed stack",
				    no);
		else if (r == -ERANGE)
			r = err_set(e, EBADMSG, "line %zu: the count is too large", no);
		else
			r = profile_add(p, put_stack(p->store, line, &frames, &cap), none,
					&count, e);
	}
	free(frames);
	return r;
}

int collapsed_message(const uint8_t *p, size_t n, struct buf *msg, struct err *e)
{
	struct store *st = store_new(STORE_EXACT);
	struct profile *profile = profile_new(st);
	struct value_type *type = xcalloc(1, sizeof(*type));
	int r;

	type->type = store_puts(st, "samples");
	type->unit = store_puts(st, "count");
	profile->h.types = type;
	profile->h.ntypes = 1;
	buf_clear(msg);
	r = read_lines((struct span){(const char *)p, (const char *)p + n}, profile, e);
	if (!r)
		r = profile_encode(profile, msg, e);
	profile_free(profile);
	store_free(st);
	return r;
}
