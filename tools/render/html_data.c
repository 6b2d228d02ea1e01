/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the data block of the page. */
#include "tools/render/html_data.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/query/weights.h"
#include "lib/ui/escape.h"
#include "lib/ui/name.h"
#include "lib/ui/units.h"

#define EXACT_MAX (INT64_C(1) << 53)
#define SECOND INT64_C(1000000000)

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

uint32_t html_safe_text(struct html_data *d, struct str s)
{
	return intern_put(&d->strings, s.p, s.n);
}

uint32_t html_text(struct html_data *d, struct str s)
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
	html_put_u64(&d->section, html_text(d, (struct str){p, (uint32_t)n}));
}

void html_data_end(struct html_data *d, enum html_section tag)
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
		html_put_u64(&d->section, html_text(d, store_str(st, vt->type)));
		html_put_u64(&d->section, html_text(d, store_str(st, vt->unit)));
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
		html_put_u64(&d->section, html_text(d, key));
		html_put_u64(&d->section, html_text(d, value));
	}
}

static enum html_level first_level(const struct report *r)
{
	switch (r->o->granularity) {
	case GRANULARITY_LINES:
		return HTML_LEVEL_LINES;
	case GRANULARITY_FILES:
		return HTML_LEVEL_FILES;
	case GRANULARITY_BINARIES:
		return HTML_LEVEL_BINARIES;
	case GRANULARITY_ADDRESSES:
		return HTML_LEVEL_ADDRESSES;
	default:
		return HTML_LEVEL_FUNCTIONS;
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
	html_put_u64(&d->section, first_level(r));
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
	html_data_end(d, HTML_PROFILE);
	for (i = 0; i < t->ncolumns; i++)
		html_put_u64(&d->section, type_is_gauge(r->p, i));
	html_data_end(d, HTML_GAUGES);
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
		html_put_u64(b, html_safe_text(d, t->names[t->ranked[i]]));
	for (i = 0; i < n; i++)
		html_put_u64(b, html_text(d, store_str(st, v[t->ranked[i]].where_file)));
	for (i = 0; i < n; i++)
		html_put_i64(b, v[t->ranked[i]].where_line);
	for (i = 0; i < n; i++)
		html_put_u64(b, html_text(d, store_str(st, v[t->ranked[i]].module)));
	for (i = 0; i < n; i++)
		html_put_u64(b, html_text(d, group_of(st, &v[t->ranked[i]])));
	for (i = 0; i < n; i++)
		html_put_u64(b, flags_of(st, &v[t->ranked[i]]));
	html_data_end(d, HTML_FRAMES);
}

/* Build ids of the binaries; of several builds of one there is none to tell. */
static void put_modules(struct html_data *d, const struct report *r,
			const struct html_tree *t)
{
	const struct store *st = r->p->store;
	uint32_t *id = xcalloc(st->strings.n, sizeof(*id)), file, build; /* by file */
	size_t i, n = 0;

	for (i = 0; i < st->nmappings; i++) {
		file = st->mappings[i].file;
		build = st->mappings[i].build_id;
		id[file] = !id[file] || id[file] == build ? build : ID_NONE;
	}
	id[0] = 0;
	for (i = 0; i < t->frames.n; i++) {
		file = t->frames.v[t->ranked[i]].module;
		if (!id[file] || id[file] == ID_NONE)
			continue;
		html_put_u64(&d->section, html_text(d, store_str(st, file)));
		html_put_u64(&d->section, html_text(d, store_str(st, id[file])));
		id[file] = 0;
		n++;
	}
	free(id);
	if (n)
		html_data_end(d, HTML_MODULES);
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
	html_data_end(d, HTML_POPS);
	for (i = 1; i < t->calls.n; i++)
		html_put_u64(b, t->rank[t->calls.v[t->order[i]].frame]);
	html_data_end(d, HTML_NODES);
	for (i = 1; i < t->calls.n; i++) {
		bits |= t->calls.v[t->order[i]].inlined << (i - 1) % 8;
		if (i % 8 == 0 || i + 1 == t->calls.n) {
			buf_putc(b, (char)bits);
			bits = 0;
		}
	}
	html_data_end(d, HTML_INLINED);
}

/* The factor by which all of v is w; 0 if there is none. */
static int64_t factor_of(const int64_t *v, const int64_t *w, size_t n)
{
	int64_t factor = 0, product;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!factor && w[i])
			factor = v[i] / w[i];
		if ((v[i] || w[i]) &&
		    (factor <= 0 || __builtin_mul_overflow(w[i], factor, &product) ||
		     product != v[i]))
			return 0;
	}
	return factor;
}

