/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/model.h"
#include "lib/pprof/writer.h"

#define TYPES_MAX 1024

/* One profile being read. What is left of the line is [c, eol). */
struct parser {
	struct text_reader *t;
	const char *line, *c, *eol;
	struct err *e;
	struct store *st;
	struct profile *p;
	uint32_t *mappings, *functions, *locations; /* number - 1 -> store id */
	size_t nmappings, nfunctions, nlocations;
	size_t mappings_cap, functions_cap, locations_cap;
	struct buf str; /* of the last quoted string */
	uint32_t *frames;
	struct line *lines;
	struct label *labels;
	size_t frames_cap, lines_cap, labels_cap;
	int64_t *values;
	size_t values_cap;
	unsigned int seen; /* bit i: statements[i], which can be there but once, was */
	bool has_default;
};

bool text_sniff(const uint8_t *p, size_t n)
{
	size_t k = strlen(TEXT_MAGIC);

	return n >= k && !memcmp(p, TEXT_MAGIC, k) &&
	       (n == k || p[k] == '\n' || p[k] == '\r');
}

void text_open(struct text_reader *t, const uint8_t *p, size_t n)
{
	*t = (struct text_reader){(const char *)p, (const char *)p + n, 0};
}

static int bad(struct parser *x, const char *what)
{
	return err_set(x->e, EBADMSG, "line %zu: %s", x->t->line, what);
}

/* The next line that says something: false at the end of the text. */
static bool next_line(struct parser *x)
{
	struct text_reader *t = x->t;
	const char *nl;

	while (t->p < t->end) {
		nl = memchr(t->p, '\n', t->end - t->p);
		x->c = t->p;
		x->eol = nl ? nl : t->end;
		t->p = nl ? nl + 1 : t->end;
		t->line++;
		if (x->eol > x->c && x->eol[-1] == '\r')
			x->eol--;
		while (x->c < x->eol && (*x->c == ' ' || *x->c == '\t'))
			x->c++;
		x->line = x->c;
		if (x->c < x->eol && *x->c != '#')
			return true;
	}
	return false;
}

static void skip_blank(struct parser *x)
{
	while (x->c < x->eol && (*x->c == ' ' || *x->c == '\t'))
		x->c++;
}

/* Take `word` if it stands here as a whole. */
static bool take_word(struct parser *x, const char *word)
{
	size_t n = strlen(word);

	skip_blank(x);
	if ((size_t)(x->eol - x->c) < n || memcmp(x->c, word, n))
		return false;
	if (x->c + n < x->eol && x->c[n] != ' ' && x->c[n] != '\t')
		return false;
	x->c += n;
	return true;
}

static bool take_char(struct parser *x, char c)
{
	if (x->c == x->eol || *x->c != c)
		return false;
	x->c++;
	return true;
}

static int digit(char c, int base)
{
	int d = c >= '0' && c <= '9'		     ? c - '0'
		: (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						     : 99;

	return d < base ? d : -1;
}

static int take_u64(struct parser *x, uint64_t *out)
{
	const char *from;
	uint64_t v = 0;
	int base = 10;

	skip_blank(x);
	if (x->eol - x->c > 2 && x->c[0] == '0' && x->c[1] == 'x') {
		base = 16;
		x->c += 2;
	}
	for (from = x->c; x->c < x->eol && digit(*x->c, base) >= 0; x->c++) {
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit(*x->c, base), &v))
			return bad(x, "number too large");
	}
	if (x->c == from)
		return bad(x, "number expected");
	*out = v;
	return 0;
}

static int take_i64(struct parser *x, int64_t *out)
{
	bool neg;
	uint64_t v;
	int r;

	skip_blank(x);
	neg = take_char(x, '-');
	r = take_u64(x, &v);
	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX + neg)
		return bad(x, "number too large");
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

