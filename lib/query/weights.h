/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One column of a profile, added up per distinct stack: what every report starts from. Stack
 * filters are applied here, after the total is known, so that percentages stay those of the
 * whole (as in pprof).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/query/query.h"

/* The label of the base's samples in a difference, and its value is "true". */
#define BASE_KEY "pprof::base"

struct weight {
	uint32_t stack;
	int64_t plus,
		minus; /* sums of the positive and of the negative values, minus <= 0 */
};

struct weights {
	struct weight *v; /* in order of first appearance; value 0 is never there */
	size_t n, cap;
	int64_t total; /* sum of |value|; only of the base where there is a base (a diff) */
	int64_t sum;   /* of the values the filters left */
	bool is_diff, has_negative;
};

int weights_init(struct weights *w, struct query *q, const struct profile *p,
		 size_t column, struct err *e);
void weights_release(struct weights *w);

/* A level, not an amount: adding profiles up says nothing (heap in use, goroutines). */
bool type_is_gauge(const struct profile *p, size_t column);
