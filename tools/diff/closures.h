/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closures are numbered in the order of the source: where one was added or taken away, those
 * behind it have other numbers, and equal names mean other code. Such a family, of one function,
 * is compared as one.
 */
#pragma once

#include <stdint.h>

#include "tools/diff/compare.h"

/*
 * Folds the families that one side has a closure of that the other one lacks, and which is at
 * least this share of its side's total (comparison_fold()). Before find_renamed(), as rows must
 * still be by frame.
 */
void fold_closures(struct comparison *c, double least);
