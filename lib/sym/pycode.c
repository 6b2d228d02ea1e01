/* SPDX-License-Identifier: Apache-2.0 */
/* What CPython 3.11 keeps of its code. */
#include "lib/sym/pycode.h"

#include <stdbool.h>
#include <string.h>

#include "lib/sym/cursor.h"

#define ENTRY_MARK 0x80

enum {
	ENTRY_ONE_LINE = 10, /* this and the next two: so many lines on */
	ENTRY_NO_COLUMN = 13,
	ENTRY_LONG = 14,
	ENTRY_NO_LINE = 15,
};

/* Six bits a byte, lowest first; more follow while bit 6 is set. */
static uint32_t take_varint(struct cursor *c)
{
	unsigned int shift = 0;
	uint32_t v = 0;
	uint8_t b;

	do {
		b = cursor_u8(c);
		if (shift < 32)
			v |= (uint32_t)(b & 63) << shift;
		shift += 6;
	} while (b & 64 && !c->bad);
	return v;
}

/* The sign is in the lowest bit. */
static int64_t take_signed(struct cursor *c)
{
	uint32_t v = take_varint(c);

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

uint32_t pycode_line(const uint8_t *table, size_t n, uint32_t first_line, uint32_t unit)
{
	struct cursor c = cursor_at(table, n, 0, false);
	int64_t line = first_line;
	uint32_t at = 0;
	uint8_t head;
	bool told;

	while (cursor_left(&c)) {
		head = cursor_u8(&c);
		if (!(head & ENTRY_MARK))
			return 0;
		told = true;
		switch (head >> 3 & 15) {
		case ENTRY_ONE_LINE:
		case ENTRY_ONE_LINE + 1:
		case ENTRY_ONE_LINE + 2:
			line += (head >> 3 & 15) - ENTRY_ONE_LINE;
			cursor_skip(&c, 2);
			break;
		case ENTRY_NO_COLUMN:
			line += take_signed(&c);
			break;
		case ENTRY_LONG:
			line += take_signed(&c);
			take_varint(&c); /* lines to the end, and two columns */
			take_varint(&c);
			take_varint(&c);
			break;
		case ENTRY_NO_LINE:
			told = false;
			break;
		default: /* the same line; columns in one byte */
			cursor_skip(&c, 1);
		}
		if (c.bad)
			return 0;
		at += (head & 7) + 1;
		if (unit < at)
			return told && line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
	}
	return 0;
}

static uint32_t character(const uint8_t *p, unsigned width)
{
	uint16_t two;
	uint32_t four;

	if (width == 1)
		return *p;
	if (width == 2) {
		memcpy(&two, p, sizeof(two));
		return two;
	}
	memcpy(&four, p, sizeof(four));
	return four;
}

void pycode_text(struct buf *out, const uint8_t *p, size_t n, unsigned width)
{
	uint32_t c;
	size_t i;

	for (i = 0; i < n; i++) {
		c = character(p + i * width, width);
		if (c < 0x80) {
			buf_putc(out, (char)c);
		} else if (c < 0x800) {
			buf_putc(out, (char)(0xc0 | c >> 6));
			buf_putc(out, (char)(0x80 | (c & 63)));
		} else if (c < 0x10000) {
			buf_putc(out, (char)(0xe0 | c >> 12));
			buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
			buf_putc(out, (char)(0x80 | (c & 63)));
		} else if (c < 0x110000) {
			buf_putc(out, (char)(0xf0 | c >> 18));
			buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
			buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
			buf_putc(out, (char)(0x80 | (c & 63)));
		} else {
			buf_putc(out, '?');
		}
	}
}
