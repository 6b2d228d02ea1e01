/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping for terminals, XML, JSON, CSV and Markdown. */
#include "lib/ui/escape.h"

#include <stdbool.h>
#include <string.h>

#include "lib/ui/utf8.h"

/* Bytes from p on that need no escaping in any form: printable ASCII without the specials. */
static size_t plain_run(const char *p, size_t n, const char *special)
{
	size_t i;

	for (i = 0; i < n && p[i] >= 0x20 && p[i] < 0x7f && !strchr(special, p[i]); i++)
		;
	return i;
}

static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

static void put_code(struct buf *b, uint32_t c)
{
	if (c < 0x10000)
		buf_printf(b, "\\u%04x", c);
	else
		buf_printf(b, "\\U%08x", c);
}

/* The escape for a control character in the terminal form. */
static void put_control(struct buf *b, uint32_t c)
{
	static const char from[] = "\n\t\r", to[] = "ntr";
	const char *known = c ? strchr(from, (int)c) : NULL;

	if (known)
		buf_printf(b, "\\%c", to[known - from]);
	else
		buf_printf(b, "\\x%02x", c);
}

void escape_terminal(struct buf *b, const char *p, size_t n)
{
	size_t len;
	uint32_t c;

	while (n) {
		len = plain_run(p, n, "");
		if (len) {
			buf_put(b, p, len);
		} else {
			len = utf8_decode(p, n, &c);
			if (c == UINT32_MAX)
				buf_printf(b, "\\x%02x", (unsigned char)*p);
			else if (c >= 0x80 && (is_control(c) || utf8_is_deceptive(c)))
				put_code(b, c);
			else if (is_control(c))
				put_control(b, c);
			else
				buf_put(b, p, len);
		}
		p += len;
		n -= len;
	}
}

static void put_utf8(struct buf *b, uint32_t c)
{
	char text[4];

	buf_put(b, text, utf8_encode(c, text));
}

/* Controls are shown by the pictures Unicode has for them (U+2400…). */
static uint32_t visible(uint32_t c)
{
	if (c < 0x20)
		return 0x2400 + c;
	if (c == 0x7f)
		return 0x2421;
	if (c == UINT32_MAX || is_control(c) || (c & 0xfffe) == 0xfffe)
		return UTF8_REPLACEMENT;
	return c;
}

static void put_xml(struct buf *b, uint32_t c)
{
	switch (c) {
	case '&':
		buf_puts(b, "&amp;");
		break;
	case '<':
		buf_puts(b, "&lt;");
		break;
	case '>':
		buf_puts(b, "&gt;");
		break;
	case '"':
		buf_puts(b, "&quot;");
		break;
	case '\'':
		buf_puts(b, "&#39;");
		break;
	default:
		if (c != UINT32_MAX && utf8_is_deceptive(c))
			put_code(b, c);
		else
			put_utf8(b, visible(c));
	}
}

void escape_xml(struct buf *b, const char *p, size_t n)
{
	size_t len;
	uint32_t c;

	while (n) {
		len = plain_run(p, n, "&<>\"'");
		if (len) {
			buf_put(b, p, len);
		} else {
			len = utf8_decode(p, n, &c);
			put_xml(b, c);
		}
		p += len;
		n -= len;
	}
}

static void put_json(struct buf *b, uint32_t c)
{
	static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
	const char *known = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (known)
		buf_printf(b, "\\%c", to[known - from]);
	else if (c == UINT32_MAX)
		put_utf8(b, UTF8_REPLACEMENT);
	else if (is_control(c) || c == '<' || (c < 0x10000 && utf8_is_deceptive(c)))
		buf_printf(b, "\\u%04x",
			   c); /* "<": JSON inside a page cannot end its element */
	else
		put_utf8(b, c);
}

void escape_json(struct buf *b, const char *p, size_t n)
{
	size_t len;
	uint32_t c;

	while (n) {
		len = plain_run(p, n, "\"\\<");
		if (len) {
			buf_put(b, p, len);
		} else {
			len = utf8_decode(p, n, &c);
			put_json(b, c);
		}
		p += len;
		n -= len;
	}
}

/* Also the wide forms, which some spreadsheets take for the plain ones. */
static int begins_formula(const char *p, size_t n)
{
	uint32_t c;

	if (!n)
		return 0;
	utf8_decode(p, n, &c);
	return c == '=' || c == '+' || c == '-' || c == '@' || c == 0xff1d ||
	       c == 0xff0b || c == 0xff0d || c == 0xff20;
}

void escape_csv(struct buf *b, const char *p, size_t n)
{
	struct buf plain = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	escape_terminal(&plain, p, n);
	buf_putc(b, '"');
	if (begins_formula(buf_str(&plain), plain.len))
		buf_putc(b, '\'');
	for (i = 0; i < plain.len; i++) {
		if (plain.data[i] == '"')
			buf_putc(b, '"');
		buf_putc(b, (char)plain.data[i]);
	}
	buf_putc(b, '"');
	buf_release(&plain);
}

static size_t longest_run(const struct buf *b, uint8_t c)
{
	size_t longest = 0, run = 0, i;

	for (i = 0; i < b->len; i++) {
		run = b->data[i] == c ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

void escape_markdown(struct buf *b, const char *p, size_t n)
{
	struct buf plain = BUF_INIT(SIZE_MAX / 2);
	size_t fence, i;
	bool pad;

	/* nothing inside a code span means anything but a longer fence, and "|" in a table */
	escape_terminal(&plain, p, n);
	fence = longest_run(&plain, '`') + 1;
	pad = !plain.len || plain.data[0] == '`' || plain.data[plain.len - 1] == '`' ||
	      plain.data[0] == ' ';
	for (i = 0; i < fence; i++)
		buf_putc(b, '`');
	if (pad)
		buf_putc(b, ' ');
	for (i = 0; i < plain.len; i++) {
		if (plain.data[i] == '|')
			buf_putc(b, '\\');
		buf_putc(b, (char)plain.data[i]);
	}
	if (pad)
		buf_putc(b, ' ');
	for (i = 0; i < fence; i++)
		buf_putc(b, '`');
	buf_release(&plain);
}

void escape_uri_path(struct buf *b, const char *p, size_t n)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~/";
	size_t i;

	for (i = 0; i < n; i++) {
		if (memchr(plain, p[i], sizeof(plain) - 1))
			buf_putc(b, p[i]);
		else
			buf_printf(b, "%%%02X", (unsigned char)p[i]);
	}
}
