/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * On-CPU samples: runs at each tick of a cpu-clock event, on each CPU, and sends who was running
 * and where through a ring buffer. A second program lets children inherit their parent's filter.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/unwind.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile bool filtering; /* only processes in `want` */

/*
 * Time at which the running interval ends, with the set of counters in use until then as its
 * lowest bit. One word, so that both change at once. Ticks at or past the boundary count in the
 * other set: so no tick is counted in the wrong interval however late user space wakes up.
 */
__u64 boundary;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20); /* set anew before loading */
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_cpu_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_event);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);   /* tgid */
	__type(value, __u32); /* enum want_flags */
} want SEC(".maps");

static __always_inline bool wanted(__u32 tgid)
{
	__u32 *flags = bpf_map_lookup_elem(&want, &tgid);

	return flags && *flags;
}

static __always_inline void fill_head(struct task_struct *task, __u64 now, __u64 id,
				      struct sample_event *e)
{
	struct task_struct *leader = task->group_leader;

	e->h.ktime = now;
	e->h.start_boottime = leader->start_boottime;
	e->h.cgroup_id = bpf_get_current_cgroup_id();
	e->h.tgid = id >> 32;
	e->h.tid = id;
	e->h.ppid = BPF_CORE_READ(leader, real_parent, tgid);
	e->h.cpu = bpf_get_smp_processor_id();
	e->h.flags = 0;
	bpf_core_read(&e->h.leader_comm, sizeof(e->h.leader_comm), &leader->comm);
	bpf_get_current_comm(e->h.comm, sizeof(e->h.comm));
}

SEC("perf_event")
int cpu_tick(void *ctx)
{
	__u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid(), end = boundary;
	struct sample_cpu_counts *all;
	struct sample_counts *c;
	struct task_struct *task;
	struct sample_event *e;
	__u32 zero = 0, n;

	all = bpf_map_lookup_elem(&counts, &zero);
	e = bpf_map_lookup_elem(&scratch, &zero);
	if (!all || !e)
		return 0;
	c = &all->set[(now >= end) ^ (end & 1)];
	if (!(__u32)id) {
		c->idle++;
		return 0;
	}
	if (filtering && !wanted(id >> 32)) {
		c->filtered++;
		return 0;
	}
	task = bpf_get_current_task_btf();
	fill_head(task, now, id, e);
	unwind_kernel(ctx, e);
	unwind_user(ctx, task, e);
	n = sizeof(e->h) + (e->h.nkernel + e->h.nuser) * sizeof(__u64);
	if (n > sizeof(*e)) {
		c->errors++;
		return 0;
	}
	if (bpf_ringbuf_output(&ring, e, n, BPF_RB_NO_WAKEUP))
		c->lost_ring++;
	else
		c->sent++;
	return 0;
}

/* In the parent, before the child can run: children are followed from their first instruction. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid, *flags;

	if (from == to)
		return 0;
	flags = bpf_map_lookup_elem(&want, &from);
	if (flags && *flags)
		bpf_map_update_elem(&want, &to, flags, BPF_ANY);
	else
		bpf_map_delete_elem(&want,
				    &to); /* left by an earlier process of this number */
	return 0;
}