/* As a multiple of a column before it, if it is one; v are all columns, n values each. */
static bool put_multiple(struct html_data *d, const struct html_tree *t, const int64_t *v,
			 size_t n, size_t column)
{
	size_t of;
	int64_t factor;

	for (of = 0; of < column; of++) {
		factor = shift_of(t, of) ? 0 : factor_of(v + column * n, v + of * n, n);
		if (!factor)
			continue;
		html_put_u64(&d->section, of);
		html_put_u64(&d->section, (uint64_t)factor);
		return true;
	}
	return false;
}

/* All columns of one kind, n values each; `start` begins a section. */
static void put_values(struct html_data *d, const struct html_tree *t, const int64_t *v,
		       size_t n, enum html_section plain, enum html_section multiple,
		       const size_t *side)
{
	unsigned int shift;
	size_t c, i;

	for (c = 0; c < t->ncolumns; c++) {
		shift = shift_of(t, c);
		if (side)
			html_put_u64(&d->section, *side);
		html_put_u64(&d->section, c);
		if (!shift && put_multiple(d, t, v, n, c)) {
			html_data_end(d, multiple);
			continue;
		}
		for (i = 0; i < n; i++)
			html_put_i64(&d->section, shifted(v[c * n + i], shift));
		html_data_end(d, plain);
	}
}

static void put_nodes(struct html_data *d, const struct html_tree *t)
{
	size_t width = t->nsides * t->ncolumns, n = t->calls.n, side, c, i;
	int64_t *v = xcalloc(n * t->ncolumns, sizeof(*v));

	for (side = 0; side < t->nsides; side++) {
		for (c = 0; c < t->ncolumns; c++)
			for (i = 0; i < n; i++)
				v[c * n + i] = t->self[t->order[i] * width +
						       side * t->ncolumns + c];
		put_values(d, t, v, n, HTML_SELF, HTML_MULTIPLE, &side);
	}
	free(v);
}

/* --- cells ------------------------------------------------------------------------------ */

/* The label set of each target; then of each bin its parts, as far as they are of one. */
static void put_targets(struct buf *b, const struct html_cells *c)
{
	uint32_t place[CELLS_TARGETS_MAX] = {0};
	const struct bin_part *part;
	size_t i, k, n;

	html_put_u64(b, c->ntargets);
	for (i = 0; i < c->ntargets; i++) {
		html_put_u64(b, c->targets[i].set);
		place[c->targets[i].number] = (uint32_t)i;
	}
	for (i = 0; i < c->bins.n && c->ntargets; i++) {
		part = c->bins.parts + c->bins.v[i].parts;
		n = c->bins.v[i].nparts;
		n -= part[n - 1].target == TARGET_NONE; /* the last, if it is there */
		html_put_u64(b, n);
		for (k = 0; k < n; k++) {
			html_put_u64(b, place[part[k].target]);
			html_put_u64(b, (uint64_t)part[k].wall_ns);
			html_put_u64(b, (uint64_t)part[k].merged);
		}
	}
}

static void put_bins(struct html_data *d, const struct html_cells *c)
{
	const struct bin *v = c->bins.v;
	struct buf *b = &d->section;
	int64_t ns;
	size_t i;

	html_put_u64(b, c->bins.n);
	html_put_u64(b, c->bins.windows);
	for (i = 0; i < c->bins.n; i++) {
		ns = v[i].start_ns % SECOND;
		ns += ns < 0 ? SECOND : 0;
		html_put_i64(b, v[i].start_ns / SECOND - (v[i].start_ns % SECOND < 0));
		html_put_u64(b, (uint64_t)ns);
		html_put_u64(b, (uint64_t)v[i].until_ns - (uint64_t)v[i].start_ns);
		html_put_u64(b, (uint64_t)v[i].wall_ns);
		html_put_u64(b, (uint64_t)v[i].merged);
	}
	put_targets(b, c);
	html_data_end(d, HTML_BINS);
}

