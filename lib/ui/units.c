/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling and printing of values. */
#include "lib/ui/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name, *aliases[3];
	double factor;
};

struct family {
	struct unit units[10];
	const char *
		least_name; /* for what is below 1 of the smallest, or of no known unit */
	double least_factor;
};

#define KIB 1024.0
#define UNIT_MAX 30 /* bytes of a unit that is not ours */

static const struct family families[] = {
	{{{"B", {"b", "byte"}, 1},
	  {"kB", {"kb", "kbyte", "kilobyte"}, KIB},
	  {"MB", {"mb", "mbyte", "megabyte"}, KIB *KIB},
	  {"GB", {"gb", "gbyte", "gigabyte"}, KIB *KIB *KIB},
	  {"TB", {"tb", "tbyte", "terabyte"}, KIB *KIB *KIB *KIB},
	  {"PB", {"pb", "pbyte", "petabyte"}, KIB *KIB *KIB *KIB *KIB}},
	 "B",
	 1},
	{{{"ns", {"ns", "nanosecond"}, 1},
	  {"us", {"\u03bcs", "us", "microsecond"}, 1e3},
	  {"ms", {"ms", "millisecond"}, 1e6},
	  {"s", {"s", "sec", "second"}, 1e9},
	  {"hrs", {"hour", "hr"}, 3600e9}},
	 "s",
	 1e9},
	{{{"n*GCU", {"nanogcu"}, 1e-9},
	  {"u*GCU", {"microgcu"}, 1e-6},
	  {"m*GCU", {"milligcu"}, 1e-3},
	  {"GCU", {"gcu"}, 1},
	  {"k*GCU", {"kilogcu"}, 1e3},
	  {"M*GCU", {"megagcu"}, 1e6},
	  {"G*GCU", {"gigagcu"}, 1e9},
	  {"T*GCU", {"teragcu"}, 1e12},
	  {"P*GCU", {"petagcu"}, 1e15}},
	 "GCU",
	 1},
};

/* Without case; an "s" at the end of a longer name is the plural. */
static const struct unit *find_unit(const struct family *f, const char *name)
{
	size_t n = strlen(name), i, k;
	const struct unit *u;

	if (n > 2 && (name[n - 1] | 0x20) == 's')
		n--;
	for (i = 0; i < 10 && f->units[i].name; i++) {
		u = &f->units[i];
		for (k = 0; k < 3 && u->aliases[k]; k++) {
			if (strlen(u->aliases[k]) == n &&
			    !strncasecmp(u->aliases[k], name, n))
				return u;
		}
	}
	return NULL;
}

static bool is_automatic(const char *to)
{
	return !strcmp(to, "minimum") || !strcmp(to, "auto");
}

static const struct family *family_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (find_unit(&families[i], name))
			return &families[i];
	}
	return NULL;
}

bool units_exist(const char *to)
{
	return is_automatic(to) || family_of(to);
}

bool units_fit(const char *from, const char *to)
{
	const struct family *f = family_of(from);

	return is_automatic(to) || (f && find_unit(f, to));
}

static double scale_in(const struct family *f, double v, const char *to,
		       const char **unit)
{
	const struct unit *best = NULL;
	size_t i;

	if (is_automatic(to)) {
		for (i = 0; i < 10 && f->units[i].name; i++) {
			if (v / f->units[i].factor >= 1)
				best = &f->units[i];
		}
	} else {
		best = find_unit(f, to);
	}
	*unit = best ? best->name : f->least_name;
	return v / (best ? best->factor : f->least_factor);
}

/*
 * The unit of a stranger stands behind numbers wherever they are shown, so it must be harmless
 * everywhere, and must not look like more digits.
 */
static bool is_plain(const char *unit)
{
	size_t i;

	if (!isalpha((unsigned char)*unit) && *unit != '%')
		return false;
	for (i = 1; unit[i]; i++) {
		if (!isalnum((unsigned char)unit[i]) && !strchr("_-/%", unit[i]))
			return false;
	}
	return i <= UNIT_MAX;
}

static double scale_positive(double v, const char *from, const char *to,
			     const char **unit)
{
	static const char *const silent[] = {"count", "sample", "unit", "minimum",
					     "auto"};
	const struct family *f = family_of(from);
	size_t i;

	if (f)
		return scale_in(f, v * find_unit(f, from)->factor, to, unit);
	*unit = is_plain(to) ? to : "";
	for (i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		if (!strcmp(to, silent[i]))
			*unit = "";
	}
	return v;
}

double units_scale(int64_t v, const char *from, const char *to, const char **unit)
{
	double s = scale_positive(fabs((double)v), from, to, unit);

	return v < 0 ? -s : s;
}

char *units_format(int64_t v, const char *from, const char *to, char out[UNITS_TEXT_MAX])
{
	const char *unit;
	size_t n;

	snprintf(out, UNITS_TEXT_MAX - 40, "%.2f", units_scale(v, from, to, &unit));
	n = strlen(out);
	if (n > 3 && !strcmp(out + n - 3, ".00"))
		out[n -= 3] = 0;
	if (!strcmp(out, "0") || !strcmp(out, "-0"))
		memcpy(out, "0", 2);
	else
		snprintf(out + n, UNITS_TEXT_MAX - n, "%s", unit);
	return out;
}

const char *units_for_report(int64_t least, int64_t total, const char *from)
{
	const char *unit, *total_unit;
	int64_t hundred;

	if (!least)
		least = total;
	units_scale(least, from, "minimum", &unit);
	units_scale(total, from, "minimum", &total_unit);
	if (strcmp(unit, total_unit) && !__builtin_mul_overflow(least, 100, &hundred) &&
	    hundred < total)
		units_scale(hundred, from, "minimum", &unit);
	return *unit ? unit : from;
}

char *units_percent(int64_t v, int64_t total, char out[UNITS_TEXT_MAX])
{
	double p = total ? fabs((double)v / (double)total) * 100 : 0;

	if (p >= 99.95 && p <= 100.05)
		return memcpy(out, "  100%", 7);
	snprintf(out, UNITS_TEXT_MAX, p >= 1 ? "%5.2f%%" : "%5.2g%%", p);
	return out;
}
