/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What BPF programs and prof-capture tell each other. Everything a label needs that may be gone
 * later travels with the sample.
 */
#pragma once

#ifdef __bpf__
#include "bpf/kernel.h"
#else
#include <linux/types.h>
#endif

#define EVENT_COMM_LEN 16
#define EVENT_KERNEL_MAX 127 /* frames; perf_event_max_stack may be less */
#define EVENT_USER_MAX 512
#define EVENT_COPY_MAX (16 << 10) /* bytes of a stack */
#define EVENT_COPY_PIECE 1024	  /* never over the end of a page */
#define EVENT_PYTHON_MAX 128	  /* frames of an interpreter */
#define EVENT_DATA_MAX                                                                   \
	((EVENT_KERNEL_MAX + EVENT_USER_MAX + 1 + 2 * EVENT_PYTHON_MAX) *                \
		 sizeof(__u64) +                                                         \
	 EVENT_COPY_MAX)

enum event_flags {
	EVENT_IN_SYSCALL =
		1 << 0,		/* the user's leaf is the instruction after its syscall */
	EVENT_NO_USER = 1 << 1, /* a kernel thread, or a task whose memory is gone */
	EVENT_BY_FP = 1 << 2,	/* the kernel followed frame pointers, not we tables */
	EVENT_LEAF =
		1 << 3, /* next_* are of the leaf or of a frame that a signal stopped */
	EVENT_HAS_FP = 1 << 4, /* next_fp is what the frame has */
	EVENT_HAS_LR = 1 << 5, /* next_lr is */
	EVENT_IN_EXEC =
		1 << 6, /* the program may be gone, and the next one not yet there */
};

/* Why the user's part of a stack ends where it does. */
enum unwind_stop {
	STOP_COMPLETE,
	STOP_DEPTH,	  /* too many frames */
	STOP_NO_PROCESS,  /* not known yet which code it has */
	STOP_NO_MAPPING,  /* no code known there */
	STOP_NO_TABLE,	  /* the file's table is not there yet */
	STOP_NO_ROW,	  /* no rule for that address, nor a frame pointer */
	STOP_JIT,	  /* the same in code made at run time */
	STOP_UNSUPPORTED, /* a rule that rows cannot hold */
	STOP_FAULT,	  /* the stack cannot be read there */
	STOP_FOREIGN,	  /* code of another kind of machine (32 bits) */
	STOP_COPY_END,	  /* user space only: it goes on behind what was copied */
	STOP_CAUSES,
};

/* What a sample is of: each is a profile type. */
enum event_kind {
	KIND_CPU,
	KIND_OFFCPU,
	KIND_FAULTS,
	KIND_BLOCK,
	KIND_NET,
	KIND_ALLOC,
	KIND_WALL, /* no event: made of those of KIND_CPU and KIND_OFFCPU */
	KINDS,
};
#define KIND_MASK 7 /* of a hash */

/*
 * A user address that is not a return address: that of the leaf, of a signal frame's code and of
 * what the signal interrupted. The kernel's frames have no such mark, nor has EVENT_BY_FP.
 */
#define EVENT_EXACT (1ull << 63)

/*
 * Followed in the ring by nkernel, then nuser addresses, each leaf first, then by ncopy bytes
 * of the user's stack: from next_sp, rounded down to EVENT_COPY_PIECE, on; then by npython pairs,
 * leaf first: a code object's address, and the instruction's, whose lowest bit says that native
 * code called this frame.
 */
struct sample_head {
	__u64 ktime;	      /* CLOCK_MONOTONIC, ns */
	__u64 start_boottime; /* of the thread-group leader, CLOCK_BOOTTIME, ns; 0: not known */
	__u64 cgroup_id; /* in the v2 hierarchy */
	__u32 tgid, tid, ppid;
	__u32 cpu;
	__u16 nkernel, nuser, ncopy;
	__u8 stop;			  /* enum unwind_stop */
	__u8 flags;			  /* enum event_flags */
	char leader_comm[EVENT_COMM_LEN]; /* of the thread-group leader */
	char comm[EVENT_COMM_LEN];	  /* of the thread */
	/* The frame that stopped, the last one sent (not after STOP_DEPTH: then its caller's). */
	__u64 next_pc, next_sp, next_fp, next_lr;
	__u64 known_ns;	   /* its mappings were those of then; 0: not known */
	__u64 start_stack; /* sp of the program's first instruction; 0: not known */
	__u32 npython;
	__u32 kind;   /* enum event_kind */
	__u64 detail; /* what else is told of the event, see below; 0 of KIND_CPU */
	__u64 hash; /* of all that makes it another sample, kind in KIND_MASK; not of KIND_CPU */
};

struct sample_event {
	struct sample_head h;
	__u64 data[EVENT_DATA_MAX / sizeof(__u64)];
};

/* Each interval counts in a set of its own, by turns, so user space may be late by so many. */
#define COUNT_SETS 64

