/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over a message: its tables, and that they hold together. */
#include "lib/pprof/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/message_internal.h"
#include "lib/pprof/model.h"

/* Field numbers are those of profile.proto; names are for messages. */
static const char *const profile_fields[] = {
	"",
	"sample_type",
	"sample",
	"mapping",
	"location",
	"function",
	"string_table",
	"drop_frames",
	"keep_frames",
	"time_nanos",
	"duration_nanos",
	"period_type",
	"period",
	"comment",
	"default_sample_type",
	"doc_url",
};
static const char *const type_fields[] = {"", "value_type.type", "value_type.unit"};
static const char *const mapping_fields[] = {
	"",
	"mapping.id",
	"mapping.memory_start",
	"mapping.memory_limit",
	"mapping.file_offset",
	"mapping.filename",
	"mapping.build_id",
	"mapping.has_functions",
	"mapping.has_filenames",
	"mapping.has_line_numbers",
	"mapping.has_inline_frames",
};
static const char *const location_fields[] = {"",
					      "location.id",
					      "location.mapping_id",
					      "location.address",
					      "location.line",
					      "location.is_folded"};
static const char *const line_fields[] = {"", "line.function_id", "line.line",
					  "line.column"};
const char *const message_function_fields[] = {"",
					       "function.id",
					       "function.name",
					       "function.system_name",
					       "function.filename",
					       "function.start_line"};

static size_t at(const struct message *m, const uint8_t *p)
{
	return p - m->start;
}

int message_fail(const struct message *m, const uint8_t *p, const char *field,
		 const char *what, struct err *e)
{
	return err_set(e, EBADMSG, "%s at byte %zu in %s", what, at(m, p), field);
}

int message_room(struct message *m, void **p, size_t *cap, size_t need, size_t size,
		 struct err *e)
{
	size_t old = *cap, bound = old + old / 2;
	uint64_t grown;

	/* as xgrow() will have it */
	if (bound < 16)
		bound = 16;
	if (bound < need)
		bound = need;
	grown = bound - old;
	if (grown > (m->budget_bytes - m->used_bytes) / size)
		return err_set(e, E2BIG,
			       "profile too large: over %llu bytes decoded "
			       "(--max-size)",
			       (unsigned long long)m->budget_bytes);
	*p = xgrow(*p, cap, need, size);
	m->used_bytes += (*cap - old) * size;
	return 0;
}

int __attribute__((cold))
message_field_trouble(struct message *m, const uint8_t *p, const uint8_t *end,
		      const char *why, const uint8_t *bad, const char *const *names,
		      size_t nnames, struct err *e)
{
	const char *name = "the message";
	uint64_t key;

	if (wire_varint(p, end, &key) && key >> 3 && key >> 3 < nnames)
		name = names[key >> 3];
	return message_fail(m, bad, name, why, e);
}

static int decode_type(struct message *m, const struct wire_field *in, struct raw_type *t,
		       struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n;
	struct wire_field f;
	int r;

	*t = (struct raw_type){0};
	while ((r = next_field(m, &p, end, &f, type_fields, NFIELDS(type_fields), "-vv",
			       e)) > 0) {
		if (f.number == 1)
			t->type = message_str_index(m, f.value, f.at, type_fields[1]);
		else if (f.number == 2)
			t->unit = message_str_index(m, f.value, f.at, type_fields[2]);
	}
	return r;
}

static int decode_mapping(struct message *m, const struct wire_field *in, struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n;
	struct raw_mapping *o;
	struct wire_field f;
	int r = ROOM(m, mappings, m->nmappings + 1, e);

	if (r < 0)
		return r;
	o = &m->mappings[m->nmappings++];
	*o = (struct raw_mapping){0};
	while ((r = next_field(m, &p, end, &f, mapping_fields, NFIELDS(mapping_fields),
			       "-vvvvvvvvvv", e)) > 0) {
		switch (f.number) {
		case 1:
			o->id = f.value;
			break;
		case 2:
			o->start = f.value;
			break;
		case 3:
			o->limit = f.value;
			break;
		case 4:
			o->offset = f.value;
			break;
		case 5:
			o->file = message_str_index(m, f.value, f.at, mapping_fields[5]);
			break;
		case 6:
			o->build_id =
				message_str_index(m, f.value, f.at, mapping_fields[6]);
			break;
		case 7:
		case 8:
		case 9:
		case 10:
			o->flags &= ~(1u << (f.number - 7));
			o->flags |= (uint32_t) !!f.value << (f.number - 7);
			break;
		}
	}
	return r;
}

