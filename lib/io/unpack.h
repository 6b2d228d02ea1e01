/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole buffers: inflating, and the checksum that goes with debug links.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Fill out[0, out_n) exactly from a zlib stream or a zstd frame; anything else is an error. */
int unpack_zlib(const void *in, size_t n, void *out, size_t out_n, struct err *e);
int unpack_zstd(const void *in, size_t n, void *out, size_t out_n, struct err *e);

/* All of an xz stream behind what is in `out`, up to its maximum. */
int unpack_xz(const void *in, size_t n, struct buf *out, struct err *e);

/*
 * The same of a whole file that is packed by xz, zstd or gzip. -ENOEXEC: by none of them; -EFBIG:
 * over the maximum.
 */
int unpack_file(const void *in, size_t n, struct buf *out, struct err *e);

/* By its first UNPACK_START bytes, is it a file for unpack_file()? */
#define UNPACK_START 6
bool unpack_knows(const void *start, size_t n);

/* CRC-32 as in gzip and .gnu_debuglink; start with crc 0, go on with the last result. */
uint32_t unpack_crc32(uint32_t crc, const void *p, size_t n);
