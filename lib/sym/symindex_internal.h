/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of an index, for what writes and what reads it. Not for use outside symindex*.c. */
#pragma once

#include "lib/sym/symindex.h"

#define MAGIC "PPSYMX02"
#define MAGIC_NAME 6 /* bytes of it; the rest is the version */
#define SWAP (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#define BLOCK_BYTES 4096 /* that have a checksum of their own */

enum { FLAG_LINES = 1, FLAG_64 = 2, FLAG_SYMBOLS = 4 };

/* Tables of the file, in order; sizes of their records. */
enum table {
	SEGMENTS,
	STARTS,
	ANSWERS,
	LOCATIONS,
	FUNCTIONS,
	STRINGS,
	TEXT,
	BLOCKS, /* CRCs of the blocks of all tables before it */
	NTABLES
};

static const uint32_t record_size[NTABLES] = {
	[SEGMENTS] = 48,  [STARTS] = 8,	 [ANSWERS] = 8, [LOCATIONS] = 20,
	[FUNCTIONS] = 12, [STRINGS] = 4, [TEXT] = 1,	[BLOCKS] = 4,
};

/* magic, CRC of the rest of the header, flags, type, id's size, id, files, counts, CRC of the
 * table of CRCs */
#define HEADER_BYTES (8 + 4 * 4 + BUILD_ID_MAX + 8 + 4 * NTABLES + 4)

static inline uint64_t pad8(uint64_t n)
{
	return (n + 7) & ~7ull;
}

static inline size_t blocks_of(size_t n)
{
	return (n + BLOCK_BYTES - 1) / BLOCK_BYTES;
}
