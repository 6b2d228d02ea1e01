/* SPDX-License-Identifier: Apache-2.0 */
/* Where and how each side was measured, as prof-capture notes it in comments. */
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"
#include "tools/diff/sides.h"

/*
 * Append "CPU: base has A, B; new has C" for the next thing that differs, from *at on; false
 * when there is no more. What only one side says is no difference.
 */
bool environment_differs(const struct pair *pair, size_t *at, struct buf *out);
