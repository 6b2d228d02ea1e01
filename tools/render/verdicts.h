/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What prof-diff found, from the comments of a difference: "profpipe: tested=N" says that
 * functions were tested, "profpipe: verdict=V name=NAME" which of them changed. All others are
 * within noise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/pprof/model.h"

struct found {
	struct str verdict, name;
};

struct verdict_list {
	bool tested; /* false: nothing is known, every change may be real */
	struct found *v;
	size_t n;
};

void verdict_list_init(struct verdict_list *l, const struct profile *p);
void verdict_list_release(struct verdict_list *l);

/* The verdict on a function; an empty text where it is within noise. */
struct str verdict_list_find(const struct verdict_list *l, struct str name);
