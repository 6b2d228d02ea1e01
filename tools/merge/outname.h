/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files made of label values: "out/{pod}-{version}.pb.gz", also {type} and {time}
 * (start of the result) where they are no labels asked for.
 *
 * What is put in is safe as a part of a name: letters, digits and _ - + = , : @ . stay, other
 * bytes become %XX, and so does a dot in front. No value, and a label that is absent, is "_".
 * A value longer than 100 bytes is cut, and gets a checksum. Whoever puts names together out of
 * hostile values never leaves the directory that the pattern names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/intern.h"

/* One file for each split: the pattern has a {KEY}. NULL is standard output. */
bool outname_is_pattern(const char *pattern);

/* A pattern names each of these keys, and no other. No pattern at all is fine. */
int outname_check(const char *pattern, char *const *keys, size_t n, struct err *e);

/* Set out to the name. values: one for each key, with their lengths. */
struct outname {
	char *const *keys;
	size_t nkeys;
	const struct str *values;
	const char *type;
	int64_t time_ns;
};
void outname_make(struct buf *out, const char *pattern, const struct outname *n);

/* Make the directories of `name` that come of what stands in braces. */
int outname_directories(const char *pattern, const char *name, struct err *e);