static void put_labels(struct html_data *d, const struct html_cells *c)
{
	struct cells_pair pair;
	struct buf *b = &d->section;
	struct str s;
	size_t i, k;

	html_put_u64(b, c->nkeys);
	for (i = 0; i < c->nkeys; i++)
		html_put_u64(b, html_safe_text(d, c->keys[i].name));
	html_put_u64(b, c->nleft_out);
	for (; i < c->nkeys + c->nleft_out; i++) {
		html_put_u64(b, html_safe_text(d, c->keys[i].name));
		html_put_u64(b, c->keys[i].nvalues);
	}
	html_put_u64(b, c->texts.n);
	for (i = 0; i < c->texts.n; i++)
		html_put_u64(b, html_safe_text(d, intern_str(&c->texts, (uint32_t)i)));
	html_put_u64(b, c->sets.n);
	for (i = 0; i < c->sets.n; i++) {
		s = intern_str(&c->sets, (uint32_t)i);
		html_put_u64(b, s.n / sizeof(pair));
		for (k = 0; k < s.n; k += sizeof(pair)) {
			memcpy(&pair, s.p + k, sizeof(pair));
			html_put_u64(b, pair.key);
			html_put_u64(b, pair.value);
		}
	}
	html_data_end(d, HTML_LABELS);
}

/* Of one bin and one set the nodes say all. */
static bool is_of_parts(const struct html_cells *c)
{
	size_t i;

	for (i = 1; i < c->n; i++) {
		if (c->v[i].set != c->v[0].set || c->v[i].bin != c->v[0].bin)
			return true;
	}
	return false;
}

/* Whether the cells, as they are written, tell each node's self value in all columns. */
static bool add_up(const struct html_tree *t, const struct html_cells *c)
{
	size_t column, node, i;
	int64_t sum;

	for (column = 0; column < t->ncolumns; column++) {
		if (shift_of(t, column))
			return false;
		for (node = 0, i = 0; node < t->calls.n; node++) {
			for (sum = 0; i < c->n && c->v[i].node == node; i++)
				sum += c->values[(size_t)c->v[i].values * t->ncolumns +
						 column];
			if (sum != t->self[t->order[node] * t->ncolumns + column])
				return false;
		}
	}
	return true;
}

static void put_cells(struct html_data *d, const struct html_tree *t,
		      const struct html_cells *c)
{
	int64_t *v = xcalloc(c->n * t->ncolumns, sizeof(*v));
	struct buf *b = &d->section;
	size_t node, i = 0, k;

	html_put_u64(b, c->n);
	for (node = 0; node <= t->calls.n; node++) {
		for (k = i; i < c->n && c->v[i].node == node; i++)
			;
		html_put_u64(b, i - k);
	}
	for (i = 0; i < c->n; i++)
		html_put_u64(b, c->v[i].set);
	for (i = 0; i < c->n; i++) {
		bool follows = i && c->v[i].node == c->v[i - 1].node &&
			       c->v[i].set == c->v[i - 1].set;

		html_put_u64(b, c->v[i].bin - (follows ? c->v[i - 1].bin : 0));
		for (k = 0; k < t->ncolumns; k++)
			v[k * c->n + i] =
				c->values[(size_t)c->v[i].values * t->ncolumns + k];
	}
	html_data_end(d, HTML_CELLS);
	put_values(d, t, v, c->n, HTML_CELL_VALUES, HTML_CELL_MULTIPLE, NULL);
	free(v);
}

/* --- the whole -------------------------------------------------------------------------- */

void html_data_init(struct html_data *d, const char *title, size_t title_n)
{
	*d = (struct html_data){.sections = BUF_INIT(SIZE_MAX / 2),
				.section = BUF_INIT(SIZE_MAX / 2)};
	intern_init(&d->strings);
	put_text(d, title, title_n);
	put_text(d, PROFPIPE_VERSION, strlen(PROFPIPE_VERSION));
	html_data_end(d, HTML_DOCUMENT);
}

void html_data_release(struct html_data *d)
{
	intern_release(&d->strings);
	buf_release(&d->sections);
	buf_release(&d->section);
}

static void put_tree(struct html_data *d, const struct report *r,
		     const struct html_tree *t, const struct html_cells *c)
{
	put_frames(d, r, t);
	put_shape(d, t);
	if (!c || !is_of_parts(c)) {
		put_nodes(d, t);
		return;
	}
	if (!add_up(t, c)) {
		put_nodes(d, t);
		put_cells(d, t, c);
		return;
	}
	put_cells(d, t, c);
	html_data_end(d, HTML_CELL_SUMS);
}

void html_data_add(struct html_data *d, const struct report *r, const struct html_tree *t,
		   const struct html_cells *c)
{
	put_profile(d, r, t);
	put_modules(d, r, t);
	if (c) {
		put_bins(d, c);
		put_labels(d, c);
	}
	put_tree(d, r, t, c);
}

void html_data_add_lines(struct html_data *d, const struct report *r,
			 const struct html_tree *t, const struct html_cells *c)
{
	html_data_end(d, HTML_LINES);
	put_tree(d, r, t, c);
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
