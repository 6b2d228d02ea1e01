/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding after the Unicode Standard, table 3-7; widths after its annex 11, in broad ranges. */
#include "lib/ui/utf8.h"

size_t utf8_decode(const char *p, size_t n, uint32_t *c)
{
	const uint8_t *s = (const uint8_t *)p;
	size_t len, i;
	uint32_t v;

	*c = UINT32_MAX;
	if (s[0] < 0x80) {
		*c = s[0];
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 1;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > n)
		return 1;
	v = s[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 1;
		v = v << 6 | (s[i] & 0x3f);
	}
	if ((len == 3 && v < 0x800) || (len == 4 && v < 0x10000) || v > 0x10ffff ||
	    (v >= 0xd800 && v <= 0xdfff))
		return 1;
	*c = v;
	return len;
}

size_t utf8_encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

struct range {
	uint32_t from, to;
};

static int in_ranges(uint32_t c, const struct range *r, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (c >= r[i].from && c <= r[i].to)
			return 1;
	}
	return 0;
}

int utf8_width(uint32_t c)
{
	static const struct range none[] = {
		{0x300, 0x36f},	  {0x483, 0x489},   {0x591, 0x5bd},	{0x610, 0x61a},
		{0x64b, 0x65f},	  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},	{0x20d0, 0x20ff},
		{0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
	};
	static const struct range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0xa4cf},
		{0xa960, 0xa97f},   {0xac00, 0xd7a3},	{0xf900, 0xfaff},
		{0xfe30, 0xfe6f},   {0xff00, 0xff60},	{0xffe0, 0xffe6},
		{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd},
	};

	if (c < 0x300)
		return 1;
	if (in_ranges(c, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return in_ranges(c, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

int utf8_is_deceptive(uint32_t c)
{
	static const struct range ranges[] = {
		{0xad, 0xad},	  {0x61c, 0x61c},   {0x115f, 0x1160},	{0x180b, 0x180f},
		{0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},	{0x3164, 0x3164},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};

	return c >= 0x80 && in_ranges(c, ranges, sizeof(ranges) / sizeof(ranges[0]));
}
