/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `perf script` prints: for each sample a line of process, thread, time and event, then its
 * stack from the leaf, "ADDRESS NAME+OFFSET (FILE)" a line, then an empty line. Fields as in
 * tools/perf/builtin-script.c of the kernel; CPU, process id and period may be there or not.
 *
 * The profile has the types samples/count and that of the event (cpu/nanoseconds for clocks), or
 * with several events one type for each; labels comm, pid, thread_id; the time between the first
 * sample and the last as its duration. Addresses are left out: perf prints them by run or by file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* The first line that is not empty and no comment begins a sample. */
bool perfscript_sniff(const uint8_t *p, size_t n);

/* All of it as one message in `msg` (cleared first). Errors name the line. */
int perfscript_message(const uint8_t *p, size_t n, struct buf *msg, struct err *e);
