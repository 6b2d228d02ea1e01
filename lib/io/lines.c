/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/io/lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"

/* One more byte than is taken tells a file that is too long. */
static int read_all(const char *file, struct buf *text, struct err *e)
{
	char chunk[1 << 14];
	FILE *f = fopen(file, "re");
	size_t n;
	int r = 0;

	if (!f)
		return err_errno(e, errno, "%s", file);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0 && text->len <= LINES_MAX)
		buf_put(text, chunk, n);
	if (ferror(f))
		r = err_errno(e, errno, "%s", file);
	else if (text->len > LINES_MAX)
		r = err_set(e, EFBIG, "%s: more than %d bytes", file, LINES_MAX);
	else if (text->len && memchr(text->data, 0, text->len))
		r = err_set(e, EINVAL, "%s: not text: a byte of 0", file);
	(void)fclose(f);
	return r;
}

char *lines_trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	for (n = strlen(s); n && isspace((unsigned char)s[n - 1]);)
		s[--n] = 0;
	return s;
}

int lines_read(const char *file, int (*each)(void *ctx, char *line, struct err *e),
	       void *ctx, struct err *e)
{
	struct buf text = BUF_INIT((size_t)LINES_MAX + (1 << 14) + 1);
	char *line, *end;
	size_t number = 0;
	int r = read_all(file, &text, e);

	buf_putc(&text, 0);
	for (line = (char *)text.data; !r && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = 0;
		number++;
		line = lines_trim(line);
		if (!*line || *line == '#')
			continue;
		r = each(ctx, line, e);
		if (r < 0)
			err_prefix(e, "%s: line %zu", file, number);
	}
	buf_release(&text);
	return r;
}
