/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on standard error about work that takes long, when that is a terminal. It appears
 * after a second, is rewritten in place, and goes before anything else is printed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/ui/cli.h"

struct progress {
	bool on, shown;
	int64_t next_ns; /* monotonic time of the next showing */
};

void progress_start(struct progress *p, const struct cli *c);

/* Cheap enough for every profile read: looks at the clock and seldom does more. */
void progress_show(struct progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void progress_clear(struct progress *p);
