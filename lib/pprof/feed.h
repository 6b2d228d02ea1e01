/* SPDX-License-Identifier: Apache-2.0 */
/* One file of profiles, whatever its form, as inflated pprof messages. Inside lib/pprof only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct feed;

/* `path` "-" is standard input. */
int feed_open(const char *path, uint64_t max_size, struct feed **out, struct err *e);
void feed_free(struct feed *f);

/*
 * The next message: 1, 0 at the end, negative on error, with the place in front of it. The bytes
 * are good until the next call. After an error the call may be repeated: it goes on where the
 * end of the bad member is known.
 */
int feed_next(struct feed *f, const uint8_t **msg, size_t *n, struct err *e);

bool feed_is_last(const struct feed *f); /* it is known that nothing follows */

const char *feed_path(const struct feed *f); /* or "standard input" */
const char *
feed_name(const struct feed *f); /* with member, where there is more than one */
