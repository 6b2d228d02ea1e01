/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables kept in a directory, one file for each build id. Files there are checked as if
 * anyone could have written them; those of other users are not looked at.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/row.h"
#include "lib/base/err.h"
#include "lib/sym/elfnote.h"
#include "lib/sym/unwindtab.h"

struct tablecache;

struct cached_table {
	int fd;
	uint32_t nrows;
	size_t nsegments;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	uint64_t want, sum; /* checksum: as told, and of what was read up to here */
};

/* The directory is made if it is not there; the oldest files go when all are above max_bytes. */
int tablecache_new(const char *dir, uint64_t max_bytes, struct tablecache **out,
		   struct err *e);
bool tablecache_is_writable(const struct tablecache *c); /* new ones can be kept */
void tablecache_free(struct tablecache *c);

/* Find a table, then read all its rows: true if they are sound. */
bool tablecache_open(struct tablecache *c, const struct build_id *id,
		     struct cached_table *out);
bool tablecache_read(struct cached_table *t, struct unwind_row *rows);
void tablecache_close(struct cached_table *t);

/* Keep a table. What cannot be written is not kept. */
void tablecache_put(struct tablecache *c, const struct build_id *id,
		    const struct unwind_table *t);
