/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shorter forms of demangled names, in place: without template arguments, and without the
 * parameters and return types of the functions that a name is local to.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"

void simplify_cxx(struct buf *b, bool keep_templates);
void simplify_rust(struct buf *b);
