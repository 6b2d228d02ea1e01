/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit hashes for tables that live in memory (never stored, never part of any output order).
 * Multiply-and-fold: the 128-bit product of two keyed words, high half xor low half, as in the
 * public wyhash and rapidhash descriptions. The key is random per process, so that hostile
 * input cannot choose collisions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern uint64_t hash_key; /* set once before main() */

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	__uint128_t p = (__uint128_t)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t hash_u64(uint64_t h, uint64_t v)
{
	return hash_fold(h ^ v ^ 0x9e3779b97f4a7c15u, v ^ hash_key ^ 0xd6e8feb86659fd93u);
}

uint64_t hash_bytes(const void *p, size_t n);
uint64_t hash_u32s(const uint32_t *p, size_t n);
