/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions made to fit. The ladder: as it is; without arguments and template
 * arguments; without the path or most namespaces in front; the last part alone; then cut by "…",
 * in the middle (at the end where there is little room). The text must be valid UTF-8 without controls (escape first).
 */
#pragma once

#include <stddef.h>

#include "lib/base/buf.h"

size_t name_width(const char *p, size_t n); /* in columns */

/* Append the longest form that fits into `columns` (at least 1). */
void name_fit(struct buf *out, const char *p, size_t n, size_t columns);

/* As name_fit(), by cutting alone: at the end. For texts that are no names. */
void name_cut(struct buf *out, const char *p, size_t n, size_t columns);

/*
 * How long the part of a name is that says where it belongs: "net/http" of
 * "net/http.(*conn).serve", "std::vec" of "std::vec::Vec<T>::push" ("" where there is none).
 */
size_t name_package(const char *p, size_t n);
