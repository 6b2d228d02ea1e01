/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: parsing and matching. */
#include "lib/query/selector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/query/regex.h"

#define TEXT_MAX_BYTES 65536
#define MATCHERS_MAX 256

enum op { OP_EQ, OP_NE, OP_RE, OP_NOT_RE };

struct matcher {
	char *key, *value;
	size_t nkey, nvalue;
	enum op op;
	struct regex *re; /* OP_RE, OP_NOT_RE */
	uint32_t key_id;  /* in the bound store */
};

struct selector {
	char *type;
	struct matcher *matchers;
	size_t n, cap;
	bool bound;
};

struct parser {
	const char *text, *at;
	struct selector *s;
	struct err *e;
};

static int fail(const struct parser *p, const char *at, const char *what)
{
	return err_set(p->e, EINVAL, "selector: %s at byte %zu", what,
		       (size_t)(at - p->text) + 1);
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("_./:-", c));
}

static void skip_space(struct parser *p)
{
	p->at += strspn(p->at, " \t\r\n");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One character after a backslash at p->at; moves past it. */
static void unescape(struct parser *p, struct buf *out)
{
	static const char from[] = "\"'\\nrt", to[] = "\"'\\\n\r\t";
	const char *known = *p->at ? strchr(from, *p->at) : NULL;

	if (known) {
		buf_putc(out, to[known - from]);
		p->at++;
	} else if (p->at[0] == 'x' && hex_digit(p->at[1]) >= 0 &&
		   hex_digit(p->at[2]) >= 0) {
		buf_putc(out, (char)(hex_digit(p->at[1]) << 4 | hex_digit(p->at[2])));
		p->at += 3;
	} else {
		/* so that "\." and "\d" are what a regular expression wants */
		buf_putc(out, '\\');
	}
}

static int parse_quoted(struct parser *p, char **out, size_t *n)
{
	struct buf b = BUF_INIT(TEXT_MAX_BYTES);
	const char *start = p->at;
	char quote = *p->at++;

	while (*p->at != quote) {
		if (!*p->at) {
			buf_release(&b);
			return fail(p, start, "quote is not closed");
		}
		if (*p->at == '\\' && quote != '`') {
			p->at++;
			unescape(p, &b);
		} else {
			buf_putc(&b, *p->at++);
		}
	}
	p->at++;
	*n = b.len;
	*out = xmemdup(buf_str(&b), b.len + 1);
	buf_release(&b);
	return 0;
}

static int parse_string(struct parser *p, char **out, size_t *n)
{
	const char *start = p->at;

	if (*p->at == '"' || *p->at == '\'' || *p->at == '`')
		return parse_quoted(p, out, n);
	while (is_bare(*p->at))
		p->at++;
	*n = (size_t)(p->at - start);
	*out = xstrndup(start, *n);
	return 0;
}

static int parse_op(struct parser *p, enum op *op)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {{"=~", OP_RE},
		   {"!~", OP_NOT_RE},
		   {"!=", OP_NE},
		   {"==", OP_EQ},
		   {"=", OP_EQ}};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strncmp(p->at, ops[i].text, strlen(ops[i].text))) {
			*op = ops[i].op;
			p->at += strlen(ops[i].text);
			return 0;
		}
	}
	return fail(p, p->at, "expected =, !=, =~ or !~ after the label's name");
}

static int parse_matcher(struct parser *p)
{
	struct selector *s = p->s;
	const char *start = p->at;
	struct matcher *m;
	int r;

	if (s->n == MATCHERS_MAX)
		return fail(p, p->at, "too many conditions");
	XGROW(s->matchers, s->n, s->cap);
	m = &s->matchers[s->n];
	*m = (struct matcher){0};
	s->n++; /* from here selector_free() sees to it */
	r = parse_string(p, &m->key, &m->nkey);
	if (r)
		return r;
	if (!m->nkey)
		return fail(p, start, "expected the name of a label");
	skip_space(p);
	r = parse_op(p, &m->op);
	if (r)
		return r;
	skip_space(p);
	start = p->at;
	r = parse_string(p, &m->value, &m->nvalue);
	if (!r && !strchr("\"'`", *start) && !strchr(" \t\r\n,}", *p->at))
		return fail(p, p->at,
			    "a value needs quotes for what is none of A-Za-z0-9_./:-");
	if (r || (m->op != OP_RE && m->op != OP_NOT_RE))
		return r;
	r = regex_new(m->value, m->nvalue, true, &m->re, p->e);
	if (r)
		return err_prefix(p->e, "selector: value at byte %zu",
				  (size_t)(start - p->text) + 1);
	return 0;
}