static int take_escape(struct parser *x)
{
	int hi, lo;
	char c;

	if (x->c == x->eol)
		return bad(x, "string without an end");
	c = *x->c++;
	switch (c) {
	case 'n':
		return buf_putc(&x->str, '\n');
	case 't':
		return buf_putc(&x->str, '\t');
	case '"':
	case '\\':
		return buf_putc(&x->str, c);
	case 'x':
		if (x->eol - x->c < 2)
			break;
		hi = digit(x->c[0], 16);
		lo = digit(x->c[1], 16);
		if (hi < 0 || lo < 0)
			break;
		x->c += 2;
		return buf_putc(&x->str, hi << 4 | lo);
	}
	return bad(x, "unknown escape in string");
}

/* A quoted string, as a store id. */
static int take_str(struct parser *x, uint32_t *id)
{
	int r;

	skip_blank(x);
	if (!take_char(x, '"'))
		return bad(x, "quoted string expected");
	buf_clear(&x->str);
	while (x->c < x->eol && *x->c != '"') {
		if (*x->c != '\\') {
			buf_putc(&x->str, *x->c++);
			continue;
		}
		x->c++;
		r = take_escape(x);
		if (r < 0)
			return r;
	}
	if (!take_char(x, '"'))
		return bad(x, "string without an end");
	if (x->str.overflow)
		return bad(x, "string too long");
	*id = intern_put(&x->st->strings, buf_str(&x->str), x->str.len);
	return 0;
}

static int end_of_line(struct parser *x)
{
	skip_blank(x);
	return x->c == x->eol ? 0 : bad(x, "unexpected text at the end of the line");
}

/* The number a row gives itself: they count from 1. */
static int take_number(struct parser *x, size_t have)
{
	uint64_t no;
	int r = take_u64(x, &no);

	if (r < 0)
		return r;
	return no == have + 1 ? 0 : bad(x, "rows must be numbered 1, 2, 3 ...");
}

static int parse_type(struct parser *x)
{
	struct header *h = &x->p->h;
	struct value_type t;
	int r = take_str(x, &t.type);

	if (!r)
		r = take_str(x, &t.unit);
	if (r < 0)
		return r;
	if (h->ntypes == TYPES_MAX)
		return bad(x, "too many sample types");
	if (x->p->nsamples)
		return bad(x, "sample type after the first sample");
	h->types = xreallocarray(h->types, h->ntypes + 1, sizeof(t));
	h->types[h->ntypes++] = t;
	if (take_word(x, "default")) {
		if (x->has_default)
			return bad(x, "a second default");
		x->has_default = true;
		h->default_type = t.type;
	}
	return 0;
}

static int parse_period(struct parser *x)
{
	struct header *h = &x->p->h;
	int r = take_str(x, &h->period_type.type);

	if (!r)
		r = take_str(x, &h->period_type.unit);
	return r ? r : take_i64(x, &h->period);
}

static int parse_comment(struct parser *x)
{
	struct header *h = &x->p->h;
	uint32_t id;
	int r = take_str(x, &id);

	if (r < 0)
		return r;
	h->comments = xreallocarray(h->comments, h->ncomments + 1, sizeof(id));
	h->comments[h->ncomments++] = id;
	return 0;
}

static int parse_mapping(struct parser *x)
{
	static const char letters[] = "FNLI";
	struct mapping m = {0};
	const char *l;
	uint32_t id;
	int r = take_number(x, x->nmappings);

	if (!r)
		r = take_u64(x, &m.start);
	if (!r)
		r = take_u64(x, &m.limit);
	if (!r)
		r = take_u64(x, &m.offset);
	if (!r)
		r = take_str(x, &m.file);
	if (!r)
		r = take_str(x, &m.build_id);
	if (r < 0)
		return r;
	skip_blank(x);
	if (!take_char(x, '-')) {
		for (; x->c < x->eol && *x->c != ' '; x->c++) {
			l = strchr(letters, *x->c);
			if (!l || !*l)
				return bad(x, "unknown mapping flag");
			m.flags |= 1u << (l - letters);
		}
	}
	id = store_mapping(x->st, &m);
	XGROW(x->mappings, x->nmappings, x->mappings_cap);
	x->mappings[x->nmappings++] = id;
	if (x->p->main_mapping == ID_NONE)
		x->p->main_mapping = id;
	return 0;
}

