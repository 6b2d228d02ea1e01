/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Events are added up here, as there may be a million a second: by all that makes one a sample of
 * its own, its stack among it, of which a hash is the key. The first of an interval sends its
 * stack through the ring, all that follow add to a sum; see collect_sums in events.bpf.c.
 */
#pragma once

#include "bpf/event.h"
#include "bpf/python.h"
#include "bpf/unwind.h"
#include "bpf/who.h"

const volatile __u64 length_ns = 1;    /* of an interval */
const volatile bool by_thread, by_cpu; /* these tell samples apart */
__u64 first_ns, stop_ns;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20); /* set anew before loading */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set anew before loading */
	__type(key, __u32);
	__type(value, struct event_cpu_counts);
} counts SEC(".maps");

struct sum_key {
	__u64 hash, turn;
};

struct sum {
	__u64 n, value, weight;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__type(key, struct sum_key);
	__type(value, struct sum);
} sums SEC(".maps");

static __always_inline __u64 turn_of(__u64 time)
{
	return (time - first_ns) / length_ns;
}

static __always_inline struct event_cpu_counts *counts_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counts, &cpu);
}

static __always_inline struct event_counts *counts_of(struct event_cpu_counts *all,
						      __u64 now, __u32 kind)
{
	return &all->set[turn_of(now) % COUNT_SETS][kind];
}

/* User space is woken when half of the ring is full; else it looks by itself. 0, or it is full. */
static __always_inline long send(void *what, __u64 size)
{
	bool much = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
		    bpf_ringbuf_query(&ring, BPF_RB_RING_SIZE) / 2;

	return bpf_ringbuf_output(&ring, what, size,
				  much ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* --- sums ---------------------------------------------------------------------------------- */

/* False: lost. The stack is with user space. */
static __always_inline bool add_sum(__u64 hash, __u64 turn, __u64 n, __u64 value,
				    __u64 weight)
{
	struct event_sum one = {
		.hash = hash, .turn = turn, .n = n, .value = value, .weight = weight};
	struct sum_key key = {hash, turn};
	struct sum *sum = bpf_map_lookup_elem(&sums, &key), first = {n, value, weight};

	if (!sum) {
		if (!bpf_map_update_elem(&sums, &key, &first, BPF_NOEXIST))
			return true;
		sum = bpf_map_lookup_elem(&sums, &key);
	}
	if (!sum) /* full */
		return !send(&one, sizeof(one));
	__sync_fetch_and_add(&sum->n, n);
	__sync_fetch_and_add(&sum->value, value);
	if (weight)
		__sync_fetch_and_add(&sum->weight, weight);
	return true;
}

static __always_inline bool is_known(__u64 hash, __u64 turn)
{
	struct sum_key key = {hash, turn};

	return bpf_map_lookup_elem(&sums, &key);
}

/* --- stacks -------------------------------------------------------------------------------- */

static __always_inline __u64 mix(__u64 h, __u64 word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static long mix_step(__u32 i, void *ctx)
{
	struct scratch *s = scratch_here();
	__u64 *h = ctx;

	if (!s || i >= EVENT_DATA_MAX / sizeof(__u64))
		return 1;
	*h = mix(*h, s->e.data[i]);
	return 0;
}

#define NEAR_WORDS 8 /* of the stack: return addresses of small functions */

static __always_inline __u64 hash_event(const struct sample_event *e)
{
	const __u64 *comm = (const void *)e->h.leader_comm,
		    *name = (const void *)e->h.comm;
	__u64 h = mix(e->h.detail, e->h.start_boottime);
	__u32 n = e->h.nkernel + e->h.nuser + e->h.npython * 2, i;
	__u64 near[NEAR_WORDS];

	h = mix(h, (__u64)e->h.tgid << 32 | e->h.ppid);
	h = mix(h, e->h.cgroup_id);
	h = mix(h, comm[0]);
	h = mix(h, comm[1]);
	h = mix(h, (__u64)n << 32 | e->h.flags << 16 | e->h.stop);
	if (by_thread) {
		h = mix(h, e->h.tid);
		h = mix(h, name[0]);
		h = mix(h, name[1]);
	}
	if (by_cpu)
		h = mix(h, e->h.cpu);
	/* where it stopped, and what lies there, tells stacks apart whose rest is in a copy */
	if (may_go_on(&e->h)) {
		h = mix(h, e->h.next_sp);
		h = mix(h, e->h.next_lr);
		if (!bpf_probe_read_user(near, sizeof(near), (void *)e->h.next_sp))
			for (i = 0; i < NEAR_WORDS; i++)
				h = mix(h, near[i]);
	}
	bpf_loop(n, mix_step, &h, 0);
	return (h & ~(__u64)KIND_MASK) | e->h.kind;
}

/* User space is to have the stack of what is added to this interval. False: it cannot. */
static __always_inline bool send_stack(struct scratch *s)
{
	struct sample_event *e = &s->e;
	__u32 n;

	if (may_go_on(&e->h)) {
		unwind_copy(s, &ring);
		python_frames();
	}
	n = sizeof(e->h) + (e->h.nkernel + e->h.nuser) * sizeof(__u64) + e->h.ncopy +
	    e->h.npython * 2 * sizeof(__u64);
	barrier_var(n);
	if (n > sizeof(*e))
		return false;
	return !send(e, n);
}

/*
 * Who does it, and where; NULL: no room. ctx: of the program, NULL: without the kernel's part.
 * regs: as for unwind_begin().
 */
static __always_inline struct scratch *walk(void *ctx, const struct perf_regs *regs,
					    __u32 kind, __u64 detail, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_here();

	if (!s)
		return NULL;
	fill_head(task, now, bpf_get_current_pid_tgid(), &s->e);
	s->e.h.kind = kind;
	s->e.h.detail = detail;
	if (ctx)
		unwind_kernel(ctx, &s->e);
	else
		s->e.h.nkernel = 0;
	if (has_user_part(task, &s->e)) {
		unwind_begin(regs, task, s);
		unwind_loop();
		unwind_end(s);
		/* behind the copy, if there is one */
		if (!may_go_on(&s->e.h))
			python_frames();
	}
	s->e.h.hash = hash_event(&s->e);
	return s;
}

/* The same, and user space knows it when this returns. */
static __always_inline struct scratch *take_stack(void *ctx, const struct perf_regs *regs,
						  __u32 kind, __u64 detail, __u64 now)
{
	struct scratch *s = walk(ctx, regs, kind, detail, now);

	if (!s)
		return NULL;
	return is_known(s->e.h.hash, turn_of(now)) || send_stack(s) ? s : NULL;
}
