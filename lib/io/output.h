/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program's result goes: standard output, or a file that appears whole or not at all.
 *
 * A path is written as a file without a name in the same directory (where the file system cannot
 * do that, under a name that starts with "."), synced, and renamed over the path by
 * output_commit(); symbolic links are followed. An existing device or FIFO is opened and written
 * as it is; /dev/fd/N is that descriptor, written from where it stands. output_abort() leaves
 * nothing behind, and nor does being killed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct output;

/* path NULL or "-": standard output. A binary result on a terminal is refused with a hint. */
int output_open(const char *path, bool binary, struct output **out, struct err *e);
int output_write(struct output *o, const void *p, size_t n, struct err *e);

/* What is written so far has reached the reader (pipes) after this: between profiles. */
int output_flush(struct output *o, struct err *e);

/*
 * After a failure: take back what was written since the last output_flush() that succeeded. True
 * if nothing of it is in the output; what has gone into a pipe cannot be taken back.
 */
bool output_undo(struct output *o);

/* Both end and free o; NULL is accepted. Commit reports what close and fsync say. */
int output_commit(struct output *o, struct err *e);
void output_abort(struct output *o);
