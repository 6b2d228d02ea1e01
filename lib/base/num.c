/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/num.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000LL

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits at *s into *v; moves *s behind them. */
static int take_u64(const char **s, uint64_t *v)
{
	uint64_t n = 0;

	if (!is_digit(**s))
		return -EINVAL;
	for (; is_digit(**s); (*s)++) {
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**s - '0'), &n))
			return -ERANGE;
	}
	*v = n;
	return 0;
}

static int parse_hex(const char *s, uint64_t *out)
{
	uint64_t n = 0;
	int d;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (is_digit(*s))
			d = *s - '0';
		else if ((*s | 32) >= 'a' && (*s | 32) <= 'f')
			d = (*s | 32) - 'a' + 10;
		else
			return -EINVAL;
		if (n >> 60)
			return -ERANGE;
		n = n << 4 | d;
	}
	*out = n;
	return 0;
}

int num_parse_u64(const char *s, uint64_t *out)
{
	uint64_t n;
	int r;

	if (s[0] == '0' && (s[1] | 32) == 'x')
		return parse_hex(s + 2, out);
	r = take_u64(&s, &n);
	if (r < 0)
		return r;
	if (*s)
		return -EINVAL;
	*out = n;
	return 0;
}

int num_parse_i64(const char *s, int64_t *out)
{
	bool neg = *s == '-';
	uint64_t n;
	int r;

	s += neg;
	r = take_u64(&s, &n);
	if (r < 0)
		return r;
	if (*s)
		return -EINVAL;
	if (n > (uint64_t)INT64_MAX + neg)
		return -ERANGE;
	*out = neg ? (int64_t)(0 - n) : (int64_t)n;
	return 0;
}

/* "12.34" times `unit`, exact to the unit's last digit; *s moves behind the number. */
static int take_scaled(const char **s, uint64_t unit, uint64_t *out)
{
	uint64_t whole, digits = 0, scale = 1;
	int r = take_u64(s, &whole);

	if (r < 0)
		return r;
	if (**s == '.') {
		(*s)++;
		if (!is_digit(**s))
			return -EINVAL;
		for (; is_digit(**s); (*s)++) {
			/* 18 digits are finer than any unit has parts */
			if (scale == 1000000000000000000u)
				continue;
			digits = digits * 10 + (uint64_t)(**s - '0');
			scale *= 10;
		}
	}
	digits = (unsigned __int128)digits * unit / scale;
	if (__builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(whole, digits, &whole))
		return -ERANGE;
	*out = whole;
	return 0;
}

static const struct {
	const char *name;
	int64_t ns;
} time_units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", NS_PER_S},
	{"m", 60 * NS_PER_S},
	{"min", 60 * NS_PER_S},
	{"h", 3600 * NS_PER_S},
	{"d", 86400 * NS_PER_S},
	{"", NS_PER_S},
};

static int64_t unit_ns(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(time_units) / sizeof(*time_units); i++) {
		if (strlen(time_units[i].name) == n &&
		    !memcmp(time_units[i].name, name, n))
			return time_units[i].ns;
	}
	return 0;
}

int num_parse_duration(const char *s, int64_t *ns)
{
	const char *p, *unit, *start = s;
	uint64_t sum = 0, part;
	int64_t scale;
	int r;

	if (!*s)
		return -EINVAL;
	while (*s) {
		/* the unit stands behind the number: find it first */
		for (p = s; is_digit(*p) || *p == '.'; p++)
			;
		for (unit = p; (*p | 32) >= 'a' && (*p | 32) <= 'z'; p++)
			;
		scale = unit_ns(unit, p - unit);
		/* a number without a unit only alone: "1h30" could mean many things */
		if (!scale || (p == unit && (*p || s != start)))
			return -EINVAL;
		r = take_scaled(&s, scale, &part);
		if (r < 0)
			return r;
		if (s != unit)
			return -EINVAL;
		if (__builtin_add_overflow(sum, part, &sum) || sum > INT64_MAX)
			return -ERANGE;
		s = p;
	}
	*ns = sum;
	return 0;
}

int num_parse_size(const char *s, uint64_t *bytes)
{
	static const char letters[] = "KMGT";
	const char *p, *l;
	uint64_t unit = 1, n;
	int r;

	for (p = s; is_digit(*p) || *p == '.'; p++)
		;
	if (*p) {
		l = strchr(letters, *p & ~32);
		if (!l || !*l)
			return -EINVAL;
		unit = 1ull << (10 * (l - letters + 1));
		if (strcmp(p + 1, "") && strcmp(p + 1, "B") && strcmp(p + 1, "iB"))
			return -EINVAL;
	}
	r = take_scaled(&s, unit, &n);
	if (r < 0)
		return r;
	if (s != p)
		return -EINVAL;
	*bytes = n;
	return 0;
}

