/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /proc/PID/maps, line by line. */
#include "lib/sym/maps.h"

#include <errno.h>
#include <string.h>

struct cursor {
	const char *p, *end; /* of one line */
};

static bool take_char(struct cursor *c, char want)
{
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static int digit(char ch, unsigned int base)
{
	int d = -1;

	if (ch >= '0' && ch <= '9')
		d = ch - '0';
	else if (ch >= 'a' && ch <= 'f')
		d = ch - 'a' + 10;
	return d < (int)base ? d : -1;
}

static bool take_number(struct cursor *c, unsigned int base, uint64_t max, uint64_t *out)
{
	const char *from = c->p;
	uint64_t n = 0;
	int d;

	for (; c->p < c->end && (d = digit(*c->p, base)) >= 0; c->p++) {
		if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
		    __builtin_add_overflow(n, (uint64_t)d, &n) || n > max)
			return false;
	}
	*out = n;
	return c->p > from;
}

static bool take_perms(struct cursor *c, struct maps_line *m)
{
	const char *p = c->p;

	if (c->end - p < 4)
		return false;
	if ((p[0] != 'r' && p[0] != '-') || (p[1] != 'w' && p[1] != '-') ||
	    (p[2] != 'x' && p[2] != '-') || (p[3] != 's' && p[3] != 'p'))
		return false;
	m->read = p[0] == 'r';
	m->write = p[1] == 'w';
	m->exec = p[2] == 'x';
	m->shared = p[3] == 's';
	c->p += 4;
	return true;
}

static void take_name(struct cursor *c, struct maps_line *m)
{
	static const char deleted[] = " (deleted)";
	const size_t dn = sizeof(deleted) - 1;

	while (take_char(c, ' '))
		;
	m->name = c->p;
	m->name_len = c->end - c->p;
	m->deleted = m->name_len > dn && !memcmp(c->end - dn, deleted, dn);
	if (m->deleted)
		m->name_len -= dn;
}

int maps_next(const char **p, const char *end, struct maps_line *m)
{
	struct cursor c = {.p = *p};
	struct maps_line l = {0};
	uint64_t major, minor;

	if (*p == end)
		return 0;
	c.end = memchr(*p, '\n', end - *p);
	if (!c.end)
		c.end = end;
	*p = c.end == end ? end : c.end + 1;
	if (!take_number(&c, 16, UINT64_MAX, &l.start) || !take_char(&c, '-') ||
	    !take_number(&c, 16, UINT64_MAX, &l.end) || !take_char(&c, ' ') ||
	    !take_perms(&c, &l) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, UINT64_MAX, &l.offset) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, UINT32_MAX, &major) || !take_char(&c, ':') ||
	    !take_number(&c, 16, UINT32_MAX, &minor) || !take_char(&c, ' ') ||
	    !take_number(&c, 10, UINT64_MAX, &l.inode) || l.start >= l.end)
		return -EINVAL;
	if (c.p < c.end && *c.p != ' ')
		return -EINVAL;
	l.major = major;
	l.minor = minor;
	take_name(&c, &l);
	*m = l;
	return 1;
}
