/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that grow from the start of a process (a Go heap profile's alloc_space, contentions):
 * what was added between one profile and the next, as profiles of their own. The first of a
 * series is only what the second is measured from. Levels stay as the later profile has them.
 *
 * A series is all profiles of one profile type on one side; they must be of one process (or tell
 * theirs apart by labels), and in order of time. Profiles that have a duration are amounts
 * already, and pass.
 *
 * Memory: the last profile of each series, and every distinct stack.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "tools/diff/work.h"

struct cumulative;

struct cumulative *cumulative_new(void);
void cumulative_free(struct cumulative *c);

/*
 * The next profile of a side. *msg and *n: what to go on with, the message itself or one in
 * `out`; *n 0: nothing yet.
 */
int cumulative_step(struct cumulative *c, enum side side, const uint8_t **msg, size_t *n,
		    struct buf *out, struct err *e);
