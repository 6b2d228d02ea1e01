/* SPDX-License-Identifier: Apache-2.0 */
/* From a decoded message to ids of a store; samples go in by batches. */
#include "lib/pprof/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/message.h"
#include "lib/pprof/source.h"

/* Samples looked up together, so that their cache misses overlap. */
#define BATCH 64

struct pending {
	uint64_t hash;
	size_t sample; /* row of the message */
	size_t frames; /* in reader.frames */
	uint32_t nframes, labelset, stack;
};

/* A string of the message on its way to the store, and a location. */
struct pending_str {
	uint32_t row, hash;
};

struct pending_location {
	uint64_t hash, address;
	size_t lines; /* in reader.lines */
	uint32_t row, mapping, likely;
};

struct reader {
	struct store *st;
	struct message own, *msg; /* the open one: own, or one decoded by others */
	struct header h;
	size_t types_cap, comments_cap;
	/* row of the message -> id in the store, ID_NONE: not asked for yet */
	uint32_t *str_ids, *function_ids, *mapping_ids, *location_ids, *labelset_ids;
	size_t str_ids_cap, function_ids_cap, mapping_ids_cap, location_ids_cap,
		labelset_ids_cap;
	/* scratch */
	struct line *lines;
	struct label *labels;
	uint32_t *frames,
		*labelsets; /* label set by sample of the message; SAMPLE_DROP */
	int64_t *values;    /* of a sample that counts several times */
	size_t lines_cap, labels_cap, frames_cap, labelsets_cap, values_cap;
};

struct reader *reader_new(struct store *st, uint64_t max_size)
{
	struct reader *r = xcalloc(1, sizeof(*r));

	r->st = st;
	if (!max_size)
		max_size = SOURCE_MAX_SIZE_DEFAULT;
	message_init(&r->own, message_budget(max_size));
	return r;
}

void reader_headers_only(struct reader *r)
{
	r->own.tables_only = true;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	message_release(&r->own);
	header_release(&r->h);
	free(r->str_ids);
	free(r->function_ids);
	free(r->mapping_ids);
	free(r->location_ids);
	free(r->labelset_ids);
	free(r->lines);
	free(r->labels);
	free(r->frames);
	free(r->labelsets);
	free(r->values);
	free(r);
}

static uint32_t reader_str(struct reader *r, uint32_t row)
{
	const struct raw_str *s;

	if (r->str_ids[row] == ID_NONE) {
		s = &r->msg->strs[row];
		r->str_ids[row] = intern_put(&r->st->strings, s->p, s->n);
	}
	return r->str_ids[row];
}

