/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What user space tells the unwinder of processes: which rows hold for which addresses. Rows
 * (bpf/row.h) and mappings lie in arrays that user space maps and writes without a system call;
 * what is in use is never changed in place.
 */
#pragma once

#ifdef __bpf__
#include "bpf/kernel.h"
#else
#include <linux/types.h>
#endif

#define UNWIND_SLAB_SHIFT 20 /* rows of one slab: 8 MiB */
#define UNWIND_SLABS_MAX 64
#define UNWIND_ROW_STEPS 24	/* of a search: 2^23 rows of one file */
#define UNWIND_MAPPING_STEPS 13 /* of a search: 2^12 mappings of one process */
#define UNWIND_MAPPINGS_MAX (1 << (UNWIND_MAPPING_STEPS - 1))

enum unwind_kind {
	UNWIND_TABLE,	/* a file: rows tell */
	UNWIND_PENDING, /* a file whose rows are not there yet */
	UNWIND_REFUSED, /* a file that has none: by frame pointers */
	UNWIND_JIT,	/* code made at run time: by frame pointers */
	UNWIND_FOREIGN, /* code of another kind of machine: not at all */
};

/* Executable addresses of a process. */
struct unwind_mapping {
	__u64 start, end;
	__u32 pc;	    /* of start, as in rows */
	__u32 first, count; /* rows, counted over all slabs */
	__u32 kind;	    /* enum unwind_kind */
};

/*
 * A process: its mappings, sorted, none over another. Lies in the array of mappings itself, in
 * the room of one.
 */
struct unwind_proc {
	__u64 known_ns;	      /* what it had mapped then: CLOCK_MONOTONIC */
	__u64 known_boottime; /* the same by CLOCK_BOOTTIME: later processes are others */
	__u32 first, n;
	__u64 unused;
};

/*
 * Where to find a process: a table of words, (tgid << 32 | place in the array of mappings), 0 for
 * none, UNWIND_PROC_GONE for one that was taken out. A process is in one of the UNWIND_PROBES
 * places from its hash on. No map of the kernel's own kind, as user space can only change those by
 * system calls, which shut out all programs on their CPU, for as long as they are preempted.
 */
#define UNWIND_PROCS_SHIFT 16
#define UNWIND_PROCS (1 << UNWIND_PROCS_SHIFT)
#define UNWIND_PROBES 16
#define UNWIND_PROC_GONE 0xffffffffffffffffull

static inline __u32 unwind_proc_place(__u32 tgid, __u32 probe)
{
	return ((tgid * 2654435769u >> (32 - UNWIND_PROCS_SHIFT)) + probe) &
	       (UNWIND_PROCS - 1);
}
