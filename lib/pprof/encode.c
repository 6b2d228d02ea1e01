/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pprof message, written by protobuf-c piece by piece: a message split into several that
 * each hold some of the fields is the same message when their bytes are joined (protobuf.dev,
 * "Last One Wins" and "repeated"), so that only a few rows at a time exist as objects.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/io/gz.h"
#include "lib/pprof/order.h"
#include "lib/pprof/profile.pb-c.h"
#include "lib/pprof/writer.h"

typedef Perftools__Profiles__Profile pb_profile;
typedef Perftools__Profiles__Sample pb_sample;
typedef Perftools__Profiles__Label pb_label;
typedef Perftools__Profiles__Mapping pb_mapping;
typedef Perftools__Profiles__Location pb_location;
typedef Perftools__Profiles__Line pb_line;
typedef Perftools__Profiles__Function pb_function;
typedef Perftools__Profiles__ValueType pb_type;

/* Rows that exist as protobuf-c objects at a time. */
#define ROWS 256
/* Most bytes that a number takes, and a row of n numbers with tag and length. */
#define VARINT_MAX 10
#define ROW_MAX(n) (6 + (n) * (1 + VARINT_MAX))

struct encoder {
	const struct profile *p;
	const struct store *st;
	struct order o;
	struct buf *out;
	uint32_t *
		str_no; /* store id -> index + 1 in the table being made, 0: not used yet */
	uint32_t *strs; /* store ids by index */
	size_t nstrs, strs_cap;
	int64_t empty_no; /* index of a second "", for string labels without text; 0: none */
	/* scratch of a piece */
	uint64_t *ids;
	pb_label *labels;
	pb_label **label_ptrs;
	pb_line *lines;
	pb_line **line_ptrs;
	size_t ids_cap, labels_cap, label_ptrs_cap, lines_cap, line_ptrs_cap;
};

static int64_t str(struct encoder *x, uint32_t id)
{
	if (!x->str_no[id]) {
		XGROW(x->strs, x->nstrs, x->strs_cap);
		x->strs[x->nstrs++] = id;
		x->str_no[id] = x->nstrs;
	}
	return x->str_no[id] - 1;
}

static int64_t label_str(struct encoder *x, uint32_t id)
{
	if (id)
		return str(x, id);
	/* index 0 would say "a number"; the table may hold "" twice */
	if (!x->empty_no) {
		XGROW(x->strs, x->nstrs, x->strs_cap);
		x->empty_no = x->nstrs;
		x->strs[x->nstrs++] = 0;
	}
	return x->empty_no;
}

/*
 * Append a part of the profile that takes at most `bound` bytes: asking protobuf-c for the size
 * would cost as much as packing does.
 */
static int put_bounded(struct encoder *x, const pb_profile *part, size_t bound,
		       struct err *e)
{
	if (buf_reserve(x->out, bound) < 0)
		return err_set(e, E2BIG, "profile too large to write");
	x->out->len +=
		perftools__profiles__profile__pack(part, x->out->data + x->out->len);
	return 0;
}

static int put(struct encoder *x, const pb_profile *part, struct err *e)
{
	return put_bounded(x, part, perftools__profiles__profile__get_packed_size(part),
			   e);
}

