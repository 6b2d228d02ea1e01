/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks, as flame graph tools write and read them: lines of "main;work;leaf 12", frames
 * from the root, then a count. py-spy's "name (file.py:12)" gives file and line. Nothing says what
 * was counted: the profile has the type samples/count, no time and no labels.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* The first line that is not empty is such a line, and text. */
bool collapsed_sniff(const uint8_t *p, size_t n);

/* All of it as one message in `msg` (cleared first). Errors name the line. */
int collapsed_message(const uint8_t *p, size_t n, struct buf *msg, struct err *e);
