/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of two builds are the same by their distance from where their function begins: what was
 * added above it moves them all.
 */
#pragma once

#include "tools/diff/replicas.h"
#include "tools/diff/sides.h"

/*
 * Give the base's lines the numbers that they have in the new build, function by function (by
 * name and file). A function whose start either side does not tell, or that the new side has at
 * several, is left as it is.
 */
void startlines_level(struct pair *pair, struct replicas *all);
