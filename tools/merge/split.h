/* SPDX-License-Identifier: Apache-2.0 */
/* A result taken apart by the values of labels, one part made at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/pprof/model.h"

struct split_part {
	const uint32_t *values; /* string ids, one for each key */
	size_t first, n;	/* in split.samples */
};

struct split {
	const struct profile *p;
	uint32_t *samples; /* indexes into p's, part by part */
	struct split_part *parts;
	uint32_t *values; /* of all parts */
	size_t nparts, nkeys;
};

/* Parts come in byte order of their values; each has samples. p must outlive s. */
void split_init(struct split *s, struct profile *p, char *const *keys, size_t n);
void split_release(struct split *s);

/* The part as a profile of its own: p's header and mappings, its own samples. */
struct profile *split_profile(const struct split *s, size_t part);
