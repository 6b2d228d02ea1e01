/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the decoder share: message.c reads the tables, message_usual.c their rows
 * that are in no way unusual, message_samples.c the samples. Nobody else includes this.
 */
#pragma once

#include <errno.h>

#include "lib/pprof/message.h"
#include "lib/pprof/wire.h"

#define NFIELDS(t) (sizeof(t) / sizeof(*(t)))

/* "WHAT at byte N in FIELD"; returns -EBADMSG. */
int message_fail(const struct message *m, const uint8_t *p, const char *field,
		 const char *what, struct err *e);

/* Make room in an array of the message; the sum of all of them is within the budget. */
int message_room(struct message *m, void **p, size_t *cap, size_t need, size_t size,
		 struct err *e);

#define ROOM(m, arr, need, e)                                                            \
	((need) > (m)->arr##_cap                                                         \
		 ? message_room((m), (void **)&(m)->arr, &(m)->arr##_cap, (need),        \
				sizeof(*(m)->arr), (e))                                  \
		 : 0)

/* A field did not decode, or a known one has the wrong wire type: say which. */
int __attribute__((cold))
message_field_trouble(struct message *m, const uint8_t *p, const uint8_t *end,
		      const char *why, const uint8_t *bad, const char *const *names,
		      size_t nnames, struct err *e);

/* A string index met before the table is known: kept as 32 bits, checked at the end. */
static inline uint32_t message_str_index(struct message *m, uint64_t v, const uint8_t *at,
					 const char *field)
{
	if (v > m->max_str) {
		m->max_str = v;
		m->max_str_at = at;
		m->max_str_field = field;
	}
	return v;
}

extern const char *const message_function_fields[];

/*
 * Strings, functions and locations from p on, as far as they are written in the usual way and
 * there is room in the arrays: behind them.
 */
const uint8_t *message_usual_rows(struct message *m, const uint8_t *p);

/* The second pass: all samples, once the tables are linked. */
int message_decode_samples(struct message *m, struct err *e);

/*
 * One field of a message: 1, 0 when *p is at the end, negative on error. `wanted` has a letter
 * per field number: v a number, b bytes, p repeated numbers (packed or not). Numbers not in it
 * are unknown fields, for the caller to pass over.
 */
static inline __attribute__((always_inline)) int
next_field(struct message *m, const uint8_t **p, const uint8_t *end, struct wire_field *f,
	   const char *const *names, size_t nnames, const char *wanted, struct err *e)
{
	const uint8_t *next, *bad;
	const char *why;
	char want;

	if (*p == end)
		return 0;
	next = wire_field(*p, end, f, &why, &bad);
	if (!next)
		return message_field_trouble(m, *p, end, why, bad, names, nnames, e);
	if (f->number && f->number < nnames) {
		want = wanted[f->number];
		if ((want == 'v' && f->type != WIRE_VARINT) ||
		    (want == 'b' && f->type != WIRE_BYTES) ||
		    (want == 'p' && f->type != WIRE_VARINT && f->type != WIRE_BYTES))
			return message_field_trouble(m, *p, end, "wrong wire type", *p,
						     names, nnames, e);
	}
	*p = next;
	return 1;
}
