/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture may and may not do here, said in one line with the cure. */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/ui/cli.h"

/* All that are of use, as setcap(8) takes them. */
#define PRIVILEGE_CAPS                                                                   \
	"cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search,"             \
	"cap_checkpoint_restore"

/* We may load BPF programs. */
bool privilege_for_bpf(void);

/* Before anything else: -EPERM names the capabilities or the PID namespace that are missing. */
int privilege_check(struct err *e);

/* Why the kernel refused the BPF programs, or an event, with errno `code`. Both return -code. */
int privilege_explain_load(int code, struct err *e);
int privilege_explain_perf(int code, struct err *e);

/*
 * What will not be there for want of a capability that is of use: a note for each. own: nobody
 * else's processes are asked for. Returns whether kernel functions have no names.
 */
bool privilege_tell_missing(const struct cli *cli, bool own);

/*
 * Give up, for good, what a running capture does not need. Reading other processes stays; so does
 * writing wherever the user asked, if there are files to write, and putting probes into processes
 * the old way, if they are to have some.
 */
void privilege_drop(bool writes_files, bool probes);