#define RESET_IDS(r, ids, n)                                                             \
	do {                                                                             \
		XRESERVE((r)->ids, (r)->ids##_cap, (n));                                 \
		if (n)                                                                   \
			memset((r)->ids, 0xff, (n) * sizeof(*(r)->ids));                 \
	} while (0)

static void read_header(struct reader *r)
{
	const struct message *m = r->msg;
	struct header *h = &r->h;
	size_t i;

	XRESERVE(h->types, r->types_cap, m->ntypes);
	XRESERVE(h->comments, r->comments_cap, m->ncomments);
	for (i = 0; i < m->ntypes; i++)
		h->types[i] = (struct value_type){reader_str(r, m->types[i].type),
						  reader_str(r, m->types[i].unit)};
	for (i = 0; i < m->ncomments; i++)
		h->comments[i] = reader_str(r, m->comments[i]);
	h->ntypes = m->ntypes;
	h->ncomments = m->ncomments;
	h->period_type = (struct value_type){reader_str(r, m->period_type.type),
					     reader_str(r, m->period_type.unit)};
	h->period = m->period;
	h->time_ns = m->time_ns;
	h->duration_ns = m->duration_ns;
	h->default_type = reader_str(r, m->default_type);
	h->drop_frames = reader_str(r, m->drop_frames);
	h->keep_frames = reader_str(r, m->keep_frames);
	h->doc_url = reader_str(r, m->doc_url);
}

void reader_open_decoded(struct reader *r, struct message *m)
{
	r->msg = m;
	RESET_IDS(r, str_ids, m->nstrs);
	RESET_IDS(r, function_ids, m->nfunctions);
	RESET_IDS(r, mapping_ids, m->nmappings);
	RESET_IDS(r, location_ids, m->nlocations);
	RESET_IDS(r, labelset_ids, m->nlabelsets);
	read_header(r);
}

int reader_open(struct reader *r, const uint8_t *msg, size_t n, struct err *e)
{
	int ret = message_decode(&r->own, msg, n, e);

	if (!ret)
		reader_open_decoded(r, &r->own);
	return ret;
}

const struct header *reader_header(const struct reader *r)
{
	return &r->h;
}

/* A string of the message, unless it was looked up already. */
static void prepare_str(struct reader *r, uint32_t row, struct pending_str *batch,
			size_t *n)
{
	const struct raw_str *s = &r->msg->strs[row];
	struct pending_str *b;

	if (r->str_ids[row] != ID_NONE)
		return;
	b = &batch[(*n)++];
	*b = (struct pending_str){row, intern_hash(s->p, s->n)};
	intern_prefetch(&r->st->strings, b->hash, 0);
}

static void finish_strs(struct reader *r, const struct pending_str *batch, size_t n)
{
	struct intern *t = &r->st->strings;
	const struct raw_str *s;
	size_t i;

	for (i = 0; i < n; i++)
		intern_prefetch(t, batch[i].hash, 1);
	for (i = 0; i < n; i++)
		intern_prefetch(t, batch[i].hash, 2);
	for (i = 0; i < n; i++) {
		s = &r->msg->strs[batch[i].row];
		r->str_ids[batch[i].row] =
			intern_put_hashed(t, batch[i].hash, s->p, s->n);
	}
}

/* Functions of the message, by their rows; their strings first, all of them together. */
static void finish_functions(struct reader *r, const uint32_t *rows, size_t n)
{
	struct pending_str strs[3 * BATCH];
	struct function fns[BATCH];
	uint64_t hashes[BATCH];
	uint32_t likely[BATCH];
	const struct raw_function *f;
	size_t i, nstrs = 0;

	for (i = 0; i < n; i++) {
		f = &r->msg->functions[rows[i]];
		prepare_str(r, f->name, strs, &nstrs);
		if (f->system_name != f->name)
			prepare_str(r, f->system_name, strs, &nstrs);
		prepare_str(r, f->file, strs, &nstrs);
	}
	finish_strs(r, strs, nstrs);
	for (i = 0; i < n; i++) {
		f = &r->msg->functions[rows[i]];
		fns[i] = (struct function){.name = r->str_ids[f->name],
					   .system_name = r->str_ids[f->system_name],
					   .file = r->str_ids[f->file],
					   .start_line = f->start_line};
		hashes[i] = store_function_hash(&fns[i]);
		id_table_prefetch(&r->st->function_ids, hashes[i]);
	}
	for (i = 0; i < n; i++) {
		likely[i] = id_table_likely(&r->st->function_ids, hashes[i]);
		if (likely[i] != ID_NONE)
			__builtin_prefetch(&r->st->functions[likely[i]]);
	}
	for (i = 0; i < n; i++)
		r->function_ids[rows[i]] =
			store_function_hashed(r->st, hashes[i], likely[i], &fns[i]);
}

/* Intern the functions of the locations that are marked (any id but ID_NONE). */
static void read_functions(struct reader *r)
{
	const struct message *m = r->msg;
	const struct raw_location *l;
	uint32_t rows[BATCH];
	size_t i, k, n = 0;

	for (i = 0; i < m->nlocations; i++) {
		l = &m->locations[i];
		for (k = 0; r->location_ids[i] != ID_NONE && k < l->nlines; k++)
			r->function_ids[m->lines[l->lines + k].function] = 0;
	}
	for (i = 0; i < m->nfunctions; i++) {
		if (r->function_ids[i] == ID_NONE)
			continue;
		rows[n++] = i;
		if (n == BATCH) {
			finish_functions(r, rows, n);
			n = 0;
		}
	}
	finish_functions(r, rows, n);
}

static uint32_t reader_mapping(struct reader *r, struct profile *p, uint32_t row)
{
	const struct raw_mapping *o = &r->msg->mappings[row];
	struct mapping m;

	if (r->mapping_ids[row] == ID_NONE) {
		m.start = o->start;
		m.limit = o->limit;
		m.offset = o->offset;
		m.file = reader_str(r, o->file);
		m.build_id = reader_str(r, o->build_id);
		m.flags = o->flags;
		r->mapping_ids[row] = store_mapping(r->st, &m);
		if (r->st->mode == STORE_MERGED)
			profile_extend(p, r->mapping_ids[row], &m);
	}
	return r->mapping_ids[row];
}

/* Mapping, address and lines of a location as the store wants them. */
static void prepare_location(struct reader *r, struct profile *p, uint32_t row,
			     size_t *nlines, struct pending_location *out)
{
	const struct raw_location *l = &r->msg->locations[row];
	const struct raw_line *in = l->nlines ? r->msg->lines + l->lines : NULL;
	struct line *lines;
	uint32_t i;

	out->row = row;
	out->address = l->address;
	out->mapping = ID_NONE;
	if (l->mapping != ID_NONE) {
		const struct raw_mapping *m = &r->msg->mappings[l->mapping];

		out->mapping = reader_mapping(r, p, l->mapping);
		if (r->st->mode == STORE_MERGED &&
		    !store_mapping_is_raw(r->st, out->mapping))
			out->address = l->address - m->start + m->offset;
	}
	XRESERVE(r->lines, r->lines_cap, *nlines + l->nlines + 1);
	lines = r->lines + *nlines;
	for (i = 0; i < l->nlines; i++)
		lines[i] = (struct line){r->function_ids[in[i].function], in[i].line,
					 in[i].column};
	out->lines = *nlines;
	*nlines += l->nlines;
	out->hash = store_location_hash(out->mapping, out->address, l->folded, lines,
					l->nlines);
	id_table_prefetch(&r->st->location_ids, out->hash);
}

static void finish_locations(struct reader *r, struct pending_location *batch, size_t n)
{
	const struct store *st = r->st;
	const struct raw_location *l;
	size_t i;

	for (i = 0; i < n; i++) {
		batch[i].likely = id_table_likely(&st->location_ids, batch[i].hash);
		if (batch[i].likely != ID_NONE)
			__builtin_prefetch(&st->locations[batch[i].likely]);
	}
	for (i = 0; i < n; i++) {
		if (batch[i].likely != ID_NONE)
			__builtin_prefetch(store_lines(st, batch[i].likely));
	}
	for (i = 0; i < n; i++) {
		l = &r->msg->locations[batch[i].row];
		r->location_ids[batch[i].row] = store_location_hashed(
			r->st, batch[i].hash, batch[i].likely, batch[i].mapping,
			batch[i].address, l->folded, r->lines + batch[i].lines,
			l->nlines);
	}
}

/* Intern the locations that are marked (any id but ID_NONE). */
static void read_locations(struct reader *r, struct profile *p)
{
	struct pending_location batch[BATCH];
	size_t i, n = 0, nlines = 0;

	for (i = 0; i < r->msg->nlocations; i++) {
		if (r->location_ids[i] == ID_NONE)
			continue;
		prepare_location(r, p, i, &nlines, &batch[n++]);
		if (n == BATCH) {
			finish_locations(r, batch, n);
			n = nlines = 0;
		}
	}
	finish_locations(r, batch, n);
}

static uint32_t read_labelset(struct reader *r, size_t from, size_t to)
{
	const struct raw_label *l;
	size_t i, n = to - from;

	XRESERVE(r->labels, r->labels_cap, n);
	for (i = 0; i < n; i++) {
		l = &r->msg->labels[from + i];
		r->labels[i] =
			(struct label){.key = reader_str(r, l->key), .numeric = !l->str};
		if (l->str) {
			r->labels[i].str = reader_str(r, l->str);
		} else {
			r->labels[i].num = l->num;
			r->labels[i].unit = reader_str(r, l->unit);
		}
	}
	return store_labelset(r->st, r->labels, n);
}

static uint32_t reader_labelset(struct reader *r, uint32_t row)
{
	const struct raw_labelset *s;

	if (row == ID_NONE)
		return store_labelset(r->st, NULL, 0);
	if (r->labelset_ids[row] == ID_NONE) {
		s = &r->msg->labelsets[row];
		r->labelset_ids[row] = read_labelset(r, s->labels, s->labels_end);
	}
	return r->labelset_ids[row];
}

static bool all_zero(const int64_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n && !v[i]; i++)
		;
	return i == n;
}

