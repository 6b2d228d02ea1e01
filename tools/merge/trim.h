/* SPDX-License-Identifier: Apache-2.0 */
/* Small branches of a result's tree of stacks become one frame "[other]" each. */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

/*
 * Cut what carries less than `fraction` of the total of the default type, and then the smallest
 * of what is left until there are at most `max_stacks` distinct stacks; 0 is no limit. A stack
 * that is cut goes on, below its frames that are kept, with "[other]"; labels and sums stay, and
 * so does the cumulative value of every frame that is kept. What is cut depends on the content.
 */
int trim(struct profile *p, double fraction, uint64_t max_stacks, struct err *e);
