/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded reading of binary tables: a position that never leaves its bytes. A read past the
 * end gives 0, sets `bad` and moves to the end, so that loops stop and one check at the end
 * of a piece of work is enough.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *p, *end;
	bool bad;
	bool swap; /* the file's byte order is not ours */
};

static inline struct cursor cursor_at(const uint8_t *p, size_t n, size_t off, bool swap)
{
	struct cursor c = {.p = p, .end = p, .swap = swap};

	/* of nothing there is no place */
	if (n) {
		c.p += off <= n ? off : n;
		c.end += n;
	}
	c.bad = off > n;
	return c;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->end - c->p;
}

static inline bool cursor_fail(struct cursor *c)
{
	c->bad = true;
	c->p = c->end;
	return false;
}

static inline bool cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c))
		return cursor_fail(c);
	c->p += n;
	return true;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->p == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	uint16_t v;

	if (cursor_left(c) < sizeof(v))
		return cursor_fail(c);
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v;

	if (cursor_left(c) < sizeof(v))
		return cursor_fail(c);
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v;

	if (cursor_left(c) < sizeof(v))
		return cursor_fail(c);
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return c->swap ? __builtin_bswap64(v) : v;
}

/* An unsigned number of 1 to 8 bytes. */
static inline uint64_t cursor_uint(struct cursor *c, unsigned size)
{
	uint64_t v = 0;
	unsigned i;

	switch (size) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 4:
		return cursor_u32(c);
	case 8:
		return cursor_u64(c);
	}
	if (size > 8 || size > cursor_left(c))
		return cursor_fail(c);
	for (i = 0; i < size; i++)
		v |= (uint64_t)c->p[c->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
					    ? size - 1 - i
					    : i]
		     << 8 * i;
	c->p += size;
	return v;
}

/* LEB128. Bits over 64 are lost; more than 16 bytes are an error. */
static inline uint64_t cursor_uleb_slow(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		if (c->p == c->end || shift > 7 * 15)
			return cursor_fail(c);
		b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	return v;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	if (c->p != c->end && *c->p < 0x80)
		return *c->p++;
	return cursor_uleb_slow(c);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		if (c->p == c->end || shift > 7 * 15)
			return cursor_fail(c);
		b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if ((b & 0x40) && shift < 64)
		v |= ~0ull << shift;
	return (int64_t)v;
}

static inline void cursor_skip_leb(struct cursor *c)
{
	while (c->p != c->end)
		if (!(*c->p++ & 0x80))
			return;
	c->bad = true;
}

/* A string up to its NUL; "" when there is none. */
static inline const char *cursor_str(struct cursor *c, size_t *n)
{
	const uint8_t *s = c->p,
		      *nul = cursor_left(c) ? memchr(s, 0, cursor_left(c)) : NULL;

	if (!nul) {
		cursor_fail(c);
		*n = 0;
		return "";
	}
	*n = nul - s;
	c->p = nul + 1;
	return (const char *)s;
}
