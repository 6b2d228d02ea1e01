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
static inline const uint8_t *wire_varint(const uint8_t *p, const uint8_t *end, uint64_t *v)
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
const uint8_t *wire_field(const uint8_t *p, const uint8_t *end, struct wire_field *f,
			  const char **why, const uint8_t **bad);
