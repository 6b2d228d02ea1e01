/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors in the manner of PromQL:
 *
 *	[TYPE]{ KEY OP VALUE , ... }	braces may be left out when there is no TYPE
 *
 * OP is = != =~ !~ (regular expressions match the whole value). Keys and values are bare
 * ([A-Za-z0-9_./:-]+, a value may also be empty) or quoted by ", ' or `. Between " or ' the
 * escapes \" \' \\ \n \r \t \xHH are known, any other backslash stands for itself; between `
 * nothing is special.
 *
 * A label that is absent has the empty value, as in PromQL. Numbers compare as decimal text.
 * Of several values of one key, = and =~ need one that fits, != and !~ want all to fit.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"

struct selector;

/* Errors name the byte (from 1) of the text. */
int selector_parse(const char *text, struct selector **out, struct err *e);
void selector_free(struct selector *s);

/*
 * KEY=VALUE in the same notation at *text, which moves behind it and blanks; both are allocated.
 * With `value` NULL it is KEY alone.
 */
int selector_parse_pair(const char **text, char **key, char **value, struct err *e);

/* A condition is on this key. */
bool selector_has_key(const struct selector *s, const char *key);

/* What stood before the braces, or NULL. */
const char *selector_type(const struct selector *s);

/* The first call binds the selector to st, until selector_reset(). */
void selector_reset(struct selector *s);
bool selector_match(struct selector *s, struct store *st, const struct label *labels,
		    uint32_t n);
int selector_status(const struct selector *s,
		    struct err *e); /* a regular expression failed */
