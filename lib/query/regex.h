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

/*
 * Groups with names, in the order of their names: how many; the name of one; and where it was in
 * the text of the last match that was true. False: it had no part in the match.
 */
size_t regex_groups(const struct regex *r);
const char *regex_group_name(const struct regex *r, size_t i);
bool regex_group(const struct regex *r, size_t i, size_t *from, size_t *to);

int regex_status(const struct regex *r, struct err *e); /* 0, or -ERANGE */
