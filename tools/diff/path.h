/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the calling tree a function changed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tools/diff/compare.h"

/*
 * The callers that at least 80 % of the change of a function's flat cost came through, outermost
 * first and without the function itself. Allocated.
 */
uint32_t *change_path(struct comparison *c, uint32_t frame, size_t *n);
