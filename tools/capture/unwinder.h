/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the BPF unwinder knows: the rows of files in slabs, and for each process a run of
 * mappings, which processes share as they share their address space.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/row.h"
#include "bpf/unwindmap.h"
#include "lib/base/err.h"
#include "tools/capture/room.h"

struct proc;
struct space;

/* Maps of the BPF programs; the descriptors are the sampler's, -1 when there are no programs. */
struct unwind_maps {
	int procs_fd, mappings_fd, slabs_fd;
	uint32_t nmappings; /* room in the array */
};

struct unwinder {
	struct unwind_maps maps;
	struct unwind_mapping *mappings; /* mapped; NULL: no unwinding by tables */
	uint64_t *procs;		 /* mapped; see unwind_proc_place() */
	struct room mapping_room, row_room;
	struct unwind_row *rows; /* all slabs, mapped one behind another */
	size_t nslabs;
	uint64_t full; /* processes or tables that found no room */
};

struct unwind_run {
	struct unwinder *owner;
	uint32_t first, n;
};

int unwinder_init(struct unwinder *u, const struct unwind_maps *maps, struct err *e);
void unwinder_release(struct unwinder *u);

/* Room for n rows, which lie at their numbers in the slabs. False: there is none. */
bool unwinder_take_rows(struct unwinder *u, uint32_t n, uint32_t *first);
void unwinder_give_rows(struct unwinder *u, uint32_t first, uint32_t n);

/*
 * Tell the programs which code p has: what is known of it up to known_ns. Tables of its files
 * are asked for before; to tell it again takes in those that were not there.
 */
void unwinder_tell(struct unwinder *u, struct proc *p, uint64_t known_ns);
void unwinder_forget(struct unwinder *u, uint32_t tgid);

void unwind_run_put(struct unwind_run *r); /* NULL is fine */
