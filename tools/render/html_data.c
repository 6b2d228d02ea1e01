/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the data block of the page. */
#include "tools/render/html_data.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"

#define EXACT_MAX (INT64_C(1) << 53)

/* --- primitives ------------------------------------------------------------------------- */

void html_put_u64(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(b, (char)(v | 0x80));
	buf_putc(b, (char)v);
}

void html_put_i64(struct buf *b, int64_t v)
{
	html_put_u64(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_double(struct buf *b, double v)
{
	uint64_t bits;
	int i;

	memcpy(&bits, &v, sizeof(bits));
	for (i = 0; i < 8; i++)
		buf_putc(b, (char)(bits >> 8 * i));
}

/* The number of a text that is safe already. */
static uint32_t safe_text(struct html_data *d, struct str s)
{
	return intern_put(&d->strings, s.p, s.n);
}

static uint32_t text(struct html_data *d, struct str s)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	uint32_t id;

	escape_terminal(&b, s.p, s.n);
	id = intern_put(&d->strings, buf_str(&b), b.len);
	buf_release(&b);
	return id;
}

static void put_text(struct html_data *d, const char *p, size_t n)
{
	html_put_u64(&d->section, text(d, (struct str){p, (uint32_t)n}));
}

static void end_section(struct html_data *d, enum html_section tag)
{
	html_put_u64(&d->sections, tag);
	html_put_u64(&d->sections, d->section.len);
	buf_put(&d->sections, d->section.data, d->section.len);
	d->sections.overflow |= d->section.overflow;
	buf_clear(&d->section);
}

/* --- sections --------------------------------------------------------------------------- */

static unsigned int shift_of(const struct html_tree *t, size_t column)
{
	unsigned int shift = 0;
	int64_t sum = 0;
	size_t side;

	for (side = 0; side < t->nsides; side++)
		sum += t->totals[side * t->ncolumns + column]; /* fits: it was tried */
	for (; sum >> shift > EXACT_MAX; shift++)
		;
	return shift;
}

static int64_t shifted(int64_t v, unsigned int shift)
{
	return v / (INT64_C(1) << shift);
}

static void put_columns(struct html_data *d, const struct report *r,
			const struct html_tree *t)
{
	const struct store *st = r->p->store;
	const struct value_type *vt;
	unsigned int shift;
	size_t c, side;

	html_put_u64(&d->section, t->ncolumns);
	html_put_u64(&d->section, r->column);
	for (c = 0; c < t->ncolumns; c++) {
		vt = &r->p->h.types[c];
		shift = shift_of(t, c);
		html_put_u64(&d->section, text(d, store_str(st, vt->type)));
		html_put_u64(&d->section, text(d, store_str(st, vt->unit)));
		html_put_u64(&d->section, shift);
		for (side = 0; side < t->nsides; side++)
			html_put_i64(&d->section,
				     shifted(t->totals[side * t->ncolumns + c], shift));
	}
}

/* "profpipe: KEY=VALUE" taken apart. */
static bool split_fact(struct str s, struct str *key, struct str *value)
{
	static const char ours[] = "profpipe: ";
	uint32_t skip = sizeof(ours) - 1;
	const char *is;

	if (s.n <= skip || memcmp(s.p, ours, skip))
		return false;
	is = memchr(s.p + skip, '=', s.n - skip);
	if (!is)
		return false;
	*key = (struct str){s.p + skip, (uint32_t)(is - s.p) - skip};
	*value = (struct str){is + 1, s.n - (uint32_t)(is - s.p) - 1};
	return true;
}

static void put_facts(struct html_data *d, const struct report *r)
{
	const struct header *h = &r->p->h;
	struct str key, value;
	size_t n = 0, i;

	for (i = 0; i < h->ncomments; i++)
		n += split_fact(store_str(r->p->store, h->comments[i]), &key, &value);
	html_put_u64(&d->section, n);
	for (i = 0; i < h->ncomments; i++) {
		if (!split_fact(store_str(r->p->store, h->comments[i]), &key, &value))
			continue;
		html_put_u64(&d->section, text(d, key));
		html_put_u64(&d->section, text(d, value));
	}
}

static void put_profile(struct html_data *d, const struct report *r,
			const struct html_tree *t)
{
	const struct header *h = &r->p->h;
	char when[NUM_TIME_MAX] = "", duration[UNITS_TEXT_MAX] = "";
	const char *const *filters;
	size_t n, i;

	html_put_u64(&d->section, t->has_negative ? HTML_HAS_NEGATIVE : 0);
	if (h->time_ns)
		num_format_time(h->time_ns, when);
	if (h->duration_ns)
		units_format(h->duration_ns, "nanoseconds", "auto", duration);
	put_text(d, when, strlen(when));
	put_text(d, duration, strlen(duration));
	put_double(&d->section, (double)h->duration_ns / 1e9);
	filters = query_filter_texts(r->q, &n);
	html_put_u64(&d->section, n);
	for (i = 0; i < n; i++)
		put_text(d, filters[i], strlen(filters[i]));
	put_facts(d, r);
	html_put_u64(&d->section, t->nsides);
	put_columns(d, r, t);
	end_section(d, HTML_PROFILE);
}

/* What a box is coloured by: the package in the name, else the binary. */
static struct str group_of(const struct store *st, const struct frame *fr)
{
	struct str s = store_str(st, fr->name);

	s.n = (uint32_t)name_package(s.p, s.n);
	return s.n ? s : path_base(store_str(st, fr->module));
}

static unsigned int flags_of(const struct store *st, const struct frame *fr)
{
	struct str name = store_str(st, fr->name), module = store_str(st, fr->module);
	unsigned int flags = fr->inlined ? HTML_FRAME_INLINED : 0;

	if (module.n && module.p[0] == '[')
		flags |= HTML_FRAME_KERNEL;
	if (!module.n && name.n && name.p[0] == '[')
		flags |= HTML_FRAME_NOTE;
	if (!name.n)
		flags |= HTML_FRAME_UNNAMED;
	return flags;
}

static void put_frames(struct html_data *d, const struct report *r,
		       const struct html_tree *t)
{
	const struct store *st = r->p->store;
	size_t n = t->frames.n, i;
	const struct frame *v = t->frames.v;
	struct buf *b = &d->section;

	html_put_u64(b, n);
	for (i = 0; i < n; i++)
		html_put_u64(b, safe_text(d, t->names[t->ranked[i]]));
	for (i = 0; i < n; i++)
		html_put_u64(b, text(d, store_str(st, v[t->ranked[i]].where_file)));
	for (i = 0; i < n; i++)
		html_put_i64(b, v[t->ranked[i]].where_line);
	for (i = 0; i < n; i++)
		html_put_u64(b, text(d, store_str(st, v[t->ranked[i]].module)));
	for (i = 0; i < n; i++)
		html_put_u64(b, text(d, group_of(st, &v[t->ranked[i]])));
	for (i = 0; i < n; i++)
		html_put_u64(b, flags_of(st, &v[t->ranked[i]]));
	end_section(d, HTML_FRAMES);
}

static void put_shape(struct html_data *d, const struct html_tree *t)
{
	struct buf *b = &d->section;
	uint32_t at, id;
	size_t i;
	uint64_t pops;
	int bits = 0;

	html_put_u64(b, t->calls.n - 1);
	for (i = 1; i < t->calls.n; i++) {
		id = t->order[i];
		pops = 0;
		for (at = t->order[i - 1]; at != t->calls.v[id].parent;
		     at = t->calls.v[at].parent)
			pops++;
		html_put_u64(b, pops);
	}
	end_section(d, HTML_POPS);
	for (i = 1; i < t->calls.n; i++)
		html_put_u64(b, t->rank[t->calls.v[t->order[i]].frame]);
	end_section(d, HTML_NODES);
	for (i = 1; i < t->calls.n; i++) {
		bits |= t->calls.v[t->order[i]].inlined << (i - 1) % 8;
		if (i % 8 == 0 || i + 1 == t->calls.n) {
			buf_putc(b, (char)bits);
			bits = 0;
		}
	}
	end_section(d, HTML_INLINED);
}

/* The factor by which all of set `k` is that of set `of`; 0 if there is none. */
static int64_t factor_of(const struct html_tree *t, size_t k, size_t of)
{
	size_t width = t->nsides * t->ncolumns, i;
	int64_t factor = 0, v, w, product;

	for (i = 0; i < t->calls.n; i++) {
		v = t->self[i * width + k];
		w = t->self[i * width + of];
		if (!factor && w)
			factor = v / w;
		if ((v || w) &&
		    (factor <= 0 || __builtin_mul_overflow(w, factor, &product) ||
		     product != v))
			return 0;
	}
	return factor;
}

/* As a multiple of a column of the same side that is before it; true if it is one. */
static bool put_multiple(struct html_data *d, const struct html_tree *t, size_t k)
{
	size_t first = k - k % t->ncolumns, of;
	int64_t factor;

	for (of = first; of < k; of++) {
		factor = shift_of(t, of - first) ? 0 : factor_of(t, k, of);
		if (!factor)
			continue;
		html_put_u64(&d->section, k / t->ncolumns);
		html_put_u64(&d->section, k % t->ncolumns);
		html_put_u64(&d->section, of - first);
		html_put_u64(&d->section, (uint64_t)factor);
		end_section(d, HTML_MULTIPLE);
		return true;
	}
	return false;
}

static void put_values(struct html_data *d, const struct html_tree *t)
{
	size_t width = t->nsides * t->ncolumns, k, i;
	unsigned int shift;

	for (k = 0; k < width; k++) {
		shift = shift_of(t, k % t->ncolumns);
		if (!shift && put_multiple(d, t, k))
			continue;
		html_put_u64(&d->section, k / t->ncolumns);
		html_put_u64(&d->section, k % t->ncolumns);
		for (i = 0; i < t->calls.n; i++)
			html_put_i64(&d->section,
				     shifted(t->self[t->order[i] * width + k], shift));
		end_section(d, HTML_SELF);
	}
}

/* --- the whole -------------------------------------------------------------------------- */

void html_data_init(struct html_data *d, const char *title, size_t title_n)
{
	*d = (struct html_data){.sections = BUF_INIT(SIZE_MAX / 2),
				.section = BUF_INIT(SIZE_MAX / 2)};
	intern_init(&d->strings);
	put_text(d, title, title_n);
	put_text(d, PROFPIPE_VERSION, strlen(PROFPIPE_VERSION));
	end_section(d, HTML_DOCUMENT);
}

void html_data_release(struct html_data *d)
{
	intern_release(&d->strings);
	buf_release(&d->sections);
	buf_release(&d->section);
}

void html_data_add(struct html_data *d, const struct report *r, const struct html_tree *t)
{
	put_profile(d, r, t);
	put_frames(d, r, t);
	put_shape(d, t);
	put_values(d, t);
}

void html_data_finish(struct html_data *d, struct buf *out)
{
	struct buf *b = &d->section;
	size_t i;

	html_put_u64(b, d->strings.n);
	for (i = 0; i < d->strings.n; i++)
		html_put_u64(b, intern_str(&d->strings, (uint32_t)i).n);
	for (i = 0; i < d->strings.n; i++)
		buf_put(b, intern_str(&d->strings, (uint32_t)i).p,
			intern_str(&d->strings, (uint32_t)i).n);
	html_put_u64(out, HTML_DATA_VERSION);
	html_put_u64(out, HTML_STRINGS);
	html_put_u64(out, b->len);
	buf_put(out, b->data, b->len);
	buf_put(out, d->sections.data, d->sections.len);
	out->overflow |= d->sections.overflow || b->overflow;
	buf_clear(b);
}
