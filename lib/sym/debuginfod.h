/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files by build id from debuginfod servers. The work is libdebuginfod's, which is loaded only
 * when this is asked for, and a child process's: whatever the library or a server does there, a
 * time limit holds here. The library keeps what it got, and for some minutes what no server had,
 * in a directory of its own; debuginfod-client-config(7) has its variables, which hold.
 *
 * May be asked by several threads; each thing is asked once, and when no server can be reached
 * or the time is up, nothing is asked any more.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct debuginfod;

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUGINFO };

/*
 * Starts the child: to be called while there are no threads. urls: separated by spaces.
 * limit_ns: for all requests together. Fails if the library cannot be loaded.
 */
int debuginfod_open(const char *urls, uint64_t limit_ns, struct debuginfod **out,
		    struct err *e);
void debuginfod_free(struct debuginfod *d); /* ends the child */

/*
 * The file, somewhere on disk; *path is the caller's. -ENOENT: no server has it. What is found
 * is to be checked: a server may say anything.
 */
int debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const uint8_t *id,
		    size_t n, char **path, struct err *e);
const char *debuginfod_kind_name(enum debuginfod_kind kind);

/* Why nothing is asked any more; NULL while it is. */
const char *debuginfod_trouble(const struct debuginfod *d);
