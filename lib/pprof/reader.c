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
	size_t frames; /* in reader.frames */
	uint32_t nframes, labelset, stack;
	const int64_t *values;
};

struct reader {
	struct store *st;
	struct message msg;
	struct header h;
	size_t types_cap, comments_cap;
	/* row of the message -> id in the store, ID_NONE: not asked for yet */
	uint32_t *str_ids, *function_ids, *mapping_ids, *location_ids;
	size_t str_ids_cap, function_ids_cap, mapping_ids_cap, location_ids_cap;
	/* scratch */
	struct line *lines;
	struct label *labels;
	uint32_t *frames;
	size_t lines_cap, labels_cap, frames_cap, nframes;
};

struct reader *reader_new(struct store *st, uint64_t max_size)
{
	struct reader *r = xcalloc(1, sizeof(*r));

	r->st = st;
	message_init(&r->msg, 2 * (max_size ? max_size : SOURCE_MAX_SIZE_DEFAULT));
	return r;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	message_release(&r->msg);
	header_release(&r->h);
	free(r->str_ids);
	free(r->function_ids);
	free(r->mapping_ids);
	free(r->location_ids);
	free(r->lines);
	free(r->labels);
	free(r->frames);
	free(r);
}

static uint32_t reader_str(struct reader *r, uint32_t row)
{
	const struct raw_str *s;

	if (r->str_ids[row] == ID_NONE) {
		s = &r->msg.strs[row];
		r->str_ids[row] = intern_put(&r->st->strings, s->p, s->n);
	}
	return r->str_ids[row];
}

