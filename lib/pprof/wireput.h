/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the protobuf wire format (protobuf.dev, "Encoding") into room that the caller has made:
 * each function takes where to write and returns where to go on. What is zero is left out, as
 * proto3 has it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/pprof/wire.h"

/* The most bytes of a varint, and of a key of the field numbers of profile.proto. */
#define WIRE_VARINT_MAX 10
#define WIRE_KEY_MAX 1
#define WIRE_NUMBER_MAX (WIRE_KEY_MAX + WIRE_VARINT_MAX)
/* What stands before the contents of a message, of bytes or of packed numbers. */
#define WIRE_HEAD_MAX (WIRE_KEY_MAX + WIRE_VARINT_MAX)

static inline uint8_t *wire_put_varint(uint8_t *p, uint64_t v)
{
	if (v < 0x80) {
		*p = v;
		return p + 1;
	}
	if (v < 0x4000) {
		p[0] = v | 0x80;
		p[1] = v >> 7;
		return p + 2;
	}
	for (; v >= 0x80; v >>= 7)
		*p++ = v | 0x80;
	*p = v;
	return p + 1;
}

static inline uint8_t *wire_put_number(uint8_t *p, unsigned field, uint64_t v)
{
	if (!v)
		return p;
	*p = field << 3 | WIRE_VARINT;
	return wire_put_varint(p + 1, v);
}

static inline uint8_t *wire_put_bytes(uint8_t *p, unsigned field, const void *bytes,
				      size_t n)
{
	*p = field << 3 | WIRE_BYTES;
	p = wire_put_varint(p + 1, n);
	if (n)
		memcpy(p, bytes, n);
	return p + n;
}

/* A message or packed numbers whose length is not known yet: where its contents begin. */
static inline uint8_t *wire_begin(uint8_t *p, unsigned field)
{
	*p = field << 3 | WIRE_BYTES;
	return p + 2;
}

/* It ends at p: the length goes before it, and the contents make way for a longer one. */
static inline uint8_t *wire_end(uint8_t *contents, uint8_t *p)
{
	uint8_t length[WIRE_VARINT_MAX];
	size_t n = p - contents, more;

	if (n < 0x80) {
		contents[-1] = n;
		return p;
	}
	more = wire_put_varint(length, n) - length - 1;
	memmove(contents + more, contents, n);
	memcpy(contents - 1, length, more + 1);
	return p + more;
}
