/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf wire format, bounded: varints and fields of a message in memory.
 * (protobuf.dev, "Encoding"; groups are refused, as google/pprof does.)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
	uint64_t number;
	enum wire_type type;
	uint64_t value;	  /* WIRE_VARINT */
	const uint8_t *p; /* WIRE_BYTES: the contents */
	size_t n;
	const uint8_t *at; /* where the field starts, for messages */
};

/*
 * Up to eight bytes at once: what is behind the last one cut off, then sevens put together by
 * twos, fours and eights. NULL when the number is longer. Eight bytes can be read.
 */
static inline const uint8_t *wire_varint_of_word(const uint8_t *p, uint64_t *v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t w, last;

	memcpy(&w, p, sizeof(w));
	last = ~w & 0x8080808080808080u;
	if (!last)
		return NULL;
	w &= (last ^ (last - 1)) & 0x7f7f7f7f7f7f7f7fu;
	w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
	w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
	*v = (w & 0x0fffffffu) | (w & 0x0fffffff00000000u) >> 4;
	return p + __builtin_ctzll(last) / 8 + 1;
#else
	(void)p;
	(void)v;
	return NULL;
#endif
}

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
