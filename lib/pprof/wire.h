/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf wire format, bounded: varints and fields of a message in memory.
 * (protobuf.dev, "Encoding"; groups are refused, as google/pprof does.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
	uint64_t number;
	enum wire_type type;
	uint64_t value;	  /* WIRE_VARINT */
	const uint8_t *p; /* WIRE_BYTES: the contents */
	size_t n;
	const uint8_t *at; /* where the field starts, for messages */
};

const uint8_t *wire_varint_slow(const uint8_t *p, const uint8_t *end, uint64_t *v);

/* Behind the varint at p, or NULL: it is cut off by end, or longer than ten bytes. */
static inline const uint8_t *wire_varint(const uint8_t *p, const uint8_t *end,
					 uint64_t *v)
{
	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	if (end - p >= 2 && p[1] < 0x80) {
		*v = (p[0] & 0x7f) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	return wire_varint_slow(p, end, v);
}

/*
 * The field at p into *f: behind it, or NULL with *why (static text) and *bad (where) set.
 * p must be below end.
 */
const uint8_t *wire_field_slow(const uint8_t *p, const uint8_t *end, struct wire_field *f,
			       const char **why, const uint8_t **bad);

static inline const uint8_t *wire_field(const uint8_t *p, const uint8_t *end,
					struct wire_field *f, const char **why,
					const uint8_t **bad)
{
	const uint8_t *next;
	uint64_t n;

	/* nearly all: a key of one byte, then a number or a length */
	if (*p < 0x80 && ((*p & 7) == WIRE_VARINT || (*p & 7) == WIRE_BYTES)) {
		next = wire_varint(p + 1, end, &n);
		if (next) {
			f->at = p;
			f->number = *p >> 3;
			f->type = *p & 7;
			if (f->type == WIRE_VARINT) {
				f->value = n;
				return next;
			}
			if (n <= (size_t)(end - next)) {
				f->p = next;
				f->n = n;
				return next + n;
			}
		}
	}
	return wire_field_slow(p, end, f, why, bad);
}
