/* SPDX-License-Identifier: Apache-2.0 */
/* What else people feed a profiler: formats known by sight, so that they are refused by name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* "perf.data: convert it with …" for the start of an input, or NULL when it is none of them. */
const char *sniff_foreign(const uint8_t *p, size_t n);
