/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/simplify.h"

#include <ctype.h>
#include <string.h>

/* Text being rewritten in place: what is written never passes what is read. */
struct text {
	char *p;
	size_t n, in, out;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool at(const struct text *t, size_t i, const char *word)
{
	size_t n = strlen(word);

	return n <= t->n - i && !memcmp(t->p + i, word, n);
}

static void copy(struct text *t, size_t n)
{
	memmove(t->p + t->out, t->p + t->in, n);
	t->out += n;
	t->in += n;
}

/* Index after the bracket that closes the one at i, counting this kind alone; n if none. */
static size_t after_bracket(const struct text *t, size_t i, char open, char close)
{
	size_t depth = 0;

	for (; i < t->n; i++) {
		if (t->p[i] == open)
			depth++;
		else if (t->p[i] == close && !--depth)
			return i + 1;
	}
	return t->n;
}

static bool is_operator(const struct text *t, size_t i)
{
	return t->p[i] == 'o' && at(t, i, "operator") && (!i || !is_word(t->p[i - 1])) &&
	       (i + 8 == t->n || !is_word(t->p[i + 8]));
}

/* Length of "operator" and the signs that follow it: brackets there are a name. */
static size_t operator_len(const struct text *t, size_t i)
{
	static const char *const signs[] = {"()", "[]", "->*", "->", "<=>", "<<=", ">>=",
					    "<<", ">>", "<=",  ">=", "<",   ">"};
	size_t k, n = 8;

	for (k = 0; k < sizeof(signs) / sizeof(*signs); k++)
		if (at(t, i + n, signs[k]))
			return n + strlen(signs[k]);
	while (i + n < t->n && ispunct((unsigned char)t->p[i + n]) &&
	       !strchr("(<{[_", t->p[i + n]))
		n++;
	return n;
}

/* Index after the template arguments that start at i; n if they do not end. */
static size_t after_arguments(const struct text *t, size_t i)
{
	size_t depth = 0;

	while (i < t->n) {
		if (is_operator(t, i)) {
			i += operator_len(t, i);
			continue;
		}
		switch (t->p[i]) {
		case '<':
			depth++;
			break;
		case '>':
			if (!--depth)
				return i + 1;
			break;
		case '-':
			i += i + 1 < t->n && t->p[i + 1] == '>';
			break;
		case '(': /* expressions stand in parentheses, with any signs inside */
			i = after_bracket(t, i, '(', ')');
			continue;
		case '{':
			i = after_bracket(t, i, '{', '}');
			continue;
		}
		i++;
	}
	return t->n;
}

/* What may follow the parameters of a member function. */
static void skip_qualifiers(struct text *t)
{
	static const char *const words[] = {" const", " volatile", " &&", " &"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words);) {
		if (at(t, t->in, words[i])) {
			t->in += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	}
}

/* Template arguments at t->in: copied or dropped. False if they do not end. */
static bool arguments(struct text *t, bool keep)
{
	size_t end = after_arguments(t, t->in);

	if (end == t->n && t->p[end - 1] != '>')
		return false;
	if (keep)
		copy(t, end - t->in);
	else
		t->in = end;
	return true;
}

/* Parentheses at t->in: parameters are dropped, "(anonymous namespace)" and such are kept. */
static void parentheses(struct text *t, bool after_operator)
{
	size_t end = after_bracket(t, t->in, '(', ')');
	char before = t->out ? t->p[t->out - 1] : 0;

	if (at(t, t->in, "(anonymous namespace)") ||
	    !(after_operator || is_word(before) || (before && strchr("]>*&}", before)))) {
		copy(t, end - t->in);
		return;
	}
	t->in = end;
	skip_qualifiers(t);
}

void simplify_cxx(struct buf *b, bool keep_templates)
{
	struct text t = {.p = (char *)b->data, .n = b->len};
	size_t after_operator =
		SIZE_MAX; /* value of t.out right behind an operator's name */

	while (t.in < t.n) {
		if (is_operator(&t, t.in)) {
			copy(&t, operator_len(&t, t.in));
			after_operator = t.out;
			/* "operator< <int>": the blank only separates */
			if (!keep_templates && at(&t, t.in, " <"))
				t.in++;
			continue;
		}
		switch (t.p[t.in]) {
		case '<':
			if (!arguments(&t, keep_templates))
				copy(&t, t.n - t.in);
			break;
		case '(':
			parentheses(&t, t.out == after_operator);
			break;
		case '{':
			copy(&t, after_bracket(&t, t.in, '{', '}') - t.in);
			break;
		default:
			copy(&t, 1);
		}
	}
	b->len = t.out;
}

/* Index after the '>' that closes the '<' at i, minding arrows; n if none. */
static size_t after_generics(const struct text *t, size_t i)
{
	size_t depth = 0;

	for (; i < t->n; i++) {
		if (t->p[i] == '<')
			depth++;
		else if (t->p[i] == '>' && (!i || t->p[i - 1] != '-') && !--depth)
			return i + 1;
	}
	return t->n;
}

/*
 * Arguments follow a name, or "::" after one (`f::<u8>`, `Vec<u8>`); other angle brackets are
 * parts of the path (`<T as Trait>::f`, `m::<impl X for Y>::f`), whose insides get shorter too.
 */
void simplify_rust(struct buf *b)
{
	struct text t = {.p = (char *)b->data, .n = b->len};

	while (t.in < t.n) {
		if (t.p[t.in] == '<' && t.out) {
			bool turbofish = t.out > 2 && !memcmp(t.p + t.out - 2, "::", 2);

			if (is_word(t.p[t.out - 1]) ||
			    (turbofish && !at(&t, t.in, "<impl "))) {
				t.out -= turbofish ? 2 : 0;
				t.in = after_generics(&t, t.in);
				continue;
			}
		}
		copy(&t, 1);
	}
	b->len = t.out;
}