static int parse_function(struct parser *x)
{
	struct function f;
	int r = take_number(x, x->nfunctions);

	if (!r)
		r = take_str(x, &f.name);
	if (!r)
		r = take_str(x, &f.system_name);
	if (!r)
		r = take_str(x, &f.file);
	if (!r)
		r = take_i64(x, &f.start_line);
	if (r < 0)
		return r;
	XGROW(x->functions, x->nfunctions, x->functions_cap);
	x->functions[x->nfunctions++] = store_function(x->st, &f);
	return 0;
}

/* f1:34:5 */
static int take_line(struct parser *x, struct line *l)
{
	uint64_t no;
	int r = take_u64(x, &no);

	if (r < 0)
		return r;
	if (!no || no > x->nfunctions)
		return bad(x, "no such function");
	l->function = x->functions[no - 1];
	if (!take_char(x, ':'))
		return bad(x, "':' and a line expected");
	r = take_i64(x, &l->line);
	if (r < 0)
		return r;
	if (!take_char(x, ':'))
		return bad(x, "':' and a column expected");
	return take_i64(x, &l->column);
}

static int parse_location(struct parser *x)
{
	uint32_t n = 0, mapping = ID_NONE;
	uint64_t no, address;
	bool folded;
	int r = take_number(x, x->nlocations);

	if (r < 0)
		return r;
	skip_blank(x);
	if (!take_char(x, 'm'))
		return bad(x, "mapping (m0, m1 ...) expected");
	r = take_u64(x, &no);
	if (r < 0)
		return r;
	if (no > x->nmappings)
		return bad(x, "no such mapping");
	if (no)
		mapping = x->mappings[no - 1];
	r = take_u64(x, &address);
	if (r < 0)
		return r;
	for (;;) {
		folded = take_word(x, "folded");
		if (folded || !take_char(x, 'f'))
			break;
		XGROW(x->lines, n, x->lines_cap);
		r = take_line(x, &x->lines[n++]);
		if (r < 0)
			return r;
	}
	XGROW(x->locations, x->nlocations, x->locations_cap);
	x->locations[x->nlocations++] =
		store_location(x->st, mapping, address, folded, x->lines, n);
	return 0;
}

/* "key"="text", "key"=12, "key"=12"unit" */
static int take_label(struct parser *x, struct label *l)
{
	int r;

	*l = (struct label){0};
	r = take_str(x, &l->key);
	if (r < 0)
		return r;
	if (!take_char(x, '='))
		return bad(x, "'=' expected");
	if (x->c < x->eol && *x->c == '"')
		return take_str(x, &l->str);
	l->numeric = true;
	r = take_i64(x, &l->num);
	if (!r && x->c < x->eol && *x->c == '"')
		r = take_str(x, &l->unit);
	return r;
}

static int parse_sample(struct parser *x)
{
	uint32_t nframes = 0, nlabels = 0;
	uint64_t no;
	size_t i;
	int r;

	XRESERVE(x->values, x->values_cap, x->p->h.ntypes);
	for (i = 0; i < x->p->h.ntypes; i++) {
		r = take_i64(x, &x->values[i]);
		if (r < 0)
			return r;
	}
	if (!take_word(x, ":"))
		return bad(x, "':' expected after as many values as there are types");
	for (skip_blank(x); x->c < x->eol && *x->c != ':'; skip_blank(x)) {
		r = take_u64(x, &no);
		if (r < 0)
			return r;
		if (!no || no > x->nlocations)
			return bad(x, "no such location");
		XGROW(x->frames, nframes, x->frames_cap);
		x->frames[nframes++] = x->locations[no - 1];
	}
	if (take_char(x, ':')) {
		for (skip_blank(x); x->c < x->eol; skip_blank(x)) {
			XGROW(x->labels, nlabels, x->labels_cap);
			r = take_label(x, &x->labels[nlabels++]);
			if (r < 0)
				return r;
		}
	}
	return profile_add(x->p, store_stack(x->st, x->frames, nframes),
			   store_labelset(x->st, x->labels, nlabels), x->values, x->e);
}

