/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/wire.h"

const uint8_t *wire_varint_slow(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	const uint8_t *next;
	uint64_t n = 0;
	int shift;

	if (end - p >= 8 && (next = wire_varint_of_word(p, v)))
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
