/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files read, inflated and decoded by threads, ahead of the one that takes the messages, which
 * get them in the order of the files whatever the threads do. Inside lib/pprof only.
 *
 * Each thread works on a file of its own, and waits when it is so many messages, or files, ahead:
 * memory is that of a few messages a thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/message.h"
#include "lib/pprof/paths.h"

struct ahead;

/* Takes paths over. Fewer threads than asked for are fine; NULL if there can be none. */
struct ahead *ahead_new(struct paths *paths, uint64_t max_size, uint64_t budget_bytes,
			size_t threads);

/* With what threads may still be doing: they end by themselves, and nothing waits for them. */
void ahead_free(struct ahead *a);

/* As source_next(); the message is good until the next call. */
int ahead_next(struct ahead *a, struct message **m, struct err *e);
const char *ahead_name(const struct ahead *a);
const char *ahead_path(const struct ahead *a);