static int decode_function(struct message *m, const struct wire_field *in, struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n;
	struct raw_function *o;
	struct wire_field f;
	int r = ROOM(m, functions, m->nfunctions + 1, e);

	if (r < 0)
		return r;
	o = &m->functions[m->nfunctions++];
	*o = (struct raw_function){0};
	while ((r = next_field(m, &p, end, &f, message_function_fields,
			       NFIELDS(message_function_fields), "-vvvvv", e)) > 0) {
		switch (f.number) {
		case 1:
			o->id = f.value;
			break;
		case 2:
			o->name = message_str_index(m, f.value, f.at,
						    message_function_fields[2]);
			break;
		case 3:
			o->system_name = message_str_index(m, f.value, f.at,
							   message_function_fields[3]);
			break;
		case 4:
			o->file = message_str_index(m, f.value, f.at,
						    message_function_fields[4]);
			break;
		case 5:
			o->start_line = f.value;
			break;
		}
	}
	return r;
}

static int decode_line(struct message *m, const struct wire_field *in, struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n;
	struct wire_field f;
	struct raw_line *o;
	int r = ROOM(m, lines, m->nlines + 1, e);

	if (r < 0)
		return r;
	o = &m->lines[m->nlines++];
	*o = (struct raw_line){0};
	while ((r = next_field(m, &p, end, &f, line_fields, NFIELDS(line_fields), "-vvv",
			       e)) > 0) {
		if (f.number == 1)
			o->function_id = f.value;
		else if (f.number == 2)
			o->line = f.value;
		else if (f.number == 3)
			o->column = f.value;
	}
	return r;
}

static int decode_location(struct message *m, const struct wire_field *in, struct err *e)
{
	const uint8_t *p = in->p, *end = p + in->n;
	struct raw_location *o;
	struct wire_field f;
	int r = ROOM(m, locations, m->nlocations + 1, e);

	if (r < 0)
		return r;
	o = &m->locations[m->nlocations++];
	*o = (struct raw_location){.mapping = ID_NONE, .lines = m->nlines};
	while ((r = next_field(m, &p, end, &f, location_fields, NFIELDS(location_fields),
			       "-vvvbv", e)) > 0) {
		switch (f.number) {
		case 1:
			o->id = f.value;
			break;
		case 2:
			o->mapping_id = f.value;
			break;
		case 3:
			o->address = f.value;
			break;
		case 4:
			r = decode_line(m, &f, e);
			if (r < 0)
				return r;
			o->nlines++;
			break;
		case 5:
			o->folded = f.value;
			break;
		}
	}
	return r;
}

static int decode_string(struct message *m, const struct wire_field *f, struct err *e)
{
	int r = ROOM(m, strs, m->nstrs + 1, e);

	if (r < 0)
		return r;
	if (f->n > UINT32_MAX)
		return message_fail(m, f->at, profile_fields[6], "string too long", e);
	if (!m->nstrs && f->n)
		return message_fail(m, f->at, profile_fields[6], "string 0 is not empty",
				    e);
	m->strs[m->nstrs++] = (struct raw_str){f->p, f->n};
	return 0;
}

static int put_comment(struct message *m, struct wire_field *f, uint64_t v, struct err *e)
{
	int r = ROOM(m, comments, m->ncomments + 1, e);

	if (r < 0)
		return r;
	m->comments[m->ncomments++] = message_str_index(m, v, f->at, profile_fields[13]);
	return 0;
}

