/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Who is sampled, and what is told of it. */
#pragma once

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>

#include "bpf/event.h"

/*
 * Who is sampled. by_pid: nobody else than who has WANT_PID. by_labels: user space decides by a
 * first sample, and again after each change.
 */
const volatile bool by_pid, by_labels;
__u32 generation; /* of decisions */
bool inherits;	  /* a child is decided on as its parent was */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32); /* tgid */
	__type(value, struct want);
} want SEC(".maps");

static __always_inline bool same_comm(const struct task_struct *leader, const char *comm)
{
	__u64 now[EVENT_COMM_LEN / sizeof(__u64)];
	const __u64 *then = (const void *)comm;

	bpf_core_read(now, sizeof(now), &leader->comm);
	return now[0] == then[0] && now[1] == then[1];
}

static __always_inline bool wanted(__u32 tgid)
{
	struct want *w = bpf_map_lookup_elem(&want, &tgid);

	if (by_pid && !(w && w->flags & WANT_PID))
		return false;
	if (!by_labels)
		return true;
	if (!w || !(w->flags & WANT_DECIDED) || w->generation != generation ||
	    w->cgroup_id != bpf_get_current_cgroup_id() ||
	    !same_comm(bpf_get_current_task_btf()->group_leader, w->comm))
		return true;
	return w->flags & WANT_KEEP;
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
