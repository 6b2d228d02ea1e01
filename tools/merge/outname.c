/* SPDX-License-Identifier: Apache-2.0 */
/* File names from patterns. */
#include "tools/merge/outname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "lib/io/unpack.h"

#define VALUE_MAX 100
#define ABSENT "_"

/* The next "{NAME}" of a pattern: NAME and its length, or NULL. */
static const char *next_brace(const char *pattern, size_t *n)
{
	const char *open = strchr(pattern, '{');
	const char *close = open ? strchr(open, '}') : NULL;

	if (!close)
		return NULL;
	*n = (size_t)(close - open) - 1;
	return open + 1;
}

bool outname_is_pattern(const char *pattern)
{
	size_t n;

	return pattern && next_brace(pattern, &n);
}

static size_t key_index(char *const *keys, size_t nkeys, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < nkeys; i++) {
		if (strlen(keys[i]) == n && !memcmp(keys[i], name, n))
			break;
	}
	return i;
}

static bool is_word(const char *name, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(name, word, n);
}

int outname_check(const char *pattern, char *const *keys, size_t nkeys, struct err *e)
{
	const char *name, *p = pattern;
	bool *seen;
	size_t n, i;
	int r = 0;

	if (!outname_is_pattern(pattern))
		return 0;
	seen = xcalloc(nkeys + 1, sizeof(*seen));
	for (; (name = next_brace(p, &n)) && !r; p = name + n + 1) {
		i = key_index(keys, nkeys, name, n);
		seen[i] = true;
		if (i == nkeys && !is_word(name, n, "type") && !is_word(name, n, "time"))
			r = err_set(e, EINVAL,
				    "{%.*s} is no label of --split-by, type or time",
				    (int)n, name);
	}
	for (i = 0; i < nkeys && !r; i++) {
		if (!seen[i])
			r = err_set(e, EINVAL,
				    "without {%s} in it, results would share a file",
				    keys[i]);
	}
	free(seen);
	return r;
}

static bool is_safe(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || (c && strchr("_-+=,:@.", c));
}

static void put_value(struct buf *out, const char *s, size_t n)
{
	size_t i, kept = n > VALUE_MAX ? VALUE_MAX : n;

	/* nothing else is written as it is, so that it can be told from a value "_" */
	if (!n) {
		buf_puts(out, ABSENT);
		return;
	}
	for (i = 0; i < kept; i++) {
		uint8_t c = (uint8_t)s[i];

		if (!is_safe(c) || (c == '.' && !i) || (n == 1 && c == ABSENT[0]))
			buf_printf(out, "%%%02X", c);
		else
			buf_putc(out, (char)c);
	}
	if (kept < n)
		buf_printf(out, "%%-%08x", unpack_crc32(0, s, n));
}

void outname_make(struct buf *out, const char *pattern, const struct outname *o)
{
	char time[NUM_TIME_MAX];
	const char *name, *p = pattern;
	size_t n, i;

	num_format_time(o->time_ns, time);
	buf_clear(out);
	for (; (name = next_brace(p, &n)); p = name + n + 1) {
		buf_put(out, p, (size_t)(name - 1 - p));
		i = key_index(o->keys, o->nkeys, name, n);
		if (i < o->nkeys)
			put_value(out, o->values[i].p, o->values[i].n);
		else if (is_word(name, n, "type"))
			put_value(out, o->type, strlen(o->type));
		else
			put_value(out, time, strlen(time));
	}
	buf_puts(out, p);
}

int outname_directories(const char *pattern, const char *name, struct err *e)
{
	const char *brace = strchr(pattern, '{');
	size_t fixed = 0, i;
	char *dir;
	int r = 0;

	/* what stands before the first brace is the user's to make */
	for (i = 0; pattern + i < brace; i++) {
		if (pattern[i] == '/')
			fixed = i + 1;
	}
	for (i = fixed; name[i] && !r; i++) {
		if (name[i] != '/')
			continue;
		dir = xstrndup(name, i);
		if (mkdir(dir, 0777) < 0 && errno != EEXIST)
			r = err_errno(e, errno, "%s", dir);
		free(dir);
	}
	return r;
}