static int parse_default(struct parser *x)
{
	if (x->has_default)
		return bad(x, "a second default");
	x->has_default = true;
	return take_str(x, &x->p->h.default_type);
}

static int parse_time(struct parser *x)
{
	return take_i64(x, &x->p->h.time_ns);
}

static int parse_duration(struct parser *x)
{
	return take_i64(x, &x->p->h.duration_ns);
}

static int parse_drop(struct parser *x)
{
	return take_str(x, &x->p->h.drop_frames);
}

static int parse_keep(struct parser *x)
{
	return take_str(x, &x->p->h.keep_frames);
}

static int parse_doc(struct parser *x)
{
	return take_str(x, &x->p->h.doc_url);
}

static const struct {
	const char *word;
	int (*parse)(struct parser *x);
	bool once; /* a second one would leave open which is meant */
} statements[] = {
	{"sample", parse_sample, false},
	{"location", parse_location, false},
	{"function", parse_function, false},
	{"mapping", parse_mapping, false},
	{"type", parse_type, false},
	{"comment", parse_comment, false},
	{"time", parse_time, true},
	{"duration", parse_duration, true},
	{"period", parse_period, true},
	{"default", parse_default, true},
	{"drop", parse_drop, true},
	{"keep", parse_keep, true},
	{"doc", parse_doc, true},
};

static int parse_statement(struct parser *x)
{
	size_t i;
	int r;

	for (i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		if (!take_word(x, statements[i].word))
			continue;
		if (statements[i].once && x->seen & 1u << i)
			return err_set(x->e, EBADMSG, "line %zu: a second %s", x->t->line,
				       statements[i].word);
		x->seen |= 1u << i;
		r = statements[i].parse(x);
		return r ? r : end_of_line(x);
	}
	return bad(x, "unknown statement");
}

static int parse_profile(struct parser *x, struct buf *msg)
{
	int r;

	while (next_line(x)) {
		if (take_word(x, "end")) {
			r = end_of_line(x);
			if (r < 0)
				return r;
			if (!x->p->h.ntypes)
				return bad(x, "profile without a type");
			return profile_encode(x->p, msg, x->e);
		}
		r = parse_statement(x);
		if (r < 0)
			return r;
	}
	return bad(x, "profile without an end line");
}

/* Go behind the end line of the profile at hand, which may be the line of the error. */
static void skip_profile(struct parser *x)
{
	x->c = x->line;
	do {
		if (take_word(x, "end"))
			return;
	} while (next_line(x));
}

int text_next(struct text_reader *t, struct buf *msg, struct err *e)
{
	struct parser x = {.t = t, .e = e};
	int r;

	buf_clear(msg);
	if (!next_line(&x))
		return 0;
	r = take_word(&x, "profile") ? end_of_line(&x) : bad(&x, "'profile' expected");
	if (r < 0) {
		skip_profile(&x);
		return r;
	}
	x.st = store_new(STORE_EXACT);
	x.p = profile_new(x.st);
	buf_init(&x.str, UINT32_MAX);
	r = parse_profile(&x, msg);
	if (r < 0)
		skip_profile(&x);
	profile_free(x.p);
	store_free(x.st);
	buf_release(&x.str);
	free(x.mappings);
	free(x.functions);
	free(x.locations);
	free(x.frames);
	free(x.lines);
	free(x.labels);
	free(x.values);
	return r < 0 ? r : 1;
}
