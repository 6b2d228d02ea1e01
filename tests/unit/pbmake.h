/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembles protobuf messages for tests from text, right or wrong ones:
 *
 *	3:-1		field 3, a number
 *	3[1 300]	field 3, packed numbers
 *	3"text"		field 3, bytes
 *	3{1:7 2:8}	field 3, a message
 *	!0aff		bytes as they are
 */
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"

static inline void pb_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_putc(b, (char)(v | 0x80));
	buf_putc(b, (char)v);
}

static inline void pb_bytes(struct buf *b, uint64_t field, const void *p, size_t n)
{
	pb_varint(b, field << 3 | 2);
	pb_varint(b, n);
	buf_put(b, p, n);
}

/* The number at s, decimal or 0x, into *v: behind it. */
static inline const char *pb_take(const char *s, uint64_t *v)
{
	bool neg = *s == '-', hex = s[neg] == '0' && s[neg + 1] == 'x';
	const char *from = s += neg + 2 * hex;

	for (*v = 0; hex ? isxdigit((unsigned char)*s) : isdigit((unsigned char)*s); s++)
		*v = *v * (hex ? 16 : 10) + (*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
	if (s == from)
		abort();
	if (neg)
		*v = 0 - *v;
	return s;
}

static inline const char *pb_assemble(struct buf *out, const char *s)
{
	struct buf part = BUF_INIT(1 << 20);
	uint64_t field, v;
	const char *end;
	char hex[3] = "";

	while (*s && *s != '}') {
		if (*s == ' ' || *s == '\n' || *s == '\t') {
			s++;
			continue;
		}
		if (*s == '!') {
			for (s++; isxdigit((unsigned char)*s); s += 2) {
				memcpy(hex, s, 2);
				buf_putc(out, (char)strtoul(hex, NULL, 16));
			}
			continue;
		}
		s = pb_take(s, &field);
		buf_clear(&part);
		switch (*s++) {
		case ':':
			pb_varint(out, field << 3);
			s = pb_take(s, &v);
			pb_varint(out, v);
			continue;
		case '[':
			while (*s != ']') {
				if (*s == ' ') {
					s++;
					continue;
				}
				s = pb_take(s, &v);
				pb_varint(&part, v);
			}
			s++;
			break;
		case '"':
			end = strchr(s, '"');
			buf_put(&part, s, end - s);
			s = end + 1;
			break;
		case '{':
			s = pb_assemble(&part, s) + 1;
			break;
		default:
			abort();
		}
		pb_bytes(out, field, part.data, part.len);
	}
	buf_release(&part);
	return s;
}
