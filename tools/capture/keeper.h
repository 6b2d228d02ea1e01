/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps copies of the files that samples were taken in, one for each build id, so that they can
 * be symbolized when the files are gone: DIR/.build-id/ab/cdef….
 *
 * A file is opened as it is mapped, in this process; a child without capabilities reads and writes.
 * What was mapped lately is held open for when its first sample is handled.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/ui/cli.h"
#include "tools/capture/procs.h"

struct keeper_conf {
	const char *dir;
	uint64_t max_bytes; /* of all files there */
	const struct cli *cli;
};

struct keeper;

/* Before anything is opened that the child is not to have. The directory is made. */
int keeper_start(const struct keeper_conf *conf, struct keeper **out, struct err *e);
void keeper_free(struct keeper *k); /* NULL is fine; what is not copied yet is not kept */

/* tgid has f mapped at [start, end): now, or a moment ago. */
void keeper_see(struct keeper *k, const struct code_file *f, uint32_t tgid,
		uint64_t start, uint64_t end);

/* It had a sample there. */
void keeper_want(struct keeper *k, const struct code_file *f, uint32_t tgid,
		 uint64_t start, uint64_t end);

/* Readable when there is something for keeper_poll() to do; -1: never. */
int keeper_fd(const struct keeper *k);
void keeper_poll(struct keeper *k);

bool keeper_is_done(
	const struct keeper *k); /* all that was wanted is copied, or cannot be */
void keeper_tell(const struct keeper *k); /* what was kept, with -v */
