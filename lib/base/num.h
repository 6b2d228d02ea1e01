/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people write them on a command line, independent of the locale.
 * Parsers want the whole string, return 0 and leave *out untouched on failure (-EINVAL,
 * -ERANGE); they set no message, the caller knows the option's name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int num_parse_u64(const char *s, uint64_t *out); /* decimal or 0x hex */
int num_parse_i64(const char *s, int64_t *out);	 /* decimal */
int num_parse_duration(const char *s,
		       int64_t *ns); /* 10s 5m 1h 100ms 1h30m; bare = seconds */
int num_parse_size(const char *s, uint64_t *bytes); /* 64K 8M 1G 2T, powers of 1024 */
int num_parse_percent(const char *s,
		      double *fraction); /* 0.5% = 0.005; a bare 0.005 too */

/* RFC 3339, `@unix` (with fraction), `now`, or relative to now: -10m, +1h. */
int num_parse_time(const char *s, int64_t now_ns, int64_t *ns);

#define NUM_TIME_MAX 40
/* 2026-01-02T03:04:05Z, with a fraction when there is one. Returns out. */
char *num_format_time(int64_t ns, char out[NUM_TIME_MAX]);
