/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/diff/work.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/io/lines.h"

static int read_line(void *work, char *line, struct err *e)
{
	struct work *w = work;
	char *end, *count;
	double v;

	/* names may hold blanks: the count is what stands last */
	count = line + strlen(line);
	while (count > line && count[-1] != ' ' && count[-1] != '\t')
		count--;
	errno = 0;
	v = strtod(count, &end);
	if (count == line || *end || errno || !(v > 0) || v > 1e300)
		return err_set(e, EINVAL, "NAME COUNT expected, not \"%s\"", line);
	for (end = count; end > line && (end[-1] == ' ' || end[-1] == '\t');)
		*--end = 0;
	XGROW(w->v, w->n, w->cap);
	w->v[w->n++] = (struct work_line){xstrdup(line), v};
	return 0;
}

int work_read(struct work *w, const char *file, struct err *e)
{
	int r = lines_read(file, read_line, w, e);

	return r || w->n ? r : err_set(e, ENODATA, "%s: no counts", file);
}

double work_of(const struct work *w, const char *name)
{
	size_t i;

	for (i = 0; w && i < w->n; i++) {
		if (!strcmp(w->v[i].name, name))
			return w->v[i].count;
	}
	return 0;
}

void work_release(struct work *w)
{
	while (w->n)
		free(w->v[--w->n].name);
	free(w->v);
	*w = (struct work){0};
}

static double parse_count(const char *s, size_t n)
{
	char *text = xstrndup(s, n), *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (errno || end == text || *end || !(v > 0) || !isfinite(v))
		v = 0;
	free(text);
	return v;
}

bool work_parse_counts(const char *arg, double work[SIDES])
{
	static const char *const keys[SIDES] = {"base=", "new="};
	const char *p = arg;
	size_t n;
	int side;

	while (*p) {
		n = strcspn(p, ",");
		for (side = 0; side < SIDES && strncmp(p, keys[side], strlen(keys[side]));
		     side++)
			;
		if (side == SIDES)
			return false;
		work[side] = parse_count(p + strlen(keys[side]), n - strlen(keys[side]));
		p += n + (p[n] == ',');
	}
	return true;
}
