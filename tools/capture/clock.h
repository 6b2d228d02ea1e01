/* SPDX-License-Identifier: Apache-2.0 */
/* Monotonic time, and what it is in UTC. */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* UTC minus monotonic time, ns. */
static inline int64_t utc_offset_ns(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
}