/* Where the ticks of one CPU went. Never reset. */
struct sample_counts {
	__u64 sent, filtered, lost_ring, errors; /* of the sampler */
	__u64 run_ns;				 /* that the sampler took */
	__u64 idle, lost_timer, lost_recursion;	 /* of the clock */
};

/* `detail` of KIND_OFFCPU: how the thread left its CPU. */
enum wait_state {
	WAIT_PREEMPTED, /* it could have run on */
	WAIT_SLEEPING,
	WAIT_UNINTERRUPTIBLE,
	WAIT_STOPPED, /* by a signal or a debugger */
};

/* `detail` of KIND_FAULTS: whether it had to be read in. */
enum fault_class {
	FAULT_MINOR,
	FAULT_MAJOR,
};

/* `detail` of KIND_BLOCK: the operation (REQ_OP_*) << 32 | device (dev_t as in the kernel). */
#define BLOCK_DETAIL(op, dev) ((__u64)(op) << 32 | (dev))

/* `detail` of KIND_NET: sends << 48 | address family << 32 | protocol << 16 | remote port. */
#define NET_DETAIL(sends, family, protocol, port)                                        \
	((__u64)(sends) << 48 | (__u64)(family) << 32 | (__u64)(protocol) << 16 | (port))

/*
 * What events of one hash came to in one interval: sent when that is over, and where there is no
 * room to add them up, for each event. The stack went before, when the first of them was seen.
 */
struct event_sum {
	__u64 hash;
	__u64 turn; /* the interval, from 0 */
	__u64 n, value;
	__u64 weight; /* of KIND_ALLOC: how many they stand for, in WEIGHT_ONE; value the same */
	__u64 what; /* enum event_sum_kind */
};

enum event_sum_kind {
	SUM_OF_EVENTS,
	SUM_ASLEEP, /* none of this, but that a thread waits there at the interval's end */
	SUM_LIVE,   /* value and weight are of blocks that were not freed by then */
};

/* Where the events of one kind and CPU went. Never reset. */
struct event_counts {
	__u64 seen, filtered;
	__u64 brief; /* waits shorter than asked for */
	__u64 lost_ring, lost_map;
	__u64 lost_nested;  /* came while another was looked at */
	__u64 lost_live;    /* of KIND_ALLOC: recorded, but not whether they are freed */
	__u64 calls, bytes; /* of KIND_ALLOC: all, of which those seen are a sample */
	__u64 run_ns;
};

struct event_cpu_counts {
	struct event_counts set[COUNT_SETS][KINDS];
	__u64 busy; /* an event is being looked at */
} __attribute__((aligned(64)));

/* What collect_asleep and collect_sums get. */
struct event_collect {
	__u64 turn;   /* the interval that is over */
	__u64 end_ns; /* when it was */
};

/* This many ticks in a row without work, and the kernel may stop the clock until there is some. */
#define IDLE_RUN_LONG 32

/*
 * How long one CPU had nothing to run, ns. The sum goes on from interval to interval; `upto`
 * keeps what it was when an interval ended. Written by that CPU alone.
 */
struct idle_time {
	__u64 turn;  /* the interval of the last switch to or from idle, from 0 */
	__u64 sum;   /* of what is over, since the first interval began */
	__u64 since; /* idle from then on, also if that was before; 0: is not */
	__u64 upto
		[COUNT_SETS]; /* for each interval before `turn`, at its number % COUNT_SETS */
};

/* Idle up to `end`, which is not before the last switch. */
static inline __u64 idle_upto(const struct idle_time *idle, __u64 first, __u64 end)
{
	__u64 since = idle->since;

	if (!since || since >= end)
		return idle->sum;
	return idle->sum + end - (since > first ? since : first);
}

struct sample_cpu_counts {
	struct sample_counts set[COUNT_SETS];
	struct idle_time idle;
	__u64 due; /* when the next tick of the clock should come; 0: before the first */
	__u64 interrupts; /* of the timer, up to the last tick of the clock */
	__u64 idle_run;	  /* ticks in a row up to now that found the CPU idle */
} __attribute__((aligned(64)));

/* What is known of whether to sample a process: the value of a tgid in the map `want`. */
struct want {
	__u32 flags;		   /* enum want_flags */
	__u32 generation;	   /* of the rules that decided */
	__u64 cgroup_id;	   /* the process's when it was decided on */
	char comm[EVENT_COMM_LEN]; /* likewise */
};

enum want_flags {
	WANT_PID = 1 << 0,     /* named by number, or a child of one: stays so */
	WANT_DECIDED = 1 << 1, /* by labels, for as long as name and group stay */
	WANT_KEEP = 1 << 2,    /* and the decision was yes */
};

/*
 * What the program change_want gets: of the flags of a process those in `keep` stay, and those in
 * `set` come. With WANT_DECIDED in `set` also what was decided on.
 */
struct want_change {
	__u64 tgid, keep, set;
	__u64 cgroup_id;
	char comm[EVENT_COMM_LEN];
};

/* What change_python gets. */
struct python_change {
	__u64 tgid;
	__u64 runtime; /* 0: has no interpreter */
};
