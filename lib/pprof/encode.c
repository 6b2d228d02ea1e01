/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pprof message: field numbers are those of profile.proto, fields of a row in their order,
 * tables in the order of order.h. Strings come last, that all that were asked for are there.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/base/xalloc.h"
#include "lib/io/gz.h"
#include "lib/pprof/order.h"
#include "lib/pprof/wireput.h"
#include "lib/pprof/writer.h"

/* The most bytes of a row of n numbers. */
#define ROW_MAX(n) (WIRE_HEAD_MAX + (n) * (size_t)WIRE_NUMBER_MAX)
/* Samples and locations lie in memory in another order than they are written in. */
#define AHEAD 8

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
	uint8_t *row;	  /* scratch */
	size_t row_cap;
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

/* Where to write up to so many bytes: a bound is not what counts against the message's. */
static uint8_t *row_room(struct encoder *x, size_t bound)
{
	XRESERVE(x->row, x->row_cap, bound);
	return x->row;
}

/* What was written there ends at p: append it. */
static int row_done(struct encoder *x, const uint8_t *p, struct err *e)
{
	if (buf_put(x->out, x->row, p - x->row) < 0)
		return err_set(e, E2BIG, "profile too large to write");
	return 0;
}

static uint8_t *put_type(struct encoder *x, uint8_t *p, unsigned field,
			 const struct value_type *t)
{
	uint8_t *row = p = wire_begin(p, field);

	p = wire_put_number(p, 1, str(x, t->type));
	p = wire_put_number(p, 2, str(x, t->unit));
	return wire_end(row, p);
}

static int put_types(struct encoder *x, struct err *e)
{
	const struct header *h = &x->p->h;
	size_t i;
	int r = 0;

	for (i = 0; !r && i < h->ntypes; i++)
		r = row_done(x, put_type(x, row_room(x, ROW_MAX(2)), 1, &h->types[i]), e);
	return r;
}

static uint8_t *put_label(struct encoder *x, uint8_t *p, const struct label *l)
{
	uint8_t *row = p = wire_begin(p, 3);

	p = wire_put_number(p, 1, str(x, l->key));
	if (l->numeric) {
		p = wire_put_number(p, 3, l->num);
		p = wire_put_number(p, 4, str(x, l->unit));
	} else {
		p = wire_put_number(p, 2, label_str(x, l->str));
	}
	return wire_end(row, p);
}

static int put_sample(struct encoder *x, uint32_t sample, struct err *e)
{
	const struct sample *s = &x->p->samples[sample];
	const int64_t *values = profile_values(x->p, sample);
	size_t i, ntypes = x->p->h.ntypes;
	const struct label *labels;
	const uint32_t *frames;
	uint32_t nframes, nlabels;
	uint8_t *p, *row, *packed;

	frames = store_frames(x->st, s->stack, &nframes);
	labels = store_labels(x->st, s->labelset, &nlabels);
	p = row_room(x, 3 * WIRE_HEAD_MAX + (nframes + ntypes) * WIRE_VARINT_MAX +
				nlabels * ROW_MAX(3));
	row = p = wire_begin(p, 2);
	if (nframes) {
		packed = p = wire_begin(p, 1);
		for (i = 0; i < nframes; i++)
			p = wire_put_varint(p, x->o.location_no[frames[i]]);
		p = wire_end(packed, p);
	}
	if (ntypes) {
		packed = p = wire_begin(p, 2);
		for (i = 0; i < ntypes; i++)
			p = wire_put_varint(p, values[i]);
		p = wire_end(packed, p);
	}
	for (i = 0; i < nlabels; i++)
		p = put_label(x, p, &labels[i]);
	return row_done(x, wire_end(row, p), e);
}

static void prefetch_sample(const struct encoder *x, size_t i, int stage)
{
	const struct sample *s;

	if (i >= x->p->nsamples)
		return;
	s = &x->p->samples[x->o.samples[i]];
	if (stage == 0) {
		__builtin_prefetch(s);
		__builtin_prefetch(profile_values(x->p, x->o.samples[i]));
	} else if (stage == 1) {
		__builtin_prefetch(&x->st->stacks[s->stack]);
		__builtin_prefetch(&x->st->labelsets[s->labelset]);
	} else {
		__builtin_prefetch(&x->st->frames[x->st->stacks[s->stack].off]);
		__builtin_prefetch(&x->st->labels[x->st->labelsets[s->labelset].off]);
	}
}

static int put_samples(struct encoder *x, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < x->p->nsamples; i++) {
		prefetch_sample(x, i + 3 * AHEAD, 0);
		prefetch_sample(x, i + 2 * AHEAD, 1);
		prefetch_sample(x, i + AHEAD, 2);
		r = put_sample(x, x->o.samples[i], e);
	}
	return r;
}

