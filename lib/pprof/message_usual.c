/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the tables as nearly all producers write them: fields in the order of their numbers,
 * each once, the row shorter than 128 bytes. They are read by words, and a row is taken only when
 * all of it is as expected: whatever else stands there, right or wrong, is left to message.c.
 */
#include <string.h>

#include "lib/pprof/message_internal.h"
#include "lib/pprof/model.h"

#define TAG(number, type) ((number) << 3 | (type))
/* What may be read from the start of a row: the longest, and numbers that run out of it. */
#define ROW_BYTES (2 + 127 + 6 * 9 + 9)

/* The number of this field at p, 0 when it is not there: behind it. Nine bytes can be read. */
static inline __attribute__((always_inline)) const uint8_t *
usual_number(const uint8_t *p, unsigned number, uint64_t *v)
{
	const uint8_t *next;

	*v = 0;
	if (*p != TAG(number, WIRE_VARINT))
		return p;
	if (p[1] < 0x80) {
		*v = p[1];
		return p + 2;
	}
	if (p[2] < 0x80) {
		*v = (p[1] & 0x7f) | (uint64_t)p[2] << 7;
		return p + 3;
	}
	next = wire_varint_of_word(p + 1, v);
	return next ? next : p;
}

static const uint8_t *usual_strings(struct message *m, const uint8_t *p)
{
	size_t n = m->nstrs;

	while (n && n < m->strs_cap && m->end - p >= 2 && *p == TAG(6, WIRE_BYTES) &&
	       p[1] < 0x80 && p[1] <= m->end - p - 2) {
		m->strs[n++] = (struct raw_str){p + 2, p[1]};
		p += 2 + p[1];
	}
	m->nstrs = n;
	return p;
}

static const uint8_t *usual_functions(struct message *m, const uint8_t *p)
{
	const uint8_t *name_at, *system_at, *file_at, *q, *end = m->end;
	uint64_t id, name, system_name, file, start_line;

	while (m->nfunctions < m->functions_cap && end - p >= ROW_BYTES &&
	       *p == TAG(5, WIRE_BYTES) && p[1] < 0x80) {
		name_at = usual_number(p + 2, 1, &id);
		system_at = usual_number(name_at, 2, &name);
		file_at = usual_number(system_at, 3, &system_name);
		q = usual_number(file_at, 4, &file);
		q = usual_number(q, 5, &start_line);
		if (q != p + 2 + p[1])
			return p;
		m->functions[m->nfunctions++] = (struct raw_function){
			.id = id,
			.name = message_str_index(m, name, name_at,
						  message_function_fields[2]),
			.system_name = message_str_index(m, system_name, system_at,
							 message_function_fields[3]),
			.file = message_str_index(m, file, file_at,
						  message_function_fields[4]),
			.start_line = start_line,
		};
		p = q;
	}
	return p;
}

static const uint8_t *usual_locations(struct message *m, const uint8_t *p)
{
	const uint8_t *q, *line_end, *end = m->end;
	struct raw_location l = {.mapping = ID_NONE};
	uint64_t function, line, column, folded;
	size_t nlines;

	while (m->nlocations < m->locations_cap && end - p >= ROW_BYTES &&
	       *p == TAG(4, WIRE_BYTES) && p[1] < 0x80) {
		q = usual_number(p + 2, 1, &l.id);
		q = usual_number(q, 2, &l.mapping_id);
		q = usual_number(q, 3, &l.address);
		nlines = m->nlines;
		while (q < p + 2 + p[1] && *q == TAG(4, WIRE_BYTES) &&
		       nlines < m->lines_cap) {
			line_end = q + 2 + q[1];
			q = usual_number(q + 2, 1, &function);
			q = usual_number(q, 2, &line);
			q = usual_number(q, 3, &column);
			if (q != line_end)
				return p;
			m->lines[nlines++] = (struct raw_line){
				.function_id = function, .line = line, .column = column};
		}
		q = usual_number(q, 5, &folded);
		if (q != p + 2 + p[1])
			return p;
		l.folded = folded;
		l.lines = m->nlines;
		l.nlines = nlines - m->nlines;
		m->nlines = nlines;
		m->locations[m->nlocations++] = l;
		p = q;
	}
	return p;
}

const uint8_t *message_usual_rows(struct message *m, const uint8_t *p)
{
	const uint8_t *row;

	do {
		row = p;
		p = usual_strings(m, usual_functions(m, usual_locations(m, p)));
	} while (p != row);
	return p;
}
