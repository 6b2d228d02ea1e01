/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations: which allocators the processes have that are named, and uprobes on their functions
 * (bpf/alloc.bpf.c), each bound to a process. What a call costs is measured, and a process that
 * would do little else is left alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/ui/cli.h"
#include "tools/capture/procs.h"

struct bpf_program;
struct cpu_bpf;
struct events_bpf;
struct events_conf;
struct heap;

struct heap_conf {
	const struct events_conf *events;
	const struct events_bpf *with; /* whose sums these are */
	const struct cli *cli;	       /* for notes */
	uint64_t sample_bytes;
	bool force;
	bool nothing_runs; /* yet: a command is to be started */
};

bool heap_is_possible(void); /* the kernel has uprobes */
bool heap_needs_admin(
	const struct heap *h); /* to hang on to processes: before Linux 6.12 */

int heap_open(const struct heap_conf *conf, struct heap **out, struct err *e);
void heap_free(struct heap *h); /* NULL is fine */

/* As those of events. */
void heap_start(struct heap *h, uint64_t first_ns, uint64_t stop_ns);
void heap_stop(struct heap *h, uint64_t stop_ns);
void heap_decide_anew(struct heap *h, bool inherits);

/* Hang on to the allocators that named processes have mapped since. */
void heap_update(struct heap *h, struct procs *ps);
void heap_gone(struct heap *h, uint32_t tgid);

/*
 * Before it begins: tell what it costs those who run already. -EBUSY: too much, and force was not
 * said.
 */
int heap_try(struct heap *h, struct err *e);

/* When all is over: what it cost, if there was no time to tell. */
void heap_end(struct heap *h);

/*
 * To be run at the end of an interval: it sends what is in use. Who has ended uses nothing; of
 * who is left alone it is not known.
 */
const struct bpf_program *heap_collector(struct heap *h);

/* Now and then: leave them alone once it is too much. */
void heap_check(struct heap *h, uint64_t now_ns);
