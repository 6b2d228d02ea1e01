/* SPDX-License-Identifier: Apache-2.0 */
/* How much was done, from a file that a load generator or a script writes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

enum side { SIDE_BASE, SIDE_NEW, SIDES };

struct work_line {
	char *name;
	double count;
};

struct work {
	struct work_line *v;
	size_t n, cap;
};

/* Lines "NAME COUNT": NAME is an input file, its last component, or base or new. */
int work_read(struct work *w, const char *file, struct err *e);
void work_release(struct work *w);

/* What stands there under a name; 0: nothing, or w is NULL. */
double work_of(const struct work *w, const char *name);

/* "base=N,new=M" in any order; 0 in work where it is not a count. false: something else. */
bool work_parse_counts(const char *arg, double work[SIDES]);
