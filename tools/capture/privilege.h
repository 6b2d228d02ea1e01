/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture may and may not do here, said in one line with the cure. */
#pragma once

#include "lib/base/err.h"

/* Before anything else: -EPERM names the capabilities or the PID namespace that are missing. */
int privilege_check(struct err *e);

/* Why the kernel refused the BPF programs, or an event, with errno `code`. Both return -code. */
int privilege_explain_load(int code, struct err *e);
int privilege_explain_perf(int code, struct err *e);

/*
 * Give up, for good, what a running capture does not need. Reading other processes and writing
 * the result where the user asked stay.
 */
void privilege_drop(void);
