/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from 64-bit keys to 32-bit values that only grows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define U64MAP_NONE UINT32_MAX /* not a value */

struct u64map {
	uint64_t *keys;
	uint32_t *values; /* U64MAP_NONE = free slot */
	size_t nslots, n; /* nslots: 0 or a power of two */
};

void u64map_release(struct u64map *m);
uint32_t u64map_get(const struct u64map *m, uint64_t key); /* or U64MAP_NONE */
void u64map_reserve(struct u64map *m, size_t more);	   /* room for as many more */
void u64map_put(struct u64map *m, uint64_t key, uint32_t value);
