/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of indexes by build id: DIR/ab/cdef….idx. Written whole or not at all; the ones not
 * used for longest go when there is too much. Any number of processes may use it at once.
 *
 * DIR/ab/cdef….none says that no index can be made of certain files, and holds for an hour.
 * DIR/ab/.cdef….lock is there while an index is made.
 */
#pragma once

#include "lib/sym/symindex.h"

/*
 * 0, or why there is none: -EBADMSG if it is damaged; whole: anywhere, not only where that shows at
 * once. What is found was used now.
 */
int symcache_load(const char *dir, const struct symindex_key *key, bool whole,
		  struct symindex **out, struct err *e);
int symcache_store(const char *dir, const struct symindex_key *key, const void *p,
		   size_t n, struct err *e);

/*
 * To be held by who makes an index; of two, one need not make it again. wait: until the other one
 * is done, else -EWOULDBLOCK while it is not. *fd for symcache_unlock().
 */
int symcache_lock(const char *dir, const struct symindex_key *key, bool wait, int *fd,
		  struct err *e);
void symcache_unlock(const char *dir, const struct symindex_key *key, int fd);

/* That nothing can be made of the files of the key: said before, and not long ago. */
bool symcache_is_in_vain(const char *dir, const struct symindex_key *key);
void symcache_set_in_vain(const char *dir, const struct symindex_key *key);

/* Bring the indexes in dir down to max bytes. */
void symcache_trim(const char *dir, uint64_t max);
