/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting names. Each rule works on the buffer in place and says whether it did something. */
#include "lib/sym/canonical.h"

#include <ctype.h>
#include <string.h>

#include "lib/sym/demangle.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t digits_at(const struct buf *b, size_t at)
{
	size_t n = 0;

	while (at + n < b->len && isdigit(b->data[at + n]))
		n++;
	return n;
}

static size_t hex_at(const struct buf *b, size_t at)
{
	size_t n = 0;

	while (at + n < b->len && isxdigit(b->data[at + n]))
		n++;
	return n;
}

static bool at(const struct buf *b, size_t i, const char *word)
{
	size_t n = strlen(word);

	return i <= b->len && n <= b->len - i && !memcmp(b->data + i, word, n);
}

/* Take out n bytes at i. */
static void cut(struct buf *b, size_t i, size_t n)
{
	memmove(b->data + i, b->data + i + n, b->len - i - n);
	b->len -= n;
}

/* Length of the clone suffix at the end of the first n bytes beyond what lib/sym knows; 0. */
static size_t more_suffix(const char *p, size_t n)
{
	static const struct {
		const char *word;
		bool number, bare; /* may be followed by .N; may stand without */
	} kinds[] = {
		{".cold", true, false},	   {".warm", false, true},
		{".cfi", false, true},	   {".argprom", false, true},
		{".argelim", false, true}, {".specialized", true, false},
		{".__uniq", true, false},
	};
	size_t end = n, digits = n, i, len;

	while (digits && isdigit((unsigned char)p[digits - 1]))
		digits--;
	if (digits < n && digits > 1 && p[digits - 1] == '.')
		end = digits - 1;
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		len = strlen(kinds[i].word);
		if (end == n ? !kinds[i].bare : !kinds[i].number)
			continue;
		if (end > len && !memcmp(p + end - len, kinds[i].word, len))
			return n - end + len;
	}
	return 0;
}

/* A suffix in brackets, as demanglers leave it: " [clone .cold]", " (.cold)". */
static size_t bracketed_suffix(const char *p, size_t n)
{
	static const char *const opens[] = {" [clone .", " (."};
	static const char closes[] = "])";
	size_t i, k, len;

	for (i = 0; i < 2; i++) {
		len = strlen(opens[i]);
		if (n < len + 2 || p[n - 1] != closes[i])
			continue;
		for (k = n - 1; k-- && p[k] != ' ';)
			;
		if (i == 0 && k != SIZE_MAX) /* "[clone" is a word of its own */
			for (; k-- && p[k] != ' ';)
				;
		if (k != SIZE_MAX && k && n - k > len + 1 &&
		    !memcmp(p + k, opens[i], len))
			return n - k;
	}
	return 0;
}

static bool strip_clones(struct buf *b)
{
	const char *p = (const char *)b->data;
	size_t n = b->len, s;

	do {
		s = n - demangle_clone_base(p, n);
		if (!s)
			s = more_suffix(p, n);
		if (!s)
			s = bracketed_suffix(p, n);
		n -= s;
	} while (s);
	if (!n || n == b->len)
		return false;
	b->len = n;
	return true;
}

static bool strip_rust(struct buf *b)
{
	bool changed = false;
	size_t i, n;

	if (b->len > 19 && at(b, b->len - 19, "::h") && hex_at(b, b->len - 16) == 16) {
		b->len -= 19;
		changed = true;
	}
	for (i = 1; i < b->len; i++) {
		if (b->data[i] != '[' || !is_word((char)b->data[i - 1]))
			continue;
		n = hex_at(b, i + 1);
		if (n < 13 || n > 17 || !at(b, i + 1 + n, "]"))
			continue;
		cut(b, i, n + 2);
		changed = true;
	}
	return changed;
}

/* The bracket that closes the one at i, or the length. */
static size_t closing(const struct buf *b, size_t i)
{
	size_t depth = 0;

	for (; i < b->len; i++) {
		if (b->data[i] == '[')
			depth++;
		else if (b->data[i] == ']' && !--depth)
			break;
	}
	return i;
}

static bool strip_go(struct buf *b)
{
	bool changed = false;
	size_t i, end;

	for (i = 0; i + 1 < b->len; i++) {
		if (!at(b, i, "[go.shape."))
			continue;
		end = closing(b, i);
		if (end == b->len || end - i < 4)
			break;
		memcpy(b->data + i + 1, "...", 3);
		cut(b, i + 4, end - i - 4);
		changed = true;
	}
	return changed;
}

static bool strip_abi_tags(struct buf *b)
{
	bool changed = false;
	size_t i, end;

	for (i = 1; i < b->len;) {
		end = at(b, i, "[abi:") ? closing(b, i) : b->len;
		if (end == b->len) {
			i++;
			continue;
		}
		cut(b, i, end - i + 1);
		changed = true;
	}
	return changed;
}