int num_parse_percent(const char *s, double *fraction)
{
	uint64_t parts;
	bool percent;
	int r = take_scaled(&s, NS_PER_S, &parts);

	if (r < 0)
		return r;
	percent = *s == '%';
	if (s[percent])
		return -EINVAL;
	*fraction = (double)parts / NS_PER_S / (percent ? 100 : 1);
	return 0;
}

static int take_fixed(const char **s, int digits, int *v)
{
	int n = 0, i;

	for (i = 0; i < digits; i++, (*s)++) {
		if (!is_digit(**s))
			return -EINVAL;
		n = n * 10 + (**s - '0');
	}
	*v = n;
	return 0;
}

static int take_char(const char **s, const char *set)
{
	if (!**s || !strchr(set, **s))
		return -EINVAL;
	return *(*s)++;
}

static int take_zone(const char **s, int *seconds)
{
	int sign, h, m;

	*seconds = 0;
	if (**s == 'Z' || **s == 'z') {
		(*s)++;
		return 0;
	}
	sign = take_char(s, "+-");
	if (sign < 0 || take_fixed(s, 2, &h) || take_char(s, ":") < 0 ||
	    take_fixed(s, 2, &m) || h > 23 || m > 59)
		return -EINVAL;
	*seconds = (sign == '-' ? -1 : 1) * (h * 3600 + m * 60);
	return 0;
}

/* 2026-01-02, 2026-01-02T03:04[:05[.6]](Z|+01:00); T may be a space, no zone is UTC. */
static int parse_rfc3339(const char *s, int64_t *ns)
{
	struct tm tm = {0}, back;
	uint64_t frac = 0;
	int zone = 0;
	__int128 v;
	time_t t;

	if (take_fixed(&s, 4, &tm.tm_year) || take_char(&s, "-") < 0 ||
	    take_fixed(&s, 2, &tm.tm_mon) || take_char(&s, "-") < 0 ||
	    take_fixed(&s, 2, &tm.tm_mday))
		return -EINVAL;
	if (*s) {
		if (take_char(&s, "Tt ") < 0 || take_fixed(&s, 2, &tm.tm_hour) ||
		    take_char(&s, ":") < 0 || take_fixed(&s, 2, &tm.tm_min))
			return -EINVAL;
		if (*s == ':') {
			s++;
			if (take_fixed(&s, 2, &tm.tm_sec))
				return -EINVAL;
			if (*s == '.') {
				uint64_t step = NS_PER_S;

				if (!is_digit(*++s))
					return -EINVAL;
				for (; is_digit(*s); s++) {
					step /= 10;
					frac += step * (uint64_t)(*s - '0');
				}
			}
		}
		if (*s && take_zone(&s, &zone))
			return -EINVAL;
	}
	if (*s || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	back = tm;
	back.tm_sec = 0; /* a leap second may belong to the next day */
	t = timegm(&back) + tm.tm_sec;
	if (back.tm_mday != tm.tm_mday || back.tm_mon != tm.tm_mon)
		return -EINVAL;
	v = (__int128)(t - zone) * NS_PER_S + frac;
	if (v < INT64_MIN || v > INT64_MAX)
		return -ERANGE;
	*ns = v;
	return 0;
}

int num_parse_time(const char *s, int64_t now_ns, int64_t *ns)
{
	int64_t d;
	uint64_t n;
	int r;

	if (!strcmp(s, "now")) {
		*ns = now_ns;
		return 0;
	}
	if (*s == '@') {
		s++;
		r = take_scaled(&s, NS_PER_S, &n);
		if (r < 0)
			return r;
		if (*s)
			return -EINVAL;
		if (n > INT64_MAX)
			return -ERANGE;
		*ns = n;
		return 0;
	}
	if (*s == '-' || *s == '+') {
		r = num_parse_duration(s + 1, &d);
		if (r < 0)
			return r;
		if (__builtin_add_overflow(now_ns, *s == '-' ? -d : d, &d))
			return -ERANGE;
		*ns = d;
		return 0;
	}
	return parse_rfc3339(s, ns);
}

char *num_format_time(int64_t ns, char out[NUM_TIME_MAX])
{
	int64_t s = ns / NS_PER_S, frac = ns % NS_PER_S;
	struct tm tm;
	time_t t;
	int n;

	if (frac < 0) {
		s--;
		frac += NS_PER_S;
	}
	t = s;
	gmtime_r(&t, &tm);
	n = strftime(out, NUM_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	if (frac) {
		n += snprintf(out + n, NUM_TIME_MAX - n, ".%09d", (int)frac);
		while (out[n - 1] == '0')
			n--;
	}
	out[n++] = 'Z';
	out[n] = 0;
	return out;
}
