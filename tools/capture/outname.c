/* SPDX-License-Identifier: Apache-2.0 */
/* Names of output files. */
#include "tools/capture/outname.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/intern.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"

#define DAY_S INT64_C(86400)

/* Intervals whose names are compared one by one; of more, only those that clocks repeat at. */
#define COUNT_MAX 100000

bool outname_is_stream(const char *pattern)
{
	struct stat st;

	if (!pattern || !strcmp(pattern, "-"))
		return true;
	return stat(pattern, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

char *outname(const char *pattern, const char *type, int64_t time_ns)
{
	struct buf b = BUF_INIT(PATH_MAX);
	char name[PATH_MAX], *at;
	time_t t = time_ns / NS_PER_S;
	struct tm tm;
	size_t n;

	gmtime_r(&t, &tm);
	/* the pattern is the user's: they may name their files as they like */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = strftime(name, sizeof(name), pattern, &tm);
#pragma GCC diagnostic pop
	if (!n)
		return NULL;
	at = strstr(name, OUTNAME_TYPE);
	if (!at)
		return xstrdup(name);
	buf_put(&b, name, at - name);
	buf_puts(&b, type);
	buf_puts(&b, at + strlen(OUTNAME_TYPE));
	at = b.overflow ? NULL : xstrdup(buf_str(&b));
	buf_release(&b);
	return at;
}

static int same_name(const char *pattern, const char *name, struct err *e)
{
	return err_set(e, EINVAL, "-o %s would name two intervals alike: %s", pattern,
		       name);
}

/* Every interval has a name of its own. */
static int check_each(const char *pattern, int64_t time_ns, int64_t length_ns,
		      uint64_t count, struct err *e)
{
	struct intern names;
	uint64_t i;
	int r = 0;
	char *name;

	intern_init(&names);
	for (i = 0; i < count && !r; i++) {
		name = outname(pattern, "cpu", time_ns + (int64_t)i * length_ns);
		if (!name)
			r = err_set(e, EINVAL, "-o %s: not a usable name", pattern);
		else if (intern_find(&names, name, strlen(name)) != UINT32_MAX)
			r = same_name(pattern, name, e);
		else
			intern_puts(&names, name);
		free(name);
	}
	intern_release(&names);
	return r;
}

/* Names do not come round again: after a minute, an hour, a day, a week, a month, years. */
static int check_cycles(const char *pattern, int64_t time_ns, struct err *e)
{
	static const int64_t cycles_s[] = {
		60,	      3600,	  12 * 3600,   DAY_S,
		7 * DAY_S,    31 * DAY_S, 366 * DAY_S, 28 * 365 * DAY_S + 7 * DAY_S,
		36525 * DAY_S};
	char *first = outname(pattern, "cpu", time_ns), *name;
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(cycles_s) / sizeof(*cycles_s) && first && !r; i++) {
		name = outname(pattern, "cpu", time_ns + cycles_s[i] * NS_PER_S);
		if (name && !strcmp(first, name))
			r = same_name(pattern, name, e);
		free(name);
	}
	free(first);
	return r;
}

static int check_place(const char *name, struct err *e)
{
	const char *slash = strrchr(name, '/');
	char *dir =
		slash ? xstrndup(name, slash == name ? 1 : slash - name) : xstrdup(".");
	struct stat st;
	int r = 0;

	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		r = err_errno(e, EISDIR, "%s", name);
	else if (access(dir, W_OK) < 0)
		r = err_errno(e, errno, "%s", dir);
	free(dir);
	return r;
}

int outname_check(const char *pattern, int64_t time_ns, int64_t length_ns, uint64_t count,
		  struct err *e)
{
	uint64_t each = count && count < COUNT_MAX ? count : count ? COUNT_MAX : 64;
	char *name;
	int r;

	if (outname_is_stream(pattern))
		return 0;
	r = check_each(pattern, time_ns, length_ns, each, e);
	if (!r && each != count)
		r = check_cycles(pattern, time_ns, e);
	if (r < 0)
		return r;
	name = outname(pattern, "cpu", time_ns);
	r = check_place(name, e);
	free(name);
	return r;
}
