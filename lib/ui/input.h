/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of every program that adds profiles up: read all, name the bad, count the good. */
#pragma once

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/pprof/source.h"
#include "lib/ui/cli.h"

/*
 * Give each message of the source to add(). With --skip-bad, what is bad is named on standard
 * error and left out; sums that overflow, and no input at all, are trouble all the same.
 * *good counts what add() took.
 */
int input_read(const struct cli *c, struct source *s,
	       int (*add)(void *ctx, const uint8_t *msg, size_t n, struct err *e),
	       void *ctx, size_t *good, struct err *e);
