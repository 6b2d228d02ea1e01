/* SPDX-License-Identifier: Apache-2.0 */
/* Shortening names by what matters least. */
#include "lib/ui/name.h"

#include <stdbool.h>
#include <string.h>

#include "lib/sym/demangle.h"
#include "lib/ui/utf8.h"

/* With less room than this the last part of a name is all that can be told. */
#define TINY_COLUMNS 14
#define ELLIPSIS "\xe2\x80\xa6"

size_t name_width(const char *p, size_t n)
{
	size_t width = 0, len;
	uint32_t c;

	for (; n; p += len, n -= len) {
		len = utf8_decode(p, n, &c);
		width += (size_t)utf8_width(c == UINT32_MAX ? ' ' : c);
	}
	return width;
}

static bool starts(const char *p, size_t n, const char *word)
{
	size_t len = strlen(word);

	return n >= len && !memcmp(p, word, len);
}

/* What looks like an argument list but belongs to the name. */
static size_t kept_word(const char *p, size_t n)
{
	static const char *const words[] = {"(anonymous namespace)",
					    "operator()",
					    "operator<<",
					    "operator<=>",
					    "operator<=",
					    "operator<",
					    "operator->",
					    "operator>>",
					    "operator>=",
					    "operator>",
					    "(*"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (starts(p, n, words[i]))
			return strlen(words[i]);
	}
	return 0;
}

/* Append p without what stands in <…>, and up to the argument list. */
static void without_arguments(struct buf *out, const char *p, size_t n)
{
	size_t depth = 0, i = 0, len;

	while (i < n) {
		len = depth ? 0 : kept_word(p + i, n - i);
		if (len) {
			buf_put(out, p + i, len);
			i += len;
			continue;
		}
		/* a name may begin with a bracket: "<T as Trait>::f", "(lambda)" */
		if (!depth && i && p[i] == '(')
			break;
		if (i && p[i] == '<')
			depth++;
		else if (depth && p[i] == '>')
			depth--;
		else if (!depth)
			buf_putc(out, p[i]);
		i++;
	}
}

/*
 * Where the part after the last `sep` outside of brackets starts; 0 if there is none. What a
 * compiler appends to the name of a function's copy (".isra.0") is no part.
 */
static size_t after_last(const char *p, size_t n, const char *sep)
{
	size_t i, at = 0, depth = 0;

	n = demangle_clone_base(p, n);
	for (i = 0; i < n; i++) {
		if (p[i] == '(' || p[i] == '<' || p[i] == '[' || p[i] == '{')
			depth++;
		else if (depth &&
			 (p[i] == ')' || p[i] == '>' || p[i] == ']' || p[i] == '}'))
			depth--;
		else if (!depth && starts(p + i, n - i, sep))
			at = i + strlen(sep);
	}
	return at;
}

size_t name_package(const char *p, size_t n)
{
	size_t slash = after_last(p, n, "/"), i = after_last(p, n, "::");

	if (i)
		return i - 2;
	/* Go: up to the first dot after the last slash; Java: up to the last dot */
	if (slash) {
		for (i = slash; i < n && p[i] != '.'; i++)
			;
		return i < n ? i : 0;
	}
	for (i = 0; i < n && p[i] != '.' && p[i] != '('; i++)
		;
	if (i < n && p[i] == '.' && i + 1 < n && p[i + 1] == '(')
		return i; /* Go: pkg.(*T).f */
	i = after_last(p, n, ".");
	return i > 1 ? i - 1 : 0;
}

/* Start of the short name: "Class::method", "pkg.Func", "Class.method". */
static size_t short_start(const char *p, size_t n)
{
	size_t slash = after_last(p, n, "/"), last;

	if (slash)
		return slash;
	last = after_last(p, n, "::");
	if (last > 2)
		return after_last(p, last - 2, "::");
	last = after_last(p, n, ".");
	return last > 1 ? after_last(p, last - 1, ".") : 0;
}

/* "func1", "2": a part by which a compiler counts closures says nothing alone. */
static bool is_counter(const char *p, size_t n)
{
	if (starts(p, n, "func")) {
		p += 4;
		n -= 4;
	}
	return n && p[0] >= '0' && p[0] <= '9';
}

/* Start of the last part: "method", "method.func1". */
static size_t last_start(const char *p, size_t n)
{
	size_t at = after_last(p, n, "::"), dot = after_last(p, n, ".");

	while (dot > 1 && is_counter(p + dot, n - dot) && after_last(p, dot - 1, "."))
		dot = after_last(p, dot - 1, ".");
	if (dot > at)
		at = dot;
	return at < n ? at : 0;
}

/* Bytes from the start that fill at most `columns`. */
static size_t fill(const char *p, size_t n, size_t columns)
{
	size_t at = 0, width = 0, len;
	uint32_t c;

	while (at < n) {
		len = utf8_decode(p + at, n - at, &c);
		width += (size_t)utf8_width(c == UINT32_MAX ? ' ' : c);
		if (width > columns)
			break;
		at += len;
	}
	return at;
}

static void cut_middle(struct buf *out, const char *p, size_t n, size_t columns)
{
	size_t tail = (columns - 1) / 2, head = columns - 1 - tail,
	       width = name_width(p, n);
	size_t end = fill(p, n, head), start = n;

	/* the tail starts after what leaves `tail` columns; one more where a wide one straddles */
	if (tail) {
		start = fill(p, n, width - tail);
		if (name_width(p + start, n - start) > tail)
			start += fill(p + start, n - start, 2);
	}
	buf_put(out, p, end);
	buf_puts(out, ELLIPSIS);
	buf_put(out, p + start, n - start);
}

void name_cut(struct buf *out, const char *p, size_t n, size_t columns)
{
	if (name_width(p, n) <= columns) {
		buf_put(out, p, n);
		return;
	}
	buf_put(out, p, fill(p, n, columns - 1));
	buf_puts(out, ELLIPSIS);
}

void name_fit(struct buf *out, const char *p, size_t n, size_t columns)
{
	struct buf bare = BUF_INIT(n + 1);
	size_t start;

	if (name_width(p, n) <= columns) {
		buf_put(out, p, n);
		return;
	}
	without_arguments(&bare, p, n);
	p = buf_str(&bare);
	n = bare.len;
	start = name_width(p, n) > columns ? short_start(p, n) : 0;
	p += start;
	n -= start;
	if (name_width(p, n) > columns) {
		start = last_start(p, n);
		if (columns < TINY_COLUMNS ||
		    name_width(p + start, n - start) <= columns) {
			p += start;
			n -= start;
		}
	}
	if (columns < TINY_COLUMNS)
		name_cut(out, p, n, columns);
	else if (name_width(p, n) <= columns)
		buf_put(out, p, n);
	else
		cut_middle(out, p, n, columns);
	buf_release(&bare);
}
