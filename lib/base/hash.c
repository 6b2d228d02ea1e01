/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

uint64_t hash_key = 0x2545f4914f6cdd1du;

__attribute__((constructor)) static void hash_seed(void)
{
	uint64_t k;

	if (getrandom(&k, sizeof(k), GRND_NONBLOCK) != sizeof(k))
		k = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15u ^ (uintptr_t)&k;
	hash_key ^= k;
}

static inline uint64_t load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static inline uint64_t load_tail(const unsigned char *p, size_t n) /* 0..8 bytes */
{
	uint64_t v = 0;

	if (n >= 4) {
		uint32_t a, b;

		memcpy(&a, p, 4);
		memcpy(&b, p + n - 4, 4);
		return (uint64_t)a << 32 | b;
	}
	if (n) {
		v = p[0];
		v |= (uint64_t)p[n >> 1] << 8;
		v |= (uint64_t)p[n - 1] << 16;
	}
	return v;
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_key ^ n * 0x9e3779b97f4a7c15u;

	for (; n > 16; p += 16, n -= 16)
		h = hash_fold(load64(p) ^ hash_key ^ 0xa0761d6478bd642fu,
			      load64(p + 8) ^ h);
	if (n > 8)
		return hash_fold(load64(p) ^ hash_key ^ 0xe7037ed1a0b428dbu,
				 load64(p + n - 8) ^ h);
	return hash_fold(load_tail(p, n) ^ hash_key ^ 0x8ebc6af09c88c6e3u,
			 h ^ 0x589965cc75374cc3u);
}

uint64_t hash_u32s(const uint32_t *p, size_t n)
{
	return hash_bytes(p, n * sizeof(*p));
}
