/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/wire.h"

#include <string.h>

/*
 * Up to eight bytes at once: what is behind the last one cut off, then sevens put together by
 * twos, fours and eights. NULL when the number is longer.
 */
static const uint8_t *varint_of_word(const uint8_t *p, uint64_t *v)
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

const uint8_t *wire_varint_slow(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	const uint8_t *next;
	uint64_t n = 0;
	int shift;

	if (end - p >= 8 && (next = varint_of_word(p, v)))
		return next;
	for (shift = 0; shift < 70 && p < end; shift += 7, p++) {
		n |= (uint64_t)(*p & 0x7f) << shift;
		if (*p < 0x80) {
			*v = n;
			return p + 1;
		}
	}
	return NULL;
}

static const char *varint_trouble(const uint8_t *p, const uint8_t *end)
{
	return end - p >= 10 ? "varint longer than ten bytes" : "truncated varint";
}

const uint8_t *wire_field_slow(const uint8_t *p, const uint8_t *end, struct wire_field *f,
			       const char **why, const uint8_t **bad)
{
	const uint8_t *next;
	uint64_t key, n;

	f->at = *bad = p;
	next = wire_varint(p, end, &key);
	if (!next) {
		*why = varint_trouble(p, end);
		return NULL;
	}
	p = next;
	f->number = key >> 3;
	f->type = key & 7;
	switch (f->type) {
	case WIRE_VARINT:
		next = wire_varint(p, end, &f->value);
		if (!next) {
			*bad = p;
			*why = varint_trouble(p, end);
		}
		return next;
	case WIRE_BYTES:
		next = wire_varint(p, end, &n);
		if (!next) {
			*bad = p;
			*why = varint_trouble(p, end);
			return NULL;
		}
		if (n > (size_t)(end - next)) {
			*why = "length runs past the end";
			return NULL;
		}
		f->p = next;
		f->n = n;
		return next + n;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		n = f->type == WIRE_FIXED64 ? 8 : 4;
		if (n > (size_t)(end - p)) {
			*why = "truncated fixed-size number";
			return NULL;
		}
		return p + n;
	default:
		*why = "unsupported wire type";
		return NULL;
	}
}
