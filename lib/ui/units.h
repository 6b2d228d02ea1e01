/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values with units as people read them: exactly the figures of google/pprof's reports
 * (internal/measurement): bytes by 1024 (B kB MB GB TB PB), times (ns us ms s hrs), GCU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT_MAX 400 /* %.2f of the largest double, and a unit */

/*
 * v of unit `from` in unit `to` ("minimum" or "auto": the largest in which it is at least 1).
 * *unit is the unit's short name, "" where there is none worth printing, or `to` itself if it is
 * a word of ASCII.
 */
double units_scale(int64_t v, const char *from, const char *to, const char **unit);

/* The names that `to` can be, for messages. */
#define UNITS_NAMES "ns us ms s hrs, B kB MB GB TB PB, GCU, auto or minimum"

/* Whether there is a unit of this name; "minimum" and "auto" are. */
bool units_exist(const char *to);

/* Whether values of unit `from` can be shown in unit `to`. */
bool units_fit(const char *from, const char *to);

/* "1.25s", "312", "0". Returns out. */
char *units_format(int64_t v, const char *from, const char *to, char out[UNITS_TEXT_MAX]);

/*
 * One unit for a whole report whose smallest shown value is `least` (0: none) and whose total
 * is `total`: that of the smallest, or of 100 times it where the two are far apart.
 */
const char *units_for_report(int64_t least, int64_t total, const char *from);

/* "  100%", "12.34%", " 0.12%": at least two digits; without sign. Returns out. */
char *units_percent(int64_t v, int64_t total, char out[UNITS_TEXT_MAX]);
