/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip members, whole: in from a descriptor, out to a buffer.
 *
 * Reading takes regular files into memory and inflates with libdeflate; pipes, and files too
 * large for that, are inflated by zlib as the bytes come, so that a member is handed on as soon
 * as its last byte is there. A member over `max` bytes inflated is an error, and so is anything
 * after a member that is not one. Input that is not gzip is one "member" as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct gz_reader;

/* Takes fd over (also when it fails: it does not). */
struct gz_reader *gz_reader_new(int fd, uint64_t max);
void gz_reader_free(struct gz_reader *g);

/*
 * The next member into *p (owned by g, good until the next call): 1, 0 at the end of input,
 * negative on error. *plain tells that the input is not gzip and this is all of it.
 */
int gz_next(struct gz_reader *g, const uint8_t **p, size_t *n, bool *plain,
	    struct err *e);

/* 1-based number of the member last given or failed in. */
size_t gz_member(const struct gz_reader *g);

/* Nothing follows the member last given, as far as is known without reading on. */
bool gz_is_last(const struct gz_reader *g);

/* One gzip member (level 6, no time, no name) appended to out. */
int gz_compress(const void *p, size_t n, struct buf *out, struct err *e);