#define RESET_IDS(r, ids, n)                                                                   \
	do {                                                                                   \
		XRESERVE((r)->ids, (r)->ids##_cap, (n));                                       \
		if (n)                                                                         \
			memset((r)->ids, 0xff, (n) * sizeof(*(r)->ids));                       \
	} while (0)

static void read_header(struct reader *r)
{
	const struct message *m = &r->msg;
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

int reader_open(struct reader *r, const uint8_t *msg, size_t n, struct err *e)
{
	int ret = message_decode(&r->msg, msg, n, e);

	if (ret < 0)
		return ret;
	RESET_IDS(r, str_ids, r->msg.nstrs);
	RESET_IDS(r, function_ids, r->msg.nfunctions);
	RESET_IDS(r, mapping_ids, r->msg.nmappings);
	RESET_IDS(r, location_ids, r->msg.nlocations);
	read_header(r);
	return 0;
}

const struct header *reader_header(const struct reader *r)
{
	return &r->h;
}

static uint32_t reader_function(struct reader *r, uint32_t row)
{
	const struct raw_function *f = &r->msg.functions[row];
	struct function fn;

	if (r->function_ids[row] == ID_NONE) {
		fn.name = reader_str(r, f->name);
		fn.system_name = reader_str(r, f->system_name);
		fn.file = reader_str(r, f->file);
		fn.start_line = f->start_line;
		r->function_ids[row] = store_function(r->st, &fn);
	}
	return r->function_ids[row];
}

static uint32_t reader_mapping(struct reader *r, struct profile *p, uint32_t row)
{
	const struct raw_mapping *o = &r->msg.mappings[row];
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

static uint32_t make_location(struct reader *r, struct profile *p, uint32_t row)
{
	const struct raw_location *l = &r->msg.locations[row];
	const struct raw_line *in = r->msg.lines + l->lines;
	uint64_t address = l->address;
	uint32_t mapping = ID_NONE, i;

	if (l->mapping != ID_NONE) {
		const struct raw_mapping *m = &r->msg.mappings[l->mapping];

		mapping = reader_mapping(r, p, l->mapping);
		if (r->st->mode == STORE_MERGED && (m->file || m->build_id))
			address = address - m->start + m->offset;
	}
	XRESERVE(r->lines, r->lines_cap, l->nlines);
	for (i = 0; i < l->nlines; i++)
		r->lines[i] = (struct line){reader_function(r, in[i].function), in[i].line,
					    in[i].column};
	return store_location(r->st, mapping, address, l->folded, r->lines, l->nlines);
}

static inline uint32_t reader_location(struct reader *r, struct profile *p, uint32_t row)
{
	if (r->location_ids[row] == ID_NONE)
		r->location_ids[row] = make_location(r, p, row);
	return r->location_ids[row];
}

static uint32_t reader_labelset(struct reader *r, size_t from, size_t to)
{
	const struct raw_label *l;
	size_t i, n = to - from;

	XRESERVE(r->labels, r->labels_cap, n);
	for (i = 0; i < n; i++) {
		l = &r->msg.labels[from + i];
		r->labels[i] = (struct label){.key = reader_str(r, l->key),
					      .numeric = !l->str};
		if (l->str) {
			r->labels[i].str = reader_str(r, l->str);
		} else {
			r->labels[i].num = l->num;
			r->labels[i].unit = reader_str(r, l->unit);
		}
	}
	return store_labelset(r->st, r->labels, n);
}

static bool all_zero(const int64_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n && !v[i]; i++)
		;
	return i == n;
}

/* Label set and frames of one sample; false: it is left out. */
static bool prepare(struct reader *r, struct profile *p, size_t i,
		    const struct sample_hooks *hooks, struct pending *out)
{
	const struct message *m = &r->msg;
	size_t frames = i ? m->samples[i - 1].frames_end : 0;
	size_t labels = i ? m->samples[i - 1].labels_end : 0, k, n;
	uint32_t *to;

	out->values = m->values + i * m->ntypes;
	if (hooks->drop_zero && all_zero(out->values, m->ntypes))
		return false;
	out->labelset = reader_labelset(r, labels, m->samples[i].labels_end);
	if (hooks->labelset) {
		out->labelset = hooks->labelset(hooks->ctx, r->st, out->labelset);
		if (out->labelset == SAMPLE_DROP)
			return false;
	}
	n = m->samples[i].frames_end - frames;
	XRESERVE(r->frames, r->frames_cap, r->nframes + n + 1);
	to = r->frames + r->nframes;
	for (k = 0; k < n; k++)
		to[k] = reader_location(r, p, m->frames[frames + k]);
	out->frames = r->nframes;
	out->nframes = n;
	out->hash = store_stack_hash(to, n);
	id_table_prefetch(&r->st->stack_ids, out->hash);
	r->nframes += n;
	return true;
}

static int add_batch(struct reader *r, struct profile *p, const struct sample_hooks *hooks,
		     struct pending *batch, size_t n, struct err *e)
{
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		batch[i].stack = store_stack_hashed(r->st, batch[i].hash,
						    r->frames + batch[i].frames,
						    batch[i].nframes);
		if (hooks->stack)
			batch[i].stack = hooks->stack(hooks->ctx, r->st, batch[i].stack);
		if (batch[i].stack != SAMPLE_DROP)
			profile_prefetch(p, batch[i].stack, batch[i].labelset);
	}
	for (i = 0; i < n; i++) {
		if (batch[i].stack == SAMPLE_DROP)
			continue;
		ret = profile_add(p, batch[i].stack, batch[i].labelset, batch[i].values, e);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int reader_into(struct reader *r, struct profile *p, const struct sample_hooks *hooks,
		struct err *e)
{
	static const struct sample_hooks none;
	struct pending batch[BATCH];
	const struct message *m = &r->msg;
	size_t i, n = 0;
	int ret;

	if (!hooks)
		hooks = &none;
	if (r->st->nframes + m->nframes > UINT32_MAX || r->st->nlines + m->nlines > UINT32_MAX ||
	    r->st->nlabels + m->nlabels > UINT32_MAX || p->nsamples + m->nsamples > UINT32_MAX)
		return err_set(e, E2BIG, "more than 2^32 distinct frames, lines or labels");
	if (r->st->mode == STORE_EXACT) {
		/* all of them, so that they keep their order */
		for (i = 0; i < m->nmappings; i++)
			reader_mapping(r, p, i);
		if (m->nmappings && p->main_mapping == ID_NONE)
			p->main_mapping = r->mapping_ids[0];
	}
	for (i = 0; i < m->nsamples; i++) {
		if (!n)
			r->nframes = 0;
		if (!prepare(r, p, i, hooks, &batch[n]))
			continue;
		if (++n == BATCH) {
			ret = add_batch(r, p, hooks, batch, n, e);
			if (ret < 0)
				return ret;
			n = 0;
		}
	}
	return add_batch(r, p, hooks, batch, n, e);
}

int profile_decode(struct store *st, const uint8_t *msg, size_t n, struct profile **out,
		   struct err *e)
{
	struct reader *r = reader_new(st, 0);
	struct profile *p = profile_new(st);
	int ret = reader_open(r, msg, n, e);

	if (!ret) {
		header_copy(&p->h, &r->h);
		ret = reader_into(r, p, NULL, e);
	}
	reader_free(r);
	if (ret < 0)
		profile_free(p);
	else
		*out = p;
	return ret;
}
