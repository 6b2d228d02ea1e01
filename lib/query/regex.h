/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions (PCRE2) over bytes that are meant to be UTF-8 but may not be: such bytes
 * match nothing. A pattern that goes wild on some text fails, it never hangs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct regex;

/* `whole`: it must match the whole text. The error holds the reason and the position. */
int regex_new(const char *pattern, size_t n, bool whole, struct regex **out,
	      struct err *e);
void regex_free(struct regex *r);

/*
 * Once a match has run into the limit, this and all later ones are false; regex_status() tells
 * at the end.
 */
bool regex_match(struct regex *r, const char *s, size_t n);
int regex_status(const struct regex *r, struct err *e); /* 0, or -ERANGE */
