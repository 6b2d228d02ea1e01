/* SPDX-License-Identifier: Apache-2.0 */
/* The COMMAND that is captured: made first, so that its number is known, run later. */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "lib/base/err.h"

struct command {
	pid_t pid;   /* 0: none */
	int go_fd;   /* closing it lets the command run */
	int fail_fd; /* an errno comes from here if it cannot be run */
};

/*
 * Fork, and wait. `out_to_err`: its standard output is our standard error. `files`: its limit of open
 * files.
 */
int command_prepare(struct command *c, char **argv, bool out_to_err,
		    const struct rlimit *files, struct err *e);

/* Run it: -errno, with the message, if that is not possible. */
int command_run(struct command *c, const char *name, struct err *e);

/* It has ended; false if not yet. */
bool command_ended(struct command *c);

/* Our end of it, whatever state it is in; one that never ran goes away. */
void command_release(struct command *c);
