/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and judging gates. */
#include "tools/diff/gate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/query/regex.h"

enum subject { ON_TOTAL, ON_REGRESSED, ON_NEW, ON_FLAT, ON_CUM, ON_LABEL };

struct gate {
	char *text;
	bool warn;
	enum subject subject;
	struct regex *re;	/* ON_FLAT, ON_CUM */
	char *key, *value;	/* ON_LABEL */
	double percent_of_base; /* fraction; with relative 0 */
	double relative;	/* xR, or 0 */
	double min_share;	/* fraction of the larger side's total */
};

const char *gate_text(const struct gate *g)
{
	return g->text;
}

bool gate_only_warns(const struct gate *g)
{
	return g->warn;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	free(g->text);
	free(g->key);
	free(g->value);
	regex_free(g->re);
	free(g);
}

static void skip_blank(const char **s)
{
	while (isspace((unsigned char)**s))
		(*s)++;
}

static bool take(const char **s, const char *word)
{
	size_t n = strlen(word);

	skip_blank(s);
	if (strncmp(*s, word, n))
		return false;
	if (isalnum((unsigned char)word[n - 1]) && isalnum((unsigned char)(*s)[n]))
		return false;
	*s += n;
	return true;
}

/* The last " > " ends the subject: an expression may hold one itself. */
static const char *find_limit(const char *s)
{
	const char *p, *last = NULL;

	for (p = strchr(s, '>'); p; p = strchr(p + 1, '>')) {
		if (p[1] != '=')
			last = p;
	}
	return last;
}

static int parse_subject(struct gate *g, const char *s, size_t n, struct err *e)
{
	char *text = xstrndup(s, n), *eq;
	size_t len = strlen(text);
	int r = 0;

	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = 0;
	if (!strcmp(text, "total")) {
		g->subject = ON_TOTAL;
	} else if (!strcmp(text, "regressed")) {
		g->subject = ON_REGRESSED;
	} else if (!strcmp(text, "new")) {
		g->subject = ON_NEW;
	} else if (!strncmp(text, "flat:", 5) || !strncmp(text, "cum:", 4)) {
		g->subject = text[0] == 'f' ? ON_FLAT : ON_CUM;
		r = regex_new(strchr(text, ':') + 1, strlen(strchr(text, ':') + 1), false,
			      &g->re, e);
	} else if (!strncmp(text, "label:", 6) && (eq = strchr(text + 6, '=')) &&
		   eq > text + 6) {
		g->subject = ON_LABEL;
		g->key = xstrndup(text + 6, eq - (text + 6));
		g->value = xstrdup(eq + 1);
	} else {
		r = err_set(e, EINVAL,
			    "total, regressed, new, flat:RE, cum:RE or "
			    "label:KEY=VALUE expected, not \"%s\"",
			    text);
	}
	free(text);
	return r;
}

static int parse_limit(struct gate *g, const char *s, struct err *e)
{
	size_t n;
	char *word;
	int r;

	skip_blank(&s);
	n = strcspn(s, " \t");
	word = xstrndup(s, n);
	s += n;
	if (*word == 'x') {
		/* a bare number is its own fraction */
		r = strchr(word, '%') ? -EINVAL
				      : num_parse_percent(word + 1, &g->relative);
		if (!r && g->relative <= 0)
			r = -EINVAL;
	} else {
		r = strchr(word, '%') ? num_parse_percent(word + (*word == '+'),
							  &g->percent_of_base)
				      : -EINVAL;
	}
	free(word);
	if (r < 0)
		return err_set(e, EINVAL, "limit +P%% or xR expected after '>'");
	if (g->subject == ON_NEW && g->relative > 0)
		return err_set(e, EINVAL,
			       "new functions have no base to be xR of: +P%% expected");
	skip_blank(&s);
	if (!*s)
		return 0;
	if (!take(&s, "where") || !take(&s, "share") || !take(&s, ">="))
		return err_set(e, EINVAL, "\"where share >= P%%\" expected, not \"%s\"",
			       s);
	skip_blank(&s);
	if (!strchr(s, '%') || num_parse_percent(s, &g->min_share) < 0 ||
	    g->min_share > 1)
		return err_set(e, EINVAL, "a share of 0%% to 100%% expected, not \"%s\"",
			       s);
	return 0;
}

int gate_parse(const char *text, struct gate **out, struct err *e)
{
	struct gate *g = xcalloc(1, sizeof(*g));
	const char *s = text, *limit;
	int r;

	g->text = xstrdup(text);
	if (take(&s, "warn"))
		g->warn = true;
	else
		take(&s, "fail");
	skip_blank(&s);
	limit = find_limit(s);
	r = limit ? parse_subject(g, s, limit - s, e)
		  : err_set(e, EINVAL, "'> LIMIT' expected");
	if (!r)
		r = parse_limit(g, limit + 1, e);
	if (r < 0) {
		err_prefix(e, "gate \"%s\"", text);
		gate_free(g);
		return r;
	}
	*out = g;
	return 0;
}

