/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the text twin of a profile stream (its grammar: profpipe-stream(5)).
 *
 * Each profile is turned into a pprof message, so that text goes the same way as everything
 * else. Errors name the line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

#define TEXT_MAGIC "# profpipe text 1"

struct text_reader {
	const char *p, *end; /* not owned */
	size_t line;	     /* number of the line that ends before p */
};

bool text_sniff(const uint8_t *p, size_t n);
void text_open(struct text_reader *t, const uint8_t *p, size_t n);

/* The next profile's message into msg (cleared first): 1, 0 at the end, negative on error;
 * after an error the reader stands behind the profile's `end` line. */
int text_next(struct text_reader *t, struct buf *msg, struct err *e);
