/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ui/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/ui/escape.h"

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){.out = out};
}

static void put_quoted(struct json *j, const char *p, size_t n)
{
	buf_putc(j->out, '"');
	escape_json(j->out, p, n);
	buf_putc(j->out, '"');
}

static void new_line(struct json *j)
{
	int i;

	buf_putc(j->out, '\n');
	for (i = 0; i < j->depth; i++)
		buf_puts(j->out, "  ");
}

/* Everything that comes before a value. */
static void begin(struct json *j, const char *key)
{
	if (j->filled[j->depth])
		buf_putc(j->out, ',');
	if (j->depth)
		new_line(j);
	j->filled[j->depth] = true;
	if (key) {
		put_quoted(j, key, strlen(key));
		buf_puts(j->out, ": ");
	}
}

static void open_container(struct json *j, const char *key, char c)
{
	begin(j, key);
	buf_putc(j->out, c);
	j->filled[++j->depth] = false;
}

static void close_container(struct json *j, char c)
{
	bool filled = j->filled[j->depth--];

	if (filled)
		new_line(j);
	buf_putc(j->out, c);
	if (!j->depth)
		buf_putc(j->out, '\n');
}

void json_object(struct json *j, const char *key)
{
	open_container(j, key, '{');
}

void json_array(struct json *j, const char *key)
{
	open_container(j, key, '[');
}

void json_end_object(struct json *j)
{
	close_container(j, '}');
}

void json_end_array(struct json *j)
{
	close_container(j, ']');
}

void json_str(struct json *j, const char *key, struct str s)
{
	begin(j, key);
	put_quoted(j, s.p, s.n);
}

void json_cstr(struct json *j, const char *key, const char *s)
{
	json_str(j, key, (struct str){s, (uint32_t)strlen(s)});
}

void json_int(struct json *j, const char *key, int64_t v)
{
	begin(j, key);
	buf_printf(j->out, "%" PRId64, v);
}

void json_double(struct json *j, const char *key, double v)
{
	begin(j, key);
	if (isfinite(v))
		buf_printf(j->out, "%.10g", v);
	else
		buf_puts(j->out, "null");
}

void json_bool(struct json *j, const char *key, bool v)
{
	begin(j, key);
	buf_puts(j->out, v ? "true" : "false");
}