struct judge {
	const struct gate *g;
	const struct comparison *c;
	struct gate_result *r;
	double worst; /* how far over the limit */
	bool there;   /* something the gate speaks of */
	bool any;     /* and large enough */
};

/* The largest whole value within the limit. 100 x1.15 is 115, also where 1.15 is a bit less. */
static int64_t whole_limit(double limit)
{
	double near = nearbyint(limit);

	if (fabs(limit - near) > fabs(near) * 1e-12)
		near = floor(limit);
	return near < 0x1p63 ? (int64_t)near : INT64_MAX;
}

/* Hold one item to the limit; keep it if none was worse. */
static void weigh(struct judge *j, struct str item, const struct amount *a)
{
	double base = (double)a->base, new = (double)a->new, total, limit;
	const struct amount *t = &j->c->total;

	j->there = true;
	total = (double)(t->base > t->new ? t->base : t->new);
	if (total <= 0 || (base > new ? base : new) < j->g->min_share * total)
		return;
	limit = j->g->relative > 0 ? base * j->g->relative
				   : base + j->g->percent_of_base * (double)t->base;
	if (j->any && new - limit <= j->worst)
		return;
	j->any = true;
	j->worst = new - limit;
	j->r->item = item;
	j->r->amount = *a;
	j->r->limit = whole_limit(limit);
	j->r->failed = a->new > j->r->limit;
}

static struct str text_of(const char *s)
{
	return (struct str){s, (uint32_t)strlen(s)};
}

static int judge_functions(struct judge *j, struct err *e)
{
	const struct diff_row *row;
	size_t i;

	for (i = 0; i < j->c->nrows; i++) {
		row = &j->c->rows[i];
		if (j->g->re && !regex_match(j->g->re, row->name.p, row->name.n))
			continue;
		weigh(j, row->name, j->g->subject == ON_CUM ? &row->cum : &row->flat);
	}
	return j->g->re ? regex_status(j->g->re, e) : 0;
}

static void judge_new(struct judge *j)
{
	struct amount sum = {0, 0};
	size_t i;

	for (i = 0; i < j->c->nrows; i++) {
		if (row_status(&j->c->rows[i]) == STATUS_NEW)
			sum.new += j->c->rows[i].flat.new;
	}
	weigh(j, text_of("new functions"), &sum);
}

/* Numbers compare as decimal text, as in selectors. */
static bool label_is(const struct store *st, const struct label *l, const struct gate *g)
{
	char number[24];

	if (strcmp(store_cstr(st, l->key), g->key))
		return false;
	if (!l->numeric)
		return !strcmp(store_cstr(st, l->str), g->value);
	snprintf(number, sizeof(number), "%" PRId64, l->num);
	return !strcmp(number, g->value);
}

static void judge_label(struct judge *j)
{
	const struct profile *p = j->c->p;
	struct amount sum = {0, 0};
	bool there = false;
	uint32_t n, k;
	size_t i;

	for (i = 0; i < p->nsamples; i++) {
		const struct label *l =
			store_labels(p->store, p->samples[i].labelset, &n);
		int64_t v = profile_values(p, i)[j->c->column];

		for (k = 0; k < n && !label_is(p->store, &l[k], j->g); k++)
			;
		if (k == n)
			continue;
		there = true;
		if (v < 0)
			sum.base -= v;
		else
			sum.new += v;
	}
	if (there)
		weigh(j, text_of(j->g->value), &sum);
}

int gate_judge(const struct gate *g, const struct comparison *c, struct gate_result *r,
	       struct err *e)
{
	struct judge j = {.g = g, .c = c, .r = r};
	int ret = 0;

	*r = (struct gate_result){.gate = g};
	switch (g->subject) {
	case ON_TOTAL:
		weigh(&j, text_of("total"), &c->total);
		break;
	case ON_NEW:
		judge_new(&j);
		break;
	case ON_LABEL:
		judge_label(&j);
		break;
	case ON_REGRESSED:
		j.there = true;
		/* fall through */
	case ON_FLAT:
	case ON_CUM:
		ret = judge_functions(&j, e);
		break;
	}
	if (ret < 0)
		return err_prefix(e, "gate \"%s\"", g->text);
	if (!j.there)
		return err_set(e, ENOENT, "gate \"%s\" matches nothing", g->text);
	return 0;
}
