/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mathdep: the dependency of the demo service. Pretend that somebody else wrote it, and that
 * its last release is in your last deploy.
 */
#pragma once

#include <stdint.h>

/* The sum of a and b. */
int64_t addition(int64_t a, int64_t b);