static int put_types(struct encoder *x, struct err *e)
{
	const struct header *h = &x->p->h;
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	pb_type t = PERFTOOLS__PROFILES__VALUE_TYPE__INIT, *ptr = &t;
	size_t i;
	int r;

	part.sample_type = &ptr;
	part.n_sample_type = 1;
	for (i = 0; i < h->ntypes; i++) {
		t.type = str(x, h->types[i].type);
		t.unit = str(x, h->types[i].unit);
		r = put(x, &part, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static void fill_labels(struct encoder *x, const struct label *in, uint32_t n, size_t at)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		pb_label *l = &x->labels[at + i];

		perftools__profiles__label__init(l);
		l->key = str(x, in[i].key);
		if (in[i].numeric) {
			l->num = in[i].num;
			l->num_unit = str(x, in[i].unit);
		} else {
			l->str = label_str(x, in[i].str);
		}
	}
}

/* Up to ROWS samples from `from` on; how many. */
static size_t sample_piece(struct encoder *x, size_t from, pb_sample *rows, size_t *nids,
			   size_t *nlabels)
{
	const struct profile *p = x->p;
	const uint32_t *frames;
	const struct label *labels;
	uint32_t n, k;
	size_t i, s;

	*nids = *nlabels = 0;
	for (i = 0; i < ROWS && from + i < p->nsamples; i++) {
		s = x->o.samples[from + i];
		perftools__profiles__sample__init(&rows[i]);
		frames = store_frames(x->st, p->samples[s].stack, &n);
		XRESERVE(x->ids, x->ids_cap, *nids + n + 1);
		for (k = 0; k < n; k++)
			x->ids[*nids + k] = x->o.location_no[frames[k]];
		rows[i].n_location_id = n;
		*nids += n;
		rows[i].n_value = p->h.ntypes;
		rows[i].value = (int64_t *)profile_values(p, s);
		labels = store_labels(x->st, p->samples[s].labelset, &n);
		XRESERVE(x->labels, x->labels_cap, *nlabels + n + 1);
		fill_labels(x, labels, n, *nlabels);
		rows[i].n_label = n;
		*nlabels += n;
	}
	return i;
}

static int put_samples(struct encoder *x, struct err *e)
{
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t i, k, n, nids, nlabels;
	pb_sample rows[ROWS], *ptrs[ROWS];
	int r;

	part.sample = ptrs;
	for (i = 0; i < x->p->nsamples; i += n) {
		n = sample_piece(x, i, rows, &nids, &nlabels);
		XRESERVE(x->label_ptrs, x->label_ptrs_cap, nlabels + 1);
		for (k = 0; k < nlabels; k++)
			x->label_ptrs[k] = &x->labels[k];
		/* the arrays no longer move: point into them */
		nids = nlabels = 0;
		for (k = 0; k < n; k++) {
			rows[k].location_id = x->ids + nids;
			nids += rows[k].n_location_id;
			rows[k].label = x->label_ptrs + nlabels;
			nlabels += rows[k].n_label;
			ptrs[k] = &rows[k];
		}
		part.n_sample = n;
		r = put_bounded(x, &part,
				VARINT_MAX * (nids + n * (x->p->h.ntypes + 4)) +
					ROW_MAX(4) * nlabels,
				e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int put_mappings(struct encoder *x, struct err *e)
{
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	pb_mapping row = PERFTOOLS__PROFILES__MAPPING__INIT, *ptr = &row;
	struct mapping m;
	size_t i;
	int r;

	part.mapping = &ptr;
	part.n_mapping = 1;
	for (i = 0; i < x->o.nmappings; i++) {
		m = profile_mapping(x->p, x->o.mappings[i]);
		row.id = i + 1;
		row.memory_start = m.start;
		row.memory_limit = m.limit;
		row.file_offset = m.offset;
		row.filename = str(x, m.file);
		row.build_id = str(x, m.build_id);
		row.has_functions = !!(m.flags & MAPPING_HAS_FUNCTIONS);
		row.has_filenames = !!(m.flags & MAPPING_HAS_FILENAMES);
		row.has_line_numbers = !!(m.flags & MAPPING_HAS_LINE_NUMBERS);
		row.has_inline_frames = !!(m.flags & MAPPING_HAS_INLINE_FRAMES);
		r = put(x, &part, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Up to ROWS locations from `from` on; how many. */
static size_t location_piece(struct encoder *x, size_t from, pb_location *rows,
			     size_t *nlines)
{
	const struct location *l;
	const struct line *in;
	size_t i, k;

	*nlines = 0;
	for (i = 0; i < ROWS && from + i < x->o.nlocations; i++) {
		l = &x->st->locations[x->o.locations[from + i]];
		in = store_lines(x->st, x->o.locations[from + i]);
		perftools__profiles__location__init(&rows[i]);
		rows[i].id = from + i + 1;
		rows[i].mapping_id = order_mapping(&x->o, l);
		rows[i].address = profile_address(x->p, x->o.locations[from + i]);
		rows[i].is_folded = l->folded;
		rows[i].n_line = l->nlines;
		XRESERVE(x->lines, x->lines_cap, *nlines + l->nlines);
		for (k = 0; k < l->nlines; k++) {
			pb_line *line = &x->lines[(*nlines)++];

			perftools__profiles__line__init(line);
			line->function_id = x->o.function_no[in[k].function];
			line->line = in[k].line;
			line->column = in[k].column;
		}
	}
	return i;
}

static int put_locations(struct encoder *x, struct err *e)
{
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	pb_location rows[ROWS], *ptrs[ROWS];
	size_t i, k, n, nlines;
	int r;

	part.location = ptrs;
	for (i = 0; i < x->o.nlocations; i += n) {
		n = location_piece(x, i, rows, &nlines);
		XRESERVE(x->line_ptrs, x->line_ptrs_cap, nlines + 1);
		for (k = 0; k < nlines; k++)
			x->line_ptrs[k] = &x->lines[k];
		nlines = 0;
		for (k = 0; k < n; k++) {
			rows[k].line = x->line_ptrs + nlines;
			nlines += rows[k].n_line;
			ptrs[k] = &rows[k];
		}
		part.n_location = n;
		r = put_bounded(x, &part, ROW_MAX(4) * n + ROW_MAX(3) * nlines, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int put_functions(struct encoder *x, struct err *e)
{
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	pb_function rows[ROWS], *ptrs[ROWS];
	const struct function *f;
	size_t i, n;
	int r;

	part.function = ptrs;
	for (i = 0; i < x->o.nfunctions; i += n) {
		for (n = 0; n < ROWS && i + n < x->o.nfunctions; n++) {
			f = &x->st->functions[x->o.functions[i + n]];
			perftools__profiles__function__init(&rows[n]);
			rows[n].id = i + n + 1;
			rows[n].name = str(x, f->name);
			rows[n].system_name = str(x, f->system_name);
			rows[n].filename = str(x, f->file);
			rows[n].start_line = f->start_line;
			ptrs[n] = &rows[n];
		}
		part.n_function = n;
		r = put_bounded(x, &part, ROW_MAX(5) * n, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int put_strings(struct encoder *x, struct err *e)
{
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	ProtobufCBinaryData rows[ROWS];
	size_t i, n, bytes;
	struct str s;
	int r;

	part.string_table = rows;
	for (i = 0; i < x->nstrs; i += n) {
		bytes = 0;
		for (n = 0; n < ROWS && i + n < x->nstrs; n++) {
			s = store_str(x->st, x->strs[i + n]);
			rows[n].data = (uint8_t *)s.p;
			rows[n].len = s.n;
			bytes += s.n;
		}
		part.n_string_table = n;
		r = put_bounded(x, &part, bytes + ROW_MAX(0) * n, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int put_scalars(struct encoder *x, struct err *e)
{
	const struct header *h = &x->p->h;
	pb_profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	pb_type period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	size_t i;
	int r;

	part.drop_frames = str(x, h->drop_frames);
	part.keep_frames = str(x, h->keep_frames);
	part.time_nanos = h->time_ns;
	part.duration_nanos = h->duration_ns;
	if (h->period_type.type || h->period_type.unit) {
		period.type = str(x, h->period_type.type);
		period.unit = str(x, h->period_type.unit);
		part.period_type = &period;
	}
	part.period = h->period;
	part.comment = xmalloc((h->ncomments + 1) * sizeof(*part.comment));
	for (i = 0; i < h->ncomments; i++)
		part.comment[i] = str(x, h->comments[i]);
	part.n_comment = h->ncomments;
	part.default_sample_type = str(x, h->default_type);
	part.doc_url = str(x, h->doc_url);
	r = put(x, &part, e);
	free(part.comment);
	return r;
}

int profile_encode(const struct profile *p, struct buf *out, struct err *e)
{
	struct encoder x = {.p = p, .st = p->store, .out = out};
	int r;

	x.str_no = xcalloc(x.st->strings.n, sizeof(*x.str_no));
	order_init(&x.o, p);
	str(&x, 0);
	r = put_types(&x, e);
	if (!r)
		r = put_samples(&x, e);
	if (!r)
		r = put_mappings(&x, e);
	if (!r)
		r = put_locations(&x, e);
	if (!r)
		r = put_functions(&x, e);
	if (!r)
		r = put_scalars(&x, e);
	/* last, that all that were asked for are there */
	if (!r)
		r = put_strings(&x, e);
	order_release(&x.o);
	free(x.str_no);
	free(x.strs);
	free(x.ids);
	free(x.labels);
	free(x.label_ptrs);
	free(x.lines);
	free(x.line_ptrs);
	return r;
}

int profile_write(const struct profile *p, struct output *o, struct err *e)
{
	struct buf raw = BUF_INIT(SIZE_MAX / 2), gz = BUF_INIT(SIZE_MAX / 2);
	int r = profile_encode(p, &raw, e);

	if (!r)
		r = gz_compress(raw.data, raw.len, &gz, e);
	if (!r)
		r = output_write(o, gz.data, gz.len, e);
	buf_release(&raw);
	buf_release(&gz);
	return r;
}
