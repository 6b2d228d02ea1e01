/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, one character at a time, from bytes that may be anything. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffd

/*
 * The character at p (n > 0 bytes are there): its length in bytes. Where it is not valid
 * (overlong, surrogate, cut off), *c is UINT32_MAX and the length 1.
 */
size_t utf8_decode(const char *p, size_t n, uint32_t *c);

size_t utf8_encode(uint32_t c, char out[4]);

/* Columns on a terminal: 0 for combining marks, 2 for wide East Asian characters and emoji. */
int utf8_width(uint32_t c);

/* Characters that turn the direction of text around or cannot be seen: never shown raw. */
int utf8_is_deceptive(uint32_t c);