/* Label sets of all samples, SAMPLE_DROP for those left out; marks the locations of the rest. */
static void choose_samples(struct reader *r, const struct sample_hooks *hooks)
{
	const struct message *m = r->msg;
	size_t i, k, frames = 0;
	uint32_t set;

	XRESERVE(r->labelsets, r->labelsets_cap, m->nsamples);
	for (i = 0; i < m->nsamples; i++) {
		set = SAMPLE_DROP;
		if (!hooks->drop_zero ||
		    !all_zero(m->values + i * m->ntypes, m->ntypes)) {
			set = reader_labelset(r, m->samples[i].labelset);
			if (hooks->labelset)
				set = hooks->labelset(hooks->ctx, r->st, set);
		}
		r->labelsets[i] = set;
		if (set != SAMPLE_DROP) {
			for (k = frames; k < m->samples[i].frames_end; k++)
				r->location_ids[m->frames[k]] = 0;
		}
		frames = m->samples[i].frames_end;
	}
}

/* The values of a sample as they count: NULL when they do not fit. */
static const int64_t *values_of(struct reader *r, size_t sample, int64_t times,
				struct err *e)
{
	const struct message *m = r->msg;
	const int64_t *v = m->values + sample * m->ntypes;
	size_t i;

	if (times <= 1)
		return v;
	XRESERVE(r->values, r->values_cap, m->ntypes);
	for (i = 0; i < m->ntypes; i++) {
		if (!__builtin_mul_overflow(v[i], times, &r->values[i]))
			continue;
		err_set(e, EOVERFLOW, "%lld times a value of %s does not fit 64 bits",
			(long long)times, store_cstr(r->st, r->h.types[i].type));
		return NULL;
	}
	return r->values;
}

