/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What leaves a capture: profiles by the writer, copies of files by the keeper. Tells the user
 * of trouble with either, and waits for both at the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "tools/capture/capture.h"
#include "tools/capture/keeper.h"
#include "tools/capture/writer.h"

struct deliver {
	const struct capture_opts *o;
	struct writer *writer;	 /* NULL: not started */
	struct writer_conf conf; /* its stream is ours until then */
	struct keeper *keeper;	 /* NULL: no copies of files are kept */
	int signal_fd;
	uint64_t signal_ns; /* when we were told to stop; 0: not yet */
	bool slow_said;
};

/* Refuse what cannot be written before anything is captured. */
int deliver_open(struct deliver *d, struct err *e);
void deliver_release(struct deliver *d);

/* Once privileges are dropped: a thread has its own. */
int deliver_start(struct deliver *d, struct err *e);

/* Write what is in `profile`, which is then empty. See writer_put(). */
void deliver_put(struct deliver *d, struct buf *profile, const char *type,
		 int64_t time_ns, uint64_t told, bool last);

/* Each type has a file of its own. */
bool deliver_splits_types(const struct deliver *d);

/* After writer_fd() was readable. Negative: nothing can be written any more. */
int deliver_check(struct deliver *d, struct err *e);

/* Wait for what is pending; a second signal ends the program. */
int deliver_end(struct deliver *d, struct err *e);
