/* SPDX-License-Identifier: Apache-2.0 */
/* Many tests at once. */
#pragma once

#include <stddef.h>

/*
 * Benjamini and Hochberg: q[i] is the least false discovery rate at which test i is a discovery,
 * min over k >= rank(i) of p(k) * n / k. q may be p itself.
 */
void stat_bh(const double *p, size_t n, double *q);
