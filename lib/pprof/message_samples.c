/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass over a message: its samples. What costs time when profiles are read is here. */
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/pprof/message_internal.h"
#include "lib/pprof/model.h"

static const char *const sample_fields[] = {"", "sample.location_id", "sample.value",
					    "sample.label"};
static const char *const label_fields[] = {"", "label.key", "label.str", "label.num",
					   "label.num_unit"};

static int bad_location(const struct message *m, const uint8_t *p, uint64_t id,
			struct err *e)
{
	char what[64];

	snprintf(what, sizeof(what), "no location with id %llu", (unsigned long long)id);
	return message_fail(m, p, sample_fields[1], what, e);
}

/*
 * Four location ids of two bytes each at *p, as rows: what most ids of a large profile look like.
 * False when it is anything else, or an id is not below nrows.
 */
static inline bool four_rows(const uint8_t *p, size_t nrows, uint32_t out[4])
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t w;
	int i;

	memcpy(&w, p, sizeof(w));
	if ((w & 0x8080808080808080u) != 0x0080008000800080u)
		return false;
	w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
	for (i = 0; i < 4; i++) {
		out[i] = (uint32_t)(w >> 16 * i & 0xffff) - 1;
		if (out[i] >= nrows)
			return false;
	}
	return true;
#else
	(void)p;
	(void)nrows;
	(void)out;
	return false;
#endif
}

static int decode_frames(struct message *m, const struct wire_field *f, struct err *e)
{
	const uint8_t *p, *end, *next;
	const struct idmap *map = &m->location_ids;
	uint32_t *out, row;
	size_t nrows;
	uint64_t id;
	int r;

	if (f->type == WIRE_VARINT) {
		r = ROOM(m, frames, m->nframes + 1, e);
		if (r < 0)
			return r;
		row = idmap_find(map, f->value);
		if (row == ID_NONE)
			return bad_location(m, f->at, f->value, e);
		m->frames[m->nframes++] = row;
		return 0;
	}
	/* a varint has at least one byte */
	r = ROOM(m, frames, m->nframes + f->n + 1, e);
	if (r < 0)
		return r;
	out = m->frames + m->nframes;
	nrows = map->sequential ? map->n : 0;
	for (p = f->p, end = p + f->n; p < end; p = next) {
		/* room for one id a byte was made: four rows fit where eight bytes are left */
		if (end - p >= 8 && four_rows(p, nrows, out)) {
			out += 4;
			next = p + 8;
			continue;
		}
		next = wire_varint(p, end, &id);
		if (!next)
			return message_fail(m, p, sample_fields[1], "truncated varint",
					    e);
		if (id - 1 < nrows) {
			*out++ = id - 1;
			continue;
		}
		row = idmap_find(map, id);
		if (row == ID_NONE)
			return bad_location(m, p, id, e);
		*out++ = row;
	}
	m->nframes = out - m->frames;
	return 0;
}

static int decode_values(struct message *m, const struct wire_field *f, struct err *e)
{
	const uint8_t *p, *end, *next;
	uint64_t v;
	int r;

	if (f->type == WIRE_VARINT) {
		r = ROOM(m, values, m->nvalues + 1, e);
		if (!r)
			m->values[m->nvalues++] = f->value;
		return r;
	}
	r = ROOM(m, values, m->nvalues + f->n, e);
	if (r < 0)
		return r;
	for (p = f->p, end = p + f->n; p < end; p = next) {
		next = wire_varint(p, end, &v);
		if (!next)
			return message_fail(m, p, sample_fields[2], "truncated varint",
					    e);
		m->values[m->nvalues++] = v;
	}
	return 0;
}

/*
 * The field of this number at *p, when it stands there and is a number: what producers write in
 * a fixed order is taken one by one, without a look at what else it might be. False leaves *p,
 * and everything unusual, to next_field().
 */
static inline __attribute__((always_inline)) bool
take_number(const uint8_t **p, const uint8_t *end, unsigned number, uint64_t *v)
{
	const uint8_t *next;

	if (*p == end || **p != (number << 3 | WIRE_VARINT))
		return false;
	next = wire_varint(*p + 1, end, v);
	if (!next)
		return false;
	*p = next;
	return true;
}

static int bad_label(const struct message *m, const uint8_t *p, uint64_t field,
		     struct err *e)
{
	return message_fail(m, p, label_fields[field], "string index out of range", e);
}

