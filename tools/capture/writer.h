/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes finished profiles in a thread of its own, so that a slow reader or a full disk does not
 * hold up the capture. A few wait; what comes while they do is lost as a whole, and counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/io/output.h"

#define WRITER_PENDING_MAX 20 /* profiles that wait or are being written, at most */
#define WRITER_LAST_MAX 8     /* and of the last interval, a file each */

struct writer_conf {
	const char *pattern;   /* of file names */
	struct output *stream; /* for all of them; NULL: each has a file. Taken over. */
	unsigned int room;     /* for so many: 1 to WRITER_PENDING_MAX */
	bool goes_on;	       /* what cannot be written is lost, and the next may do */
};

struct writer_counts {
	uint64_t written, lost; /* profiles */
};

struct writer;

/* Once privileges are dropped, as each thread has its own. conf->pattern must stay. */
int writer_start(const struct writer_conf *conf, struct writer **out, struct err *e);
void writer_free(struct writer *w); /* when writer_is_done() */

/* Readable after each profile that was written or lost. */
int writer_fd(const struct writer *w);

/*
 * Write a profile of a type (for {type}) that starts at time_ns (UTC). Takes over what is in b. False: too many wait,
 * it is lost; the last one is never lost by that. `told`: what writer_take_lost() gave, which is
 * in this profile.
 */
bool writer_put(struct writer *w, struct buf *b, const char *type, int64_t time_ns,
		uint64_t told, bool last);

/* How many were lost that no profile tells of yet: the next is to. */
uint64_t writer_take_lost(struct writer *w);

/*
 * What has happened: 0; 1 when writing begins to fail, with the reason in e, and it goes on;
 * -EPIPE when the reader is gone, or another negative errno when nothing can be written any more.
 */
int writer_check(struct writer *w, struct err *e);

bool writer_is_done(struct writer *w); /* none waits */
void writer_counts(struct writer *w, struct writer_counts *out);

/* Of the last that was lost because it could not be written: -errno, with the reason in e. */
int writer_why(struct writer *w, struct err *e);

/* All are written: end the stream. */
int writer_finish(struct writer *w, struct err *e);
