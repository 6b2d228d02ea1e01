/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each CPU has been idle, as the kernel accounts it: /proc/stat, columns idle and
 * iowait. It is known to a hundredth of a second and grows also while the CPU sleeps.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Idle ns since boot by CPU number, 0 for CPUs that are not there: 0 or negative errno. */
int idletime_read(uint64_t *ns, size_t ncpus);

/* The same from the text of the file. */
void idletime_parse(const char *text, long ticks_per_s, uint64_t *ns, size_t ncpus);
