/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of indexes by build id: DIR/ab/cdef….idx. Written whole or not at all; the ones not
 * used for longest go when there is too much.
 */
#pragma once

#include "lib/sym/symindex.h"

/* 0, or why there is none. What is found was used now. */
int symcache_load(const char *dir, const struct symindex_key *key, struct symindex **out,
		  struct err *e);
int symcache_store(const char *dir, const struct symindex_key *key, const void *p,
		   size_t n, struct err *e);

/* Bring the indexes in dir down to max bytes. */
void symcache_trim(const char *dir, uint64_t max);
