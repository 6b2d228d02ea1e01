/* SPDX-License-Identifier: Apache-2.0 */
/* What counters since the start of a process have gained: later minus earlier. */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

/*
 * Take base off p, both of one store and type. Levels (memory in use, goroutines) stay as p has
 * them. A counter whose total fell has started anew: p stays whole, and *fell names the type.
 * Else no sample becomes negative: estimates may fall by a rounding. Time and duration become
 * what lies between the two.
 */
int minus(struct profile *p, const struct profile *base, const char **fell,
	  struct err *e);