static int decode_label(struct message *m, const struct wire_field *in, struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n, *at;
	struct raw_label *o;
	struct wire_field f;
	uint64_t v;
	int r = ROOM(m, labels, m->nlabels + 1, e);

	if (r < 0)
		return r;
	o = &m->labels[m->nlabels++];
	*o = (struct raw_label){0};
	if (take_number(&p, end, 1, &v)) {
		if (v >= m->nstrs)
			return bad_label(m, in->p, 1, e);
		o->key = v;
	}
	at = p;
	if (take_number(&p, end, 2, &v)) {
		if (v >= m->nstrs)
			return bad_label(m, at, 2, e);
		o->str = v;
	}
	/* whatever is left, and everything unusual */
	while ((r = next_field(m, &p, end, &f, label_fields, NFIELDS(label_fields),
			       "-vvvv", e)) > 0) {
		if (f.number == 3)
			o->num = f.value;
		else if (f.number && f.number <= 4 && f.value >= m->nstrs)
			return bad_label(m, f.at, f.number, e);
		else if (f.number == 1)
			o->key = f.value;
		else if (f.number == 2)
			o->str = f.value;
		else if (f.number == 4)
			o->unit = f.value;
	}
	return r;
}

/* Labels that were decoded from the same bytes: their row, or ID_NONE. */
static uint32_t same_labels(const struct message *m, const uint8_t *p, size_t n,
			    uint64_t h)
{
	uint32_t id;
	size_t s;

	for (s = id_table_first(&m->labelset_ids, h);
	     (id = id_table_at(&m->labelset_ids, h, &s)) != ID_NONE; s++) {
		if (m->labelsets[id].n == n && !memcmp(m->labelsets[id].bytes, p, n))
			break;
	}
	return id;
}

/* Labels from row `labels` on; bytes[0, n) make the same again, or NULL. Their row. */
static int put_labels(struct message *m, const uint8_t *bytes, size_t n, uint64_t h,
		      size_t labels, uint32_t *row, struct err *e)
{
	int r = ROOM(m, labelsets, m->nlabelsets + 1, e);

	if (r < 0)
		return r;
	*row = m->nlabelsets++;
	m->labelsets[*row] = (struct raw_labelset){bytes, n, labels, m->nlabels};
	if (bytes)
		id_table_put(&m->labelset_ids, h, *row);
	return 0;
}

static int decode_sample(struct message *m, const struct wire_field *in, struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n, *first = NULL;
	size_t values = m->nvalues, labels = m->nlabels;
	uint32_t labelset = ID_NONE;
	bool alone = true; /* no other fields stand between or behind the labels */
	struct wire_field f;
	uint64_t h = 0;
	char what[80];
	int r;

	while ((r = next_field(m, &p, end, &f, sample_fields, NFIELDS(sample_fields),
			       "-ppb", e)) > 0) {
		if (f.number == 3 && !first) {
			first = f.at;
			h = hash_bytes(first, end - first);
			labelset = same_labels(m, first, end - first, h);
			if (labelset != ID_NONE)
				break;
		}
		alone &= !first || f.number > 2;
		if (f.number == 1)
			r = decode_frames(m, &f, e);
		else if (f.number == 2)
			r = decode_values(m, &f, e);
		else if (f.number == 3)
			r = decode_label(m, &f, e);
		if (r < 0)
			return r;
	}
	if (r >= 0 && first && labelset == ID_NONE)
		r = put_labels(m, alone ? first : NULL, end - first, h, labels, &labelset,
			       e);
	if (r < 0)
		return r;
	if (m->nvalues - values != m->ntypes) {
		snprintf(what, sizeof(what), "%zu values for %zu sample types",
			 m->nvalues - values, m->ntypes);
		return message_fail(m, in->at, sample_fields[2], what, e);
	}
	m->samples[m->nsamples++] = (struct raw_sample){m->nframes, labelset};
	return 0;
}

int message_decode_samples(struct message *m, struct err *e)
{
	const uint8_t *p = m->samples_start;
	struct wire_field f;
	int r = ROOM(m, samples, m->sample_fields, e);

	if (r < 0)
		return r;
	if (m->labelset_ids.slots)
		id_table_clear(&m->labelset_ids);
	else
		id_table_init(&m->labelset_ids);
	while ((r = next_field(m, &p, m->samples_end, &f, NULL, 0, "", e)) > 0) {
		if (f.number != 2)
			continue;
		r = decode_sample(m, &f, e);
		if (r < 0)
			return r;
	}
	return r;
}
