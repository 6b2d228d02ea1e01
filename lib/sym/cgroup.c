/* SPDX-License-Identifier: Apache-2.0 */
/* What the path of a control group tells about who runs in it. */
#include "lib/sym/cgroup.h"

#include <stddef.h>
#include <string.h>

struct part {
	const char *p;
	size_t n;
};

static void put(char *out, const char *p, size_t n)
{
	if (n > CGROUP_NAME_MAX - 1)
		n = CGROUP_NAME_MAX - 1;
	memcpy(out, p, n);
	out[n] = 0;
}

/* The component that ends before *end; *end moves in front of it. */
static bool last_part(const char *path, const char **end, struct part *c)
{
	const char *e = *end, *p;

	while (e > path && e[-1] == '/')
		e--;
	for (p = e; p > path && p[-1] != '/'; p--)
		;
	*end = p;
	*c = (struct part){.p = p, .n = e - p};
	return c->n > 0;
}

static bool ends_with(const struct part *c, const char *suffix)
{
	size_t n = strlen(suffix);

	return c->n > n && !memcmp(c->p + c->n - n, suffix, n);
}

static bool is_hex(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(p[i] >= '0' && p[i] <= '9') && !(p[i] >= 'a' && p[i] <= 'f'))
			return false;
	}
	return true;
}

static bool is_digits(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
	}
	return n > 0;
}

static bool container_in(struct part c, char *out)
{
	const char *id;

	if (ends_with(&c, ".scope"))
		c.n -= 6;
	/* the monitor beside a container is not in it */
	if (memmem(c.p, c.n, "conmon", 6))
		return false;
	id = c.p + c.n - 64;
	if (c.n >= 64 && is_hex(id, 64) &&
	    (c.n == 64 || id[-1] == '-' || id[-1] == ':')) {
		put(out, id, 64);
		return true;
	}
	if (c.n >= 32 && is_hex(c.p, 32) &&
	    (c.n == 32 || (c.p[32] == '-' && is_digits(c.p + 33, c.n - 33)))) {
		put(out, c.p, c.n);
		return true;
	}
	return false;
}

bool cgroup_container_id(const char *path, char out[CGROUP_NAME_MAX])
{
	const char *end = path + strlen(path);
	struct part c;

	while (last_part(path, &end, &c)) {
		if (container_in(c, out))
			return true;
	}
	return false;
}

/* 8-4-4-4-12 hex digits with `dash` between, or 32 without. */
static bool is_uid(const char *p, size_t n, char dash)
{
	size_t i;

	if (n == 32)
		return is_hex(p, n);
	if (n != 36)
		return false;
	for (i = 0; i < n; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (p[i] != dash)
				return false;
		} else if (!is_hex(p + i, 1)) {
			return false;
		}
	}
	return true;
}

bool cgroup_pod_uid(const char *path, char out[CGROUP_NAME_MAX])
{
	const char *end = path + strlen(path), *p;
	struct part c;
	bool slice;
	size_t n;
	char *o;

	while (last_part(path, &end, &c)) {
		slice = ends_with(&c, ".slice");
		if (slice)
			c.n -= 6;
		for (n = 32; n <= 36; n += 4) {
			if (c.n < n + 3)
				continue;
			p = c.p + c.n - n;
			if (memcmp(p - 3, "pod", 3) || (p - 3 > c.p && p[-4] != '-') ||
			    !is_uid(p, n, slice ? '_' : '-'))
				continue;
			put(out, p, n);
			for (o = out; *o; o++) {
				if (*o == '_')
					*o = '-';
			}
			return true;
		}
	}
	return false;
}

bool cgroup_systemd_unit(const char *path, char out[CGROUP_NAME_MAX])
{
	const char *end = path + strlen(path);
	struct part c;

	if (!strncmp(path, "/init.scope", 11) && (!path[11] || path[11] == '/')) {
		put(out, path + 1, 10);
		return true;
	}
	if (strncmp(path, "/system.slice/", 14) && strncmp(path, "/user.slice/", 12))
		return false;
	while (last_part(path, &end, &c)) {
		if (ends_with(&c, ".service") || ends_with(&c, ".scope")) {
			put(out, c.p, c.n);
			return true;
		}
	}
	return false;
}
