/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing gates. */
#include "tools/diff/gate_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"

const char *gate_text(const struct gate *g)
{
	return g->text;
}

bool gate_only_warns(const struct gate *g)
{
	return g->warn;
}

bool gate_label(const struct gate *g, const char **key, const char **value)
{
	*key = g->key;
	*value = g->value;
	return g->subject == ON_LABEL;
}

void gate_watch(struct gate *g, size_t label)
{
	g->label = label;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	free(g->text);
	free(g->key);
	free(g->value);
	free(g->text_of_label);
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
	} else if ((!strncmp(text, "flat:", 5) && text[5]) ||
		   (!strncmp(text, "cum:", 4) && text[4])) {
		g->subject = text[0] == 'f' ? ON_FLAT : ON_CUM;
		r = regex_new(strchr(text, ':') + 1, strlen(strchr(text, ':') + 1), false,
			      &g->re, e);
	} else if (!strncmp(text, "label:", 6) && (eq = strchr(text + 6, '=')) &&
		   eq > text + 6) {
		g->subject = ON_LABEL;
		g->key = xstrndup(text + 6, eq - (text + 6));
		g->value = xstrdup(eq + 1);
		g->text_of_label = xstrdup(text + 6);
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
