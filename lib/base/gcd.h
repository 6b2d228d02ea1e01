/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The greatest common divisor; of 0 and n it is n. */
static inline uint64_t gcd_u64(uint64_t a, uint64_t b)
{
	uint64_t rest;

	while (b) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}
