/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Stacks of the task that was interrupted. The kernel walks both: its own by its unwinder's
 * tables, the user's by frame pointers.
 */
#pragma once

#include "bpf/event.h"

/* Each appends its part to e and sets the count; the kernel's part comes first. */
static __always_inline void unwind_kernel(void *ctx, struct sample_event *e)
{
	int n = bpf_get_stack(ctx, e->ip, EVENT_MAX_FRAMES * sizeof(__u64), 0);

	e->h.nkernel = n > 0 ? (__u32)n / sizeof(__u64) : 0;
}

static __always_inline void unwind_user(void *ctx, struct task_struct *task,
					struct sample_event *e)
{
	__u32 at = e->h.nkernel & 127;
	int n;

	e->h.nuser = 0;
	if (task->flags & PF_KTHREAD || !task->mm) {
		e->h.flags |= EVENT_NO_USER;
		return;
	}
	if (REGS_SYSCALL((struct pt_regs *)bpf_task_pt_regs(task)) >= 0)
		e->h.flags |= EVENT_IN_SYSCALL;
	n = bpf_get_stack(ctx, &e->ip[at], EVENT_MAX_FRAMES * sizeof(__u64),
			  BPF_F_USER_STACK);
	if (n < 0)
		e->h.flags |= EVENT_USER_FAULT;
	else
		e->h.nuser = (__u32)n / sizeof(__u64);
}
