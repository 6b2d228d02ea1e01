/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads foreign files. It makes unwind tables for the capture, which has
 * privileges and therefore parses no file itself: descriptors go out, rows come back in a
 * memory file.
 *
 * There are two processes: a guard, which starts the worker again when a file was too much for
 * it, and the worker, which has no capabilities, can neither open nor run anything (seccomp), and
 * may take so much memory and time for one file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/err.h"
#include "lib/sym/allocfind.h"
#include "lib/sym/pyfind.h"
#include "lib/sym/unwindtab.h"

#define TABLER_ROWS_MAX (1 << 23) /* of one file */
#define TABLER_MEMORY (256 << 20) /* bytes */
#define TABLER_SECONDS 2	  /* of CPU time */
#define TABLER_TEXT 160

struct tabler {
	int fd; /* SOCK_SEQPACKET; -1: none */
	pid_t guard;
};

struct tabler_reply {
	uint64_t id;
	int32_t status; /* 0; negative errno: no table; text says why */
	uint32_t nrows, nunsupported, nsegments;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	struct python_places python; /* these two are looked for if it was asked for */
	struct alloc_places alloc;   /* also where there is no table */
	uint64_t cpu_ns;	     /* that the worker has used for this file */
	char text[TABLER_TEXT];
};

/* Before anything is opened that the child is not to have. */
int tabler_start(struct tabler *t, struct err *e);
void tabler_stop(struct tabler *t);

struct tabler_request {
	uint64_t id;
	uint64_t python, alloc; /* whether to look for an interpreter or allocator, too */
};

/* Ask for the table of the file fd, which is not taken over. False: not now, or never again. */
bool tabler_send(struct tabler *t, const struct tabler_request *r, int fd);

/*
 * The next answer, if there is one: 1, with the rows in *rows_fd if status is 0; 0 if not;
 * -EPIPE when there will be none any more.
 */
int tabler_receive(struct tabler *t, struct tabler_reply *out, int *rows_fd);
