/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and applying waivers. */
#include "tools/diff/waiver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/lines.h"

#define FIELDS 6
#define DAY_NS (86400 * 1000000000LL)

void waivers_release(struct waivers *w)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		free(w->v[i].name);
		free(w->v[i].issue);
		free(w->v[i].reason);
	}
	free(w->v);
	*w = (struct waivers){0};
}

/* From the right: a name may hold a bar, what follows it does not. */
static size_t split(char *line, char *field[FIELDS])
{
	size_t n = FIELDS;
	char *bar;

	while (--n) {
		bar = strrchr(line, '|');
		if (!bar)
			return 0;
		*bar = 0;
		field[n] = lines_trim(bar + 1);
	}
	field[0] = lines_trim(line);
	return FIELDS;
}

static int parse_kind(const char *s, enum waiver_kind *kind)
{
	static const char *const names[] = {"flat", "cum", "total", "label"};
	int k;

	for (k = WAIVE_FLAT; k <= WAIVE_LABEL; k++) {
		if (strcmp(s, names[k]) == 0) {
			*kind = (enum waiver_kind)k;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_ceiling(struct waiver *w, const char *s)
{
	if (*s == 'x')
		return strchr(s, '%') || num_parse_percent(s + 1, &w->relative) ||
				       w->relative <= 0
			       ? -EINVAL
			       : 0;
	return strchr(s, '%') ? num_parse_percent(s + (*s == '+'), &w->percent_of_base)
			      : -EINVAL;
}

static int parse_expiry(struct waiver *w, const char *s)
{
	char text[40];
	int r;

	if (strncmp(s, "expires ", 8) != 0 || strlen(s) != 18)
		return -EINVAL;
	snprintf(text, sizeof(text), "%sT00:00:00Z", s + 8);
	r = num_parse_time(text, 0, &w->expires_ns);
	w->expires_ns += DAY_NS;
	return r;
}

static int parse_line(void *waivers, char *line, struct err *e)
{
	struct waivers *all = waivers;
	struct waiver w = {0};
	char *field[FIELDS];

	if (!split(line, field) || !*field[0] || !*field[4] || !*field[5])
		return err_set(e, EINVAL,
			       "NAME | KIND | CEILING | expires DATE | ISSUE | REASON "
			       "expected");
	if (parse_kind(field[1], &w.kind) < 0)
		return err_set(e, EINVAL, "flat, cum, total or label expected, not %s",
			       field[1]);
	if (parse_ceiling(&w, field[2]) < 0)
		return err_set(e, EINVAL, "a ceiling of +P%% or xR expected, not %s",
			       field[2]);
	if (parse_expiry(&w, field[3]) < 0)
		return err_set(e, EINVAL, "\"expires YYYY-MM-DD\" expected, not \"%s\"",
			       field[3]);
	w.name = xstrdup(field[0]);
	w.issue = xstrdup(field[4]);
	w.reason = xstrdup(field[5]);
	XGROW(all->v, all->n, all->cap);
	all->v[all->n++] = w;
	return 0;
}

int waivers_read(struct waivers *w, const char *file, struct err *e)
{
	return lines_read(file, parse_line, w, e);
}

bool waivers_accept(struct waivers *w, enum waiver_kind kind, struct str name,
		    double base, double new, double total, int64_t now_ns)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		struct waiver *v = &w->v[i];
		double ceiling = v->relative > 0 ? base * v->relative
						 : base + v->percent_of_base * total;

		if (v->kind != kind || strlen(v->name) != name.n ||
		    memcmp(v->name, name.p, name.n) != 0)
			continue;
		v->expired |= now_ns >= v->expires_ns;
		v->too_low |= new > ceiling;
		if (now_ns >= v->expires_ns || new > ceiling)
			continue;
		v->used = true;
		return true;
	}
	return false;
}