static int parse_matchers(struct parser *p, bool braces)
{
	int r;

	for (;;) {
		skip_space(p);
		if (*p->at == '}' || !*p->at)
			break; /* also after a comma, as in PromQL */
		r = parse_matcher(p);
		if (r)
			return r;
		skip_space(p);
		if (*p->at != ',')
			break;
		p->at++;
	}
	if (!braces)
		return *p->at ? fail(p, p->at, "expected a comma") : 0;
	if (*p->at != '}')
		return fail(p, p->at, *p->at ? "expected a comma or }" : "expected }");
	p->at++;
	skip_space(p);
	return *p->at ? fail(p, p->at, "text after }") : 0;
}

static int parse(struct parser *p)
{
	const char *start;

	if (strlen(p->text) > TEXT_MAX_BYTES)
		return fail(p, p->text + TEXT_MAX_BYTES, "text is too long");
	skip_space(p);
	start = p->at;
	while (is_bare(*p->at))
		p->at++;
	if (*p->at != '{') {
		p->at = start;
		return parse_matchers(p, false);
	}
	if (p->at > start)
		p->s->type = xstrndup(start, (size_t)(p->at - start));
	p->at++;
	return parse_matchers(p, true);
}

int selector_parse(const char *text, struct selector **out, struct err *e)
{
	struct selector *s = xcalloc(1, sizeof(*s));
	struct parser p = {.text = text, .at = text, .s = s, .e = e};
	int r = parse(&p);

	if (r)
		selector_free(s);
	else
		*out = s;
	return r;
}

int selector_parse_pair(const char **text, char **key, char **value, struct err *e)
{
	struct parser p = {.text = *text, .at = *text, .e = e};
	char *k = NULL, *v = NULL;
	size_t n;
	int r;

	skip_space(&p);
	r = parse_string(&p, &k, &n);
	if (!r && !n)
		r = fail(&p, p.at, "expected the name of a label");
	skip_space(&p);
	if (!r && value) {
		if (*p.at++ != '=')
			r = fail(&p, p.at - 1, "expected =");
		else
			skip_space(&p);
		if (!r)
			r = parse_string(&p, &v, &n);
	}
	skip_space(&p);
	if (r) {
		free(k);
		free(v);
		return r;
	}
	*text = p.at;
	*key = k;
	if (value)
		*value = v;
	return 0;
}

bool selector_has_key(const struct selector *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (!strcmp(s->matchers[i].key, key))
			return true;
	}
	return false;
}

void selector_free(struct selector *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		free(s->matchers[i].key);
		free(s->matchers[i].value);
		regex_free(s->matchers[i].re);
	}
	free(s->matchers);
	free(s->type);
	free(s);
}

const char *selector_type(const struct selector *s)
{
	return s->type;
}

static bool value_fits(const struct matcher *m, const char *v, size_t n)
{
	bool equal;

	if (m->re)
		equal = regex_match(m->re, v, n);
	else
		equal = n == m->nvalue && !memcmp(v, m->value, n);
	return equal == (m->op == OP_EQ || m->op == OP_RE);
}

static bool label_fits(const struct matcher *m, const struct store *st,
		       const struct label *l)
{
	char number[24];
	struct str s;

	if (!l->numeric) {
		s = store_str(st, l->str);
		return value_fits(m, s.p, s.n);
	}
	snprintf(number, sizeof(number), "%" PRId64, l->num);
	return value_fits(m, number, strlen(number));
}

static bool matcher_fits(const struct matcher *m, const struct store *st,
			 const struct label *labels, uint32_t n)
{
	bool one_is_enough = m->op == OP_EQ || m->op == OP_RE, seen = false;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (labels[i].key != m->key_id)
			continue;
		seen = true;
		if (label_fits(m, st, &labels[i]) == one_is_enough)
			return one_is_enough;
	}
	return seen ? !one_is_enough : value_fits(m, "", 0);
}

void selector_reset(struct selector *s)
{
	s->bound = false;
}

bool selector_match(struct selector *s, struct store *st, const struct label *labels,
		    uint32_t n)
{
	size_t i;

	for (i = 0; !s->bound && i < s->n; i++)
		s->matchers[i].key_id =
			intern_put(&st->strings, s->matchers[i].key, s->matchers[i].nkey);
	s->bound = true;
	for (i = 0; i < s->n; i++) {
		if (!matcher_fits(&s->matchers[i], st, labels, n))
			return false;
	}
	return true;
}

int selector_status(const struct selector *s, struct err *e)
{
	size_t i;
	int r;

	for (i = 0; i < s->n; i++) {
		r = s->matchers[i].re ? regex_status(s->matchers[i].re, e) : 0;
		if (r)
			return err_prefix(e, "selector");
	}
	return 0;
}
