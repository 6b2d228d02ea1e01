/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile by profile, each passed on before the next is read, and the text twin, which is written
 * so: what one says does not hang on those before it.
 */
#include "tools/render/text.h"

#include <errno.h>
#include <stdint.h>

#include "lib/io/output.h"
#include "lib/pprof/writer.h"

/* The profile of a message as the query leaves it; *out NULL where it is left out. */
static int decode(struct render_opts *o, struct store *st, const uint8_t *msg, size_t n,
		  struct profile **out, struct err *e)
{
	struct sample_hooks hooks = query_hooks(o->q);
	struct reader *reader = reader_new(st, o->cli.max_size);
	struct profile *p = NULL;
	struct header h;
	int r;

	*out = NULL;
	query_reset(o->q);
	r = reader_open(reader, msg, n, e);
	if (r)
		goto out;
	h = *reader_header(reader);
	if (!query_take(o->q, st, &h))
		goto out;
	p = profile_new(st);
	header_copy(&p->h, &h);
	r = reader_into(reader, p, &hooks, e);
	if (!r)
		r = query_status(o->q, e);
	if (!r) {
		*out = p;
		p = NULL;
	}
out:
	profile_free(p);
	reader_free(reader);
	return r;
}

/* The message as text; nothing where it is left out. */
static int convert(struct render_opts *o, const uint8_t *msg, size_t n, bool head,
		   struct buf *text, struct err *e)
{
	struct store *st = store_new(STORE_EXACT);
	struct profile *p;
	int r = decode(o, st, msg, n, &p, e);

	if (!r && p)
		r = profile_write_text(p, head, text, e);
	profile_free(p);
	store_free(st);
	return r;
}

static int pass_all(struct render_opts *o, struct source *s, render_one *make,
		    struct output *file, struct err *e)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2);
	const uint8_t *msg;
	size_t n, good = 0;
	bool first = true;
	int r;

	while ((r = source_next(s, &msg, &n, e))) {
		if (r > 0) {
			buf_clear(&text);
			r = make(o, msg, n, first, &text, e);
			if (r)
				err_prefix(e, "%s", source_name(s));
		}
		if (r < 0 && !o->cli.skip_bad)
			break;
		if (r < 0) {
			cli_error("%s", e->msg);
			continue;
		}
		good++;
		if (!text.len)
			continue;
		first = false;
		r = output_write(file, text.data, text.len, e);
		if (!r)
			r = output_flush(file, e);
		if (r)
			break;
	}
	buf_release(&text);
	if (r)
		return r;
	if (!good)
		return err_set(e, ENODATA, "no profile in input");
	return query_taken_status(o->q, e);
}

int render_each(struct render_opts *o, struct source *s, render_one *make, struct err *e)
{
	struct output *file;
	int r;

	r = output_open(o->cli.output, false, &file, e);
	if (r)
		return r;
	r = pass_all(o, s, make, file, e);
	if (r) {
		output_abort(file);
		return r;
	}
	return output_commit(file, e);
}

int render_text(struct render_opts *o, struct source *s, struct err *e)
{
	return render_each(o, s, convert, e);
}
