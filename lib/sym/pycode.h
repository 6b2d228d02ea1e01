/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CPython 3.11 keeps of its code: texts, and the line of each instruction (the "location
 * table", Objects/locations.md in its sources). The bytes come from another program's memory and
 * may be anything.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

/*
 * The line of instruction number `unit` (in two-byte units from the code's begin), where the
 * code begins at first_line; 0: the table does not tell.
 */
uint32_t pycode_line(const uint8_t *table, size_t n, uint32_t first_line, uint32_t unit);

/* Append n characters of `width` bytes (1, 2, 4), in our byte order, as UTF-8. */
void pycode_text(struct buf *out, const uint8_t *p, size_t n, unsigned width);
