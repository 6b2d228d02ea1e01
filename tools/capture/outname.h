/* SPDX-License-Identifier: Apache-2.0 */
/* Names of output files: strftime(3) in UTC of an interval's start, and {type}. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

#define OUTNAME_TYPE "{type}"

/* The name for an interval that starts at time_ns (UTC). Allocated; NULL if it gets too long. */
char *outname(const char *pattern, const char *type, int64_t time_ns);

/* The pattern stands for one stream: standard output, or a device or FIFO that is there. */
bool outname_is_stream(const char *pattern);

/*
 * Refuse (-EINVAL) a pattern that would name two intervals alike: `count` of them (0: without
 * end), length_ns each, from time_ns on. Also one whose directory is not there.
 */
int outname_check(const char *pattern, int64_t time_ns, int64_t length_ns, uint64_t count,
		  struct err *e);