static int decode_comment(struct message *m, struct wire_field *f, struct err *e)
{
	const uint8_t *p, *end, *next;
	uint64_t v;
	int r;

	if (f->type == WIRE_VARINT)
		return put_comment(m, f, f->value, e);
	for (p = f->p, end = p + f->n; p < end; p = next) {
		next = wire_varint(p, end, &v);
		if (!next)
			return message_fail(m, p, profile_fields[13], "truncated varint",
					    e);
		r = put_comment(m, f, v, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int decode_table_field(struct message *m, struct wire_field *f, struct err *e)
{
	int r;

	switch (f->number) {
	case 1:
		r = ROOM(m, types, m->ntypes + 1, e);
		return r < 0 ? r : decode_type(m, f, &m->types[m->ntypes++], e);
	case 2:
		if (!m->sample_fields++)
			m->samples_start = f->at;
		m->samples_end = f->p + f->n;
		return 0;
	case 3:
		return decode_mapping(m, f, e);
	case 4:
		return decode_location(m, f, e);
	case 5:
		return decode_function(m, f, e);
	case 6:
		return decode_string(m, f, e);
	case 7:
		m->drop_frames = message_str_index(m, f->value, f->at, profile_fields[7]);
		return 0;
	case 8:
		m->keep_frames = message_str_index(m, f->value, f->at, profile_fields[8]);
		return 0;
	case 9:
		/* protobuf would merge two messages without a word; google/pprof's test for it */
		if (m->time_ns)
			return message_fail(m, f->at, profile_fields[9],
					    "a second profile (plain profiles cannot be "
					    "concatenated)",
					    e);
		m->time_ns = f->value;
		return 0;
	case 10:
		m->duration_ns = f->value;
		return 0;
	case 11:
		return decode_type(m, f, &m->period_type, e);
	case 12:
		m->period = f->value;
		return 0;
	case 13:
		return decode_comment(m, f, e);
	case 14:
		m->default_type =
			message_str_index(m, f->value, f->at, profile_fields[14]);
		return 0;
	case 15:
		m->doc_url = message_str_index(m, f->value, f->at, profile_fields[15]);
		return 0;
	}
	return 0;
}

static int decode_tables(struct message *m, struct err *e)
{
	const uint8_t *p = m->start;
	struct wire_field f;
	int r;

	while ((r = next_field(m, &p, m->end, &f, profile_fields, NFIELDS(profile_fields),
			       "-bbbbbbvvvvbvpvv", e)) > 0) {
		r = decode_table_field(m, &f, e);
		if (r < 0)
			return r;
		if (f.number >= 4 && f.number <= 6)
			p = message_usual_rows(m, p);
	}
	return r;
}

/* Where row `row` of the table in the given field starts; the message is known to decode. */
static const uint8_t *row_start(const struct message *m, uint64_t field, size_t row)
{
	const uint8_t *p = m->start, *bad;
	struct wire_field f = {0};
	const char *why;

	do {
		p = wire_field(p, m->end, &f, &why, &bad);
		if (f.number == field && !row--)
			return f.at;
	} while (p && p < m->end);
	return m->end;
}

static int check_ids(struct message *m, struct idmap *map, const void *rows, size_t n,
		     size_t stride, uint64_t field, const char *name, struct err *e)
{
	char what[64];
	uint64_t id;
	size_t bad;

	if (n >= ID_NONE)
		return err_set(e, EBADMSG, "too many rows in %s", profile_fields[field]);
	if (idmap_build(map, rows, n, stride, &bad))
		return 0;
	memcpy(&id, (const char *)rows + bad * stride, sizeof(id));
	if (id)
		snprintf(what, sizeof(what), "id %llu used twice",
			 (unsigned long long)id);
	else
		snprintf(what, sizeof(what), "reserved id 0");
	return message_fail(m, row_start(m, field, bad), name, what, e);
}

/* A line that names no function: its location tells where. */
static int bad_line(const struct message *m, size_t line, struct err *e)
{
	char what[64];
	size_t i;

	for (i = 0; m->locations[i].lines + m->locations[i].nlines <= line; i++)
		;
	snprintf(what, sizeof(what), "no function with id %llu",
		 (unsigned long long)m->lines[line].function_id);
	return message_fail(m, row_start(m, 4, i), line_fields[1], what, e);
}

/* Every id of a table resolves: lines to functions, locations to mappings. */
static int link_tables(struct message *m, struct err *e)
{
	struct raw_location *l;
	struct raw_line *line;
	size_t i;
	int r;

	r = check_ids(m, &m->mapping_ids, m->mappings, m->nmappings, sizeof(*m->mappings),
		      3, mapping_fields[1], e);
	if (!r)
		r = check_ids(m, &m->function_ids, m->functions, m->nfunctions,
			      sizeof(*m->functions), 5, message_function_fields[1], e);
	if (!r)
		r = check_ids(m, &m->location_ids, m->locations, m->nlocations,
			      sizeof(*m->locations), 4, location_fields[1], e);
	if (r < 0)
		return r;
	for (i = 0; i < m->nlocations; i++) {
		l = &m->locations[i];
		/* an unknown mapping reads as none, as google/pprof has it */
		if (l->mapping_id)
			l->mapping = idmap_find(&m->mapping_ids, l->mapping_id);
	}
	for (i = 0; i < m->nlines; i++) {
		line = &m->lines[i];
		line->function = idmap_find(&m->function_ids, line->function_id);
		if (line->function == ID_NONE)
			return bad_line(m, i, e);
	}
	return 0;
}

static int check_tables(struct message *m, struct err *e)
{
	char what[64];

	if (!m->nstrs)
		return err_set(e, EBADMSG, "no string_table in %zu bytes",
			       (size_t)(m->end - m->start));
	if (m->max_str >= m->nstrs) {
		snprintf(what, sizeof(what),
			 "string index %lld out of range (%zu strings)",
			 (long long)m->max_str, m->nstrs);
		return message_fail(m, m->max_str_at, m->max_str_field, what, e);
	}
	if (!m->ntypes)
		return err_set(e, EBADMSG, "no sample_type");
	return link_tables(m, e);
}

/*
 * Decoded rows are 3 to 4 times as large as the message of an ordinary profile; a hostile one
 * reaches 16 times.
 */
#define BUDGET_RATIO 4

uint64_t message_budget(uint64_t max_size)
{
	return BUDGET_RATIO * max_size;
}

void message_init(struct message *m, uint64_t budget_bytes)
{
	*m = (struct message){.budget_bytes = budget_bytes};
}

void message_release(struct message *m)
{
	free(m->strs);
	free(m->types);
	free(m->mappings);
	free(m->functions);
	free(m->lines);
	free(m->locations);
	free(m->samples);
	free(m->frames);
	free(m->values);
	free(m->labels);
	free(m->labelsets);
	free(m->comments);
	idmap_release(&m->function_ids);
	idmap_release(&m->mapping_ids);
	idmap_release(&m->location_ids);
	id_table_release(&m->labelset_ids);
	*m = (struct message){.budget_bytes = m->budget_bytes,
			      .tables_only = m->tables_only};
}

static void message_clear(struct message *m)
{
	m->nstrs = m->ntypes = m->nmappings = m->nfunctions = m->nlines = m->nlocations =
		0;
	m->nsamples = m->nframes = m->nvalues = m->nlabels = m->nlabelsets =
		m->ncomments = 0;
	m->period_type = (struct raw_type){0};
	m->period = m->time_ns = m->duration_ns = 0;
	m->drop_frames = m->keep_frames = m->default_type = m->doc_url = 0;
	m->sample_fields = 0;
	m->samples_start = m->samples_end = m->start;
	m->max_str = 0;
	m->max_str_at = m->start;
	m->max_str_field = "";
}

static int decode(struct message *m, const uint8_t *p, size_t n, struct err *e)
{
	int r;

	m->start = p;
	m->end = p + n;
	message_clear(m);
	r = decode_tables(m, e);
	if (!r)
		r = check_tables(m, e);
	if (!r && !m->tables_only)
		r = message_decode_samples(m, e);
	return r;
}

int message_decode(struct message *m, const uint8_t *p, size_t n, struct err *e)
{
	uint64_t before = m->used_bytes;
	int r = decode(m, p, n, e);

	/* arrays that messages before this one needed, and it does not, are no reason to fail */
	if (r == -E2BIG && before) {
		message_release(m);
		r = decode(m, p, n, e);
	}
	return r;
}