/* Numbers that the JVM gives out as it runs. */
static bool strip_runtime(struct buf *b)
{
	static const char *const words[] = {"$$Lambda$",
					    "Lambda$",
					    "access$",
					    "$Proxy",
					    "GeneratedMethodAccessor",
					    "GeneratedConstructorAccessor"};
	bool changed = false;
	size_t i, k, n, len;

	for (i = 0; i < b->len; i++) {
		for (k = 0; k < sizeof(words) / sizeof(*words); k++) {
			len = strlen(words[k]);
			n = at(b, i, words[k]) ? digits_at(b, i + len) : 0;
			if (!n)
				continue;
			cut(b, i + len, n);
			changed = true;
		}
		/* lambda$main$0 */
		if (!at(b, i, "lambda$") || (i && is_word((char)b->data[i - 1])))
			continue;
		for (k = i + 7; k < b->len && is_word((char)b->data[k]); k++)
			;
		for (n = 0; isdigit(b->data[k - 1 - n]); n++)
			;
		if (n && b->data[k - 1 - n] == '$' && k - n - 1 > i + 7) {
			cut(b, k - n, n);
			changed = true;
		}
	}
	return changed;
}

static bool strip_addresses(struct buf *b)
{
	bool changed = false;
	size_t i, n;

	for (i = 0; i + 2 < b->len; i++) {
		if (!at(b, i, "0x") || (i && is_word((char)b->data[i - 1])))
			continue;
		n = hex_at(b, i + 2);
		if (!n || (i + 2 + n < b->len && is_word((char)b->data[i + 2 + n])))
			continue;
		cut(b, i + 2, n);
		changed = true;
	}
	return changed;
}

/* Length of ".1.2.3" at i. */
static size_t dotted_at(const struct buf *b, size_t i)
{
	size_t n = 0, d;

	while (i + n < b->len && b->data[i + n] == '.' && (d = digits_at(b, i + n + 1)))
		n += 1 + d;
	return n;
}

static bool strip_versions(struct buf *b)
{
	bool changed = false;
	size_t i, n;

	for (i = 1; i + 2 < b->len; i++) {
		if (at(b, i, ".so.")) {
			n = dotted_at(b, i + 3);
			if (!n ||
			    (i + 3 + n < b->len && is_word((char)b->data[i + 3 + n])))
				continue;
			cut(b, i + 3, n);
			changed = true;
		} else if (at(b, i, "@v") && digits_at(b, i + 2)) {
			n = 2 + digits_at(b, i + 2);
			n += dotted_at(b, i + n);
			/* and a pre-release: -0.20230101000000-abcdef */
			while (i + n < b->len && b->data[i + n] != '/' &&
			       (is_word((char)b->data[i + n]) ||
				strchr("-+.", b->data[i + n])))
				n++;
			cut(b, i, n);
			changed = true;
		}
	}
	return changed;
}

bool canonical_name(const char *p, size_t n, struct buf *out)
{
	/* clones twice: "f::h0123456789abcdef.llvm.1" loses its tail first, and what is before
	 * the hash of "f.cold::h0123456789abcdef" is a tail then */
	static bool (*const rules[])(struct buf *) = {
		strip_clones,	strip_rust,    strip_clones,	strip_go,
		strip_abi_tags, strip_runtime, strip_addresses, strip_versions,
	};
	bool changed = false;
	size_t i;

	buf_clear(out);
	if (!n || buf_put(out, p, n))
		return false;
	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		changed |= rules[i](out);
	return changed;
}

/* A word that a number belongs to, and what is to stand behind the number. */
struct numbered {
	const char *word;
	char end;	/* 0: the end of the name, or no letter or digit */
	bool is_tail;	/* more numbers may follow: .func1.2 */
	bool keep_sign; /* # is there already */
};

static size_t number_of(struct buf *b, size_t i, const struct numbered *k)
{
	size_t from = i + strlen(k->word), n = digits_at(b, from);
	bool end = from + n == b->len;

	if (!n)
		return 0;
	if (k->end ? end || b->data[from + n] != (unsigned char)k->end
		   : !end && is_word((char)b->data[from + n]))
		return 0;
	return n;
}

/* Numbers behind the word at i become #; where to go on. */
static size_t replace_numbers(struct buf *b, size_t i, const struct numbered *k, size_t n)
{
	size_t at_number = i + strlen(k->word);

	for (;;) {
		if (k->keep_sign) {
			cut(b, at_number, n);
		} else {
			cut(b, at_number, n - 1);
			b->data[at_number++] = '#';
		}
		if (!k->is_tail || at_number + 1 >= b->len || b->data[at_number] != '.')
			return at_number;
		n = digits_at(b, at_number + 1);
		if (!n)
			return at_number;
		at_number++;
	}
}

bool canonical_family(const char *p, size_t n, struct buf *out)
{
	static const struct numbered kinds[] = {
		{".func", 0, true, false},
		{".gowrap", 0, true, false},
		{".deferwrap", 0, true, false},
		{"-range", 0, true, false},
		{")#", '}', false, true},
		{"{closure#", '}', false, true},
		{"{shim:vtable#", '}', false, true},
		{"$_", 0, false, false},
		{"'lambda", '\'', false, false},
	};
	bool changed = false;
	size_t i, k, digits;

	buf_clear(out);
	if (!n || buf_put(out, p, n))
		return false;
	for (i = 1; i < out->len; i++) {
		for (k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			if (!at(out, i, kinds[k].word))
				continue;
			digits = number_of(out, i, &kinds[k]);
			if (!digits)
				continue;
			i = replace_numbers(out, i, &kinds[k], digits) - 1;
			changed = true;
			break;
		}
	}
	return changed;
}
