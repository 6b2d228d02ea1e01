/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The frames of CPython 3.11, which the native stack shows only as its interpreter. A thread's
 * state is found by its number, in the list that begins at _PyRuntime; from there frames are
 * linked. Offsets are those of the 64-bit builds of 3.11.x (Include/internal/pycore_runtime.h,
 * pycore_interp.h, pycore_frame.h, cpython/pystate.h); programs of other versions are not in the
 * map.
 */
#pragma once

#include "bpf/event.h"
#include "bpf/unwind.h"

#define PYTHON_THREADS_MAX 64

enum {
	RUNTIME_MAIN_INTERPRETER = 48,
	RUNTIME_CURRENT_THREAD = 576, /* who holds the interpreter's lock */
	INTERPRETER_THREADS = 16,
	THREAD_NEXT = 8 / 8, /* in words */
	THREAD_CFRAME = 56 / 8,
	THREAD_ID = 152 / 8,
	THREAD_NATIVE_ID = 160 / 8,
	THREAD_WORDS = 168 / 8,
	CFRAME_CURRENT = 8,
	FRAME_CODE = 32,
	/* in words from there */
	FRAME_PREVIOUS = (48 - FRAME_CODE) / 8,
	FRAME_INSTRUCTION = (56 - FRAME_CODE) / 8,
	FRAME_FLAGS = (64 - FRAME_CODE) / 8,
	FRAME_WORDS = FRAME_FLAGS + 1,
};
#define FRAME_IS_ENTRY(flags) ((flags) >> 32 & 0xff) /* the byte at 68 */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);   /* tgid */
	__type(value, __u64); /* where its _PyRuntime is */
} pythons SEC(".maps");

static __always_inline __u64 user_word(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

/* Frames of the thread that is sampled, behind all else in the event. */
__noinline int python_frames(void)
{
	__u64 thread[THREAD_WORDS], frame[FRAME_WORDS], runtime, at, self;
	__u32 tgid, i, to;
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_here();
	__u64 *known;

	if (!s)
		return 0;
	tgid = s->e.h.tgid;
	known = bpf_map_lookup_elem(&pythons, &tgid);
	if (!known)
		return 0;
	runtime = *known;
	self = TASK_THREAD_POINTER(task);
	at = user_word(runtime + RUNTIME_CURRENT_THREAD);
	for (i = 0; i < PYTHON_THREADS_MAX; i++) {
		if (i == 1) /* is not who holds the lock: one of the others */
			at = user_word(user_word(runtime + RUNTIME_MAIN_INTERPRETER) +
				       INTERPRETER_THREADS);
		if (at && bpf_probe_read_user(thread, sizeof(thread), (void *)at))
			return 0;
		if (at && ((self && thread[THREAD_ID] == self) ||
			   thread[THREAD_NATIVE_ID] == s->e.h.tid))
			break;
		if (!at && i > 0)
			return 0;
		if (i > 0)
			at = thread[THREAD_NEXT];
	}
	if (i == PYTHON_THREADS_MAX)
		return 0;
	at = user_word(thread[THREAD_CFRAME] + CFRAME_CURRENT);
	to = s->e.h.nkernel + s->e.h.nuser + s->e.h.ncopy / sizeof(__u64);
	for (i = 0; i < EVENT_PYTHON_MAX && at; i++, to += 2) {
		if (bpf_probe_read_user(frame, sizeof(frame), (void *)(at + FRAME_CODE)))
			break;
		/* the place is looked at, not a pointer that moves along with it */
		barrier_var(to);
		if (to > EVENT_DATA_MAX / sizeof(__u64) - 2)
			break;
		s->e.data[to] = frame[0];
		s->e.data[to + 1] = (frame[FRAME_INSTRUCTION] & ~1ull) |
				    !!FRAME_IS_ENTRY(frame[FRAME_FLAGS]);
		at = frame[FRAME_PREVIOUS];
	}
	s->e.h.npython = i;
	return 0;
}
