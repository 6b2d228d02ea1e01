/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the text twin. */
#include <errno.h>
#include <inttypes.h>

#include "lib/pprof/order.h"
#include "lib/pprof/text.h"
#include "lib/pprof/writer.h"

/* Bytes of the valid UTF-8 character at p above ASCII, or 0 (Unicode 15, table 3-7). */
static size_t utf8_length(const uint8_t *p, size_t n)
{
	size_t len = p[0] < 0xc2   ? 0
		     : p[0] < 0xe0 ? 2
		     : p[0] < 0xf0 ? 3
		     : p[0] < 0xf5 ? 4
				   : 0;
	size_t i;

	if (!len || len > n)
		return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	/* C1 controls can drive a terminal */
	if (p[0] == 0xc2 && p[1] < 0xa0)
		return 0;
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

static void put_str(struct buf *b, struct str s)
{
	const uint8_t *p = (const uint8_t *)s.p;
	size_t i, len;

	buf_putc(b, '"');
	for (i = 0; i < s.n; i++) {
		len = p[i] < 0x80 ? 1 : utf8_length(p + i, s.n - i);
		if (p[i] == '"' || p[i] == '\\')
			buf_printf(b, "\\%c", p[i]);
		else if (p[i] == '\n')
			buf_puts(b, "\\n");
		else if (p[i] == '\t')
			buf_puts(b, "\\t");
		else if (!len || p[i] < 0x20 || p[i] == 0x7f)
			buf_printf(b, "\\x%02x", p[i]);
		else
			buf_put(b, p + i, len);
		if (len > 1)
			i += len - 1;
	}
	buf_putc(b, '"');
}

/* `word "text"`, when there is text. */
static void put_line(struct buf *b, const struct store *st, const char *word, uint32_t id)
{
	if (!id)
		return;
	buf_printf(b, "%s ", word);
	put_str(b, store_str(st, id));
	buf_putc(b, '\n');
}

static void put_value_type(struct buf *b, const struct store *st,
			   const struct value_type *t)
{
	put_str(b, store_str(st, t->type));
	buf_putc(b, ' ');
	put_str(b, store_str(st, t->unit));
}

static void put_header(struct buf *b, const struct profile *p)
{
	const struct store *st = p->store;
	const struct header *h = &p->h;
	bool marked = !h->default_type;
	size_t i;

	buf_puts(b, "profile\n");
	if (h->time_ns)
		buf_printf(b, "time %" PRId64 "\n", h->time_ns);
	if (h->duration_ns)
		buf_printf(b, "duration %" PRId64 "\n", h->duration_ns);
	if (h->period_type.type || h->period_type.unit || h->period) {
		buf_puts(b, "period ");
		put_value_type(b, st, &h->period_type);
		buf_printf(b, " %" PRId64 "\n", h->period);
	}
	for (i = 0; i < h->ntypes; i++) {
		buf_puts(b, "type ");
		put_value_type(b, st, &h->types[i]);
		if (!marked && h->types[i].type == h->default_type) {
			buf_puts(b, " default");
			marked = true;
		}
		buf_putc(b, '\n');
	}
	if (!marked)
		put_line(b, st, "default", h->default_type);
	for (i = 0; i < h->ncomments; i++) {
		buf_puts(b, "comment ");
		put_str(b, store_str(st, h->comments[i]));
		buf_putc(b, '\n');
	}
	put_line(b, st, "drop", h->drop_frames);
	put_line(b, st, "keep", h->keep_frames);
	put_line(b, st, "doc", h->doc_url);
}

static void put_tables(struct buf *b, const struct profile *p, const struct order *o)
{
	static const char letters[] = "FNLI";
	const struct store *st = p->store;
	const struct location *l;
	const struct function *f;
	const struct line *lines;
	struct mapping m;
	uint32_t k;
	size_t i;

	for (i = 0; i < o->nmappings; i++) {
		m = profile_mapping(p, o->mappings[i]);
		buf_printf(b, "mapping %zu 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " ",
			   i + 1, m.start, m.limit, m.offset);
		put_str(b, store_str(st, m.file));
		buf_putc(b, ' ');
		put_str(b, store_str(st, m.build_id));
		buf_putc(b, ' ');
		for (k = 0; k < 4; k++) {
			if (m.flags & 1u << k)
				buf_putc(b, letters[k]);
		}
		buf_puts(b, m.flags ? "\n" : "-\n");
	}
	for (i = 0; i < o->nfunctions; i++) {
		f = &st->functions[o->functions[i]];
		buf_printf(b, "function %zu ", i + 1);
		put_str(b, store_str(st, f->name));
		buf_putc(b, ' ');
		put_str(b, store_str(st, f->system_name));
		buf_putc(b, ' ');
		put_str(b, store_str(st, f->file));
		buf_printf(b, " %" PRId64 "\n", f->start_line);
	}
	for (i = 0; i < o->nlocations; i++) {
		l = &st->locations[o->locations[i]];
		lines = store_lines(st, o->locations[i]);
		buf_printf(b, "location %zu m%u 0x%" PRIx64, i + 1, order_mapping(o, l),
			   profile_address(p, o->locations[i]));
		for (k = 0; k < l->nlines; k++)
			buf_printf(b, " f%u:%" PRId64 ":%" PRId64,
				   o->function_no[lines[k].function], lines[k].line,
				   lines[k].column);
		buf_puts(b, l->folded ? " folded\n" : "\n");
	}
}

static void put_sample(struct buf *b, const struct profile *p, const struct order *o,
		       size_t s)
{
	const struct store *st = p->store;
	const struct label *l;
	const uint32_t *frames;
	uint32_t n, k;
	size_t i;

	buf_puts(b, "sample");
	for (i = 0; i < p->h.ntypes; i++)
		buf_printf(b, " %" PRId64, profile_values(p, s)[i]);
	buf_puts(b, " :");
	frames = store_frames(st, p->samples[s].stack, &n);
	for (k = 0; k < n; k++)
		buf_printf(b, " %u", o->location_no[frames[k]]);
	l = store_labels(st, p->samples[s].labelset, &n);
	if (n)
		buf_puts(b, " :");
	for (k = 0; k < n; k++) {
		buf_putc(b, ' ');
		put_str(b, store_str(st, l[k].key));
		buf_putc(b, '=');
		if (!l[k].numeric) {
			put_str(b, store_str(st, l[k].str));
			continue;
		}
		buf_printf(b, "%" PRId64, l[k].num);
		if (l[k].unit)
			put_str(b, store_str(st, l[k].unit));
	}
	buf_putc(b, '\n');
}

int profile_write_text(const struct profile *p, bool head, struct buf *out, struct err *e)
{
	struct order o;
	size_t i;

	order_init(&o, p);
	if (head)
		buf_puts(out, TEXT_MAGIC "\n");
	put_header(out, p);
	put_tables(out, p, &o);
	for (i = 0; i < p->nsamples; i++)
		put_sample(out, p, &o, o.samples[i]);
	buf_puts(out, "end\n");
	order_release(&o);
	if (out->overflow)
		return err_set(e, E2BIG, "profile too large to write as text");
	return 0;
}
