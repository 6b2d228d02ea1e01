/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that have another name in the new build: what only one side has is paired by who
 * calls it, whom it calls, where it stands and what it is called.
 */
#pragma once

#include <stdint.h>

#include "tools/diff/compare.h"

/*
 * Joins the rows of each pair (comparison_join()) and says so in c->alias. Rows must still be by
 * frame. least: the share of its side's total that a function must have to be looked at.
 */
void find_renamed(struct comparison *c, double least);