static int add_batch(struct reader *r, struct profile *p,
		     const struct sample_hooks *hooks, struct pending *batch, size_t n,
		     struct err *e)
{
	const struct store *st = r->st;
	const uint32_t *frames;
	const int64_t *values;
	uint32_t nframes, k;
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		batch[i].stack = id_table_likely(&st->stack_ids, batch[i].hash);
		if (batch[i].stack != ID_NONE)
			__builtin_prefetch(&st->stacks[batch[i].stack]);
	}
	for (i = 0; i < n; i++) {
		if (batch[i].stack == ID_NONE)
			continue;
		frames = store_frames(st, batch[i].stack, &nframes);
		/* 16 ids to a cache line */
		for (k = 0; k < nframes; k += 16)
			__builtin_prefetch(frames + k);
	}
	for (i = 0; i < n; i++) {
		batch[i].stack =
			store_stack_hashed(r->st, batch[i].hash, batch[i].stack,
					   r->frames + batch[i].frames, batch[i].nframes);
		if (hooks->stack)
			batch[i].stack = hooks->stack(hooks->ctx, r->st, batch[i].stack);
		if (batch[i].stack != SAMPLE_DROP)
			profile_prefetch(p, batch[i].stack, batch[i].labelset, 0);
	}
	for (i = 0; i < n; i++) {
		if (batch[i].stack != SAMPLE_DROP)
			profile_prefetch(p, batch[i].stack, batch[i].labelset, 1);
	}
	for (i = 0; i < n; i++) {
		if (batch[i].stack == SAMPLE_DROP)
			continue;
		values = values_of(r, batch[i].sample, hooks->times, e);
		if (!values)
			return -e->code;
		if (hooks->sample)
			hooks->sample(hooks->ctx, batch[i].stack, batch[i].labelset,
				      values);
		ret = profile_add(p, batch[i].stack, batch[i].labelset, values, e);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int add_samples(struct reader *r, struct profile *p,
		       const struct sample_hooks *hooks, struct err *e)
{
	const struct message *m = r->msg;
	struct pending batch[BATCH], *b;
	size_t i, k, n = 0, from = 0, to, nframes = 0;
	int ret;

	for (i = 0; i < m->nsamples; i++, from = to) {
		to = m->samples[i].frames_end;
		if (r->labelsets[i] == SAMPLE_DROP)
			continue;
		XRESERVE(r->frames, r->frames_cap, nframes + (to - from) + 1);
		for (k = from; k < to; k++)
			r->frames[nframes + k - from] = r->location_ids[m->frames[k]];
		b = &batch[n++];
		*b = (struct pending){.sample = i,
				      .frames = nframes,
				      .nframes = to - from,
				      .labelset = r->labelsets[i]};
		b->hash = store_stack_hash(r->frames + nframes, b->nframes);
		id_table_prefetch(&r->st->stack_ids, b->hash);
		nframes += b->nframes;
		if (n == BATCH) {
			ret = add_batch(r, p, hooks, batch, n, e);
			if (ret < 0)
				return ret;
			n = nframes = 0;
		}
	}
	return add_batch(r, p, hooks, batch, n, e);
}

int reader_into(struct reader *r, struct profile *p, const struct sample_hooks *hooks,
		struct err *e)
{
	static const struct sample_hooks none;
	const struct message *m = r->msg;
	size_t i;

	if (!hooks)
		hooks = &none;
	if (r->st->nframes + m->nframes > UINT32_MAX ||
	    r->st->nlines + m->nlines > UINT32_MAX ||
	    r->st->nlabels + m->nlabels > UINT32_MAX ||
	    p->nsamples + m->nsamples > UINT32_MAX)
		return err_set(e, EOVERFLOW,
			       "more than 2^32 distinct frames, lines or labels");
	if (r->st->mode == STORE_EXACT) {
		/* all of them, so that they keep their order */
		for (i = 0; i < m->nmappings; i++)
			reader_mapping(r, p, i);
		if (m->nmappings && p->main_mapping == ID_NONE)
			p->main_mapping = r->mapping_ids[0];
	}
	choose_samples(r, hooks);
	read_functions(r);
	read_locations(r, p);
	return add_samples(r, p, hooks, e);
}

int profile_decode(struct store *st, const uint8_t *msg, size_t n, struct profile **out,
		   struct err *e)
{
	struct reader *r = reader_new(st, 0);
	struct profile *p = profile_new(st);
	int ret = reader_open(r, msg, n, e);

	if (!ret) {
		header_copy(&p->h, &r->h);
		store_reserve(st, r->msg->nlocations, r->msg->nsamples, r->msg->nframes);
		profile_reserve(p, r->msg->nsamples);
		ret = reader_into(r, p, NULL, e);
	}
	reader_free(r);
	if (ret < 0)
		profile_free(p);
	else
		*out = p;
	return ret;
}