static int put_mappings(struct encoder *x, struct err *e)
{
	struct mapping m;
	uint8_t *p, *row;
	size_t i;
	int r = 0;

	for (i = 0; !r && i < x->o.nmappings; i++) {
		m = profile_mapping(x->p, x->o.mappings[i]);
		row = p = wire_begin(row_room(x, ROW_MAX(10)), 3);
		p = wire_put_number(p, 1, i + 1);
		p = wire_put_number(p, 2, m.start);
		p = wire_put_number(p, 3, m.limit);
		p = wire_put_number(p, 4, m.offset);
		p = wire_put_number(p, 5, str(x, m.file));
		p = wire_put_number(p, 6, str(x, m.build_id));
		p = wire_put_number(p, 7, !!(m.flags & MAPPING_HAS_FUNCTIONS));
		p = wire_put_number(p, 8, !!(m.flags & MAPPING_HAS_FILENAMES));
		p = wire_put_number(p, 9, !!(m.flags & MAPPING_HAS_LINE_NUMBERS));
		p = wire_put_number(p, 10, !!(m.flags & MAPPING_HAS_INLINE_FRAMES));
		r = row_done(x, wire_end(row, p), e);
	}
	return r;
}

static int put_location(struct encoder *x, size_t i, struct err *e)
{
	uint32_t k, id = x->o.locations[i];
	const struct location *l = &x->st->locations[id];
	const struct line *lines = store_lines(x->st, id);
	uint8_t *p, *row, *line;

	row = p = wire_begin(row_room(x, ROW_MAX(4) + l->nlines * ROW_MAX(3)), 4);
	p = wire_put_number(p, 1, i + 1);
	p = wire_put_number(p, 2, order_mapping(&x->o, l));
	p = wire_put_number(p, 3, profile_address(x->p, id));
	for (k = 0; k < l->nlines; k++) {
		line = p = wire_begin(p, 4);
		p = wire_put_number(p, 1, x->o.function_no[lines[k].function]);
		p = wire_put_number(p, 2, lines[k].line);
		p = wire_put_number(p, 3, lines[k].column);
		p = wire_end(line, p);
	}
	p = wire_put_number(p, 5, l->folded);
	return row_done(x, wire_end(row, p), e);
}

static int put_locations(struct encoder *x, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < x->o.nlocations; i++) {
		if (i + AHEAD < x->o.nlocations)
			__builtin_prefetch(&x->st->locations[x->o.locations[i + AHEAD]]);
		r = put_location(x, i, e);
	}
	return r;
}

static int put_functions(struct encoder *x, struct err *e)
{
	const struct function *f;
	uint8_t *p, *row;
	size_t i;
	int r = 0;

	for (i = 0; !r && i < x->o.nfunctions; i++) {
		f = &x->st->functions[x->o.functions[i]];
		row = p = wire_begin(row_room(x, ROW_MAX(5)), 5);
		p = wire_put_number(p, 1, i + 1);
		p = wire_put_number(p, 2, str(x, f->name));
		p = wire_put_number(p, 3, str(x, f->system_name));
		p = wire_put_number(p, 4, str(x, f->file));
		p = wire_put_number(p, 5, f->start_line);
		r = row_done(x, wire_end(row, p), e);
	}
	return r;
}

static int put_scalars(struct encoder *x, struct err *e)
{
	const struct header *h = &x->p->h;
	uint8_t *p, *packed;
	size_t i;

	p = row_room(x, ROW_MAX(2) + ROW_MAX(7) + ROW_MAX(h->ncomments));
	p = wire_put_number(p, 7, str(x, h->drop_frames));
	p = wire_put_number(p, 8, str(x, h->keep_frames));
	p = wire_put_number(p, 9, h->time_ns);
	p = wire_put_number(p, 10, h->duration_ns);
	if (h->period_type.type || h->period_type.unit)
		p = put_type(x, p, 11, &h->period_type);
	p = wire_put_number(p, 12, h->period);
	if (h->ncomments) {
		packed = p = wire_begin(p, 13);
		for (i = 0; i < h->ncomments; i++)
			p = wire_put_varint(p, str(x, h->comments[i]));
		p = wire_end(packed, p);
	}
	p = wire_put_number(p, 14, str(x, h->default_type));
	p = wire_put_number(p, 15, str(x, h->doc_url));
	return row_done(x, p, e);
}

static int put_strings(struct encoder *x, struct err *e)
{
	struct str s;
	uint8_t *p;
	size_t i;
	int r = 0;

	for (i = 0; !r && i < x->nstrs; i++) {
		s = store_str(x->st, x->strs[i]);
		p = row_room(x, WIRE_HEAD_MAX + s.n);
		r = row_done(x, wire_put_bytes(p, 6, s.p, s.n), e);
	}
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
	if (!r)
		r = put_strings(&x, e);
	order_release(&x.o);
	free(x.str_no);
	free(x.strs);
	free(x.row);
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
