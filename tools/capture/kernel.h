/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernel code. They are looked up while capturing: addresses change at the next boot.
 * Nothing is read before the first kernel address is asked for, or kernel_load().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/pprof/model.h"
#include "lib/sym/kallsyms.h"

struct kernel_mapping {
	uint64_t start, limit;
	uint64_t shown; /* where the profile says that it starts */
	char *file;
	char *build_id;		 /* "" if there is none */
	uint32_t epoch, mapping; /* mapping id in profile number `epoch` */
};

struct kernel {
	struct kallsyms syms;
	struct kernel_mapping *mappings; /* by module number of syms */
	bool loaded;
	bool stale;  /* code was added since: look again for what has no name */
	bool hidden; /* addresses are not shown to us; `warned` by whoever says so */
	bool warned;
	bool anonymous; /* where it runs is not told: as if it ran where it was linked for */
};

void kernel_release(struct kernel *k);

/* Read them now: that takes a tenth of a second, for which not every ring has room. */
void kernel_load(struct kernel *k);

/* It is code by which the kernel calls us at an event, not what the event happened in. */
bool kernel_is_tracing(struct kernel *k, uint64_t addr);

/*
 * The location of a kernel address in the store of profile number `epoch` (from 1). `lookup` is
 * the address to find the name by: one inside the call for a return address.
 */
uint32_t kernel_location(struct kernel *k, struct store *st, uint32_t epoch,
			 uint64_t addr);
