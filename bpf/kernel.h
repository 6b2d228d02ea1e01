/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The few kernel types and constants that our BPF programs use, written by hand. Structs keep
 * only the members we read; where those lie is fixed up when the program is loaded (CO-RE).
 */
#pragma once

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed short __s16;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_MMAPABLE = 1 << 10,
};

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#define PF_KTHREAD 0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	int dummy;
};

struct task_struct {
	unsigned int flags;
	struct mm_struct *mm;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	__u64 start_boottime;
	char comm[16];
};

/* The system call a task is in: negative when an exception or interrupt brought it here. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	long orig_ax;
};
#define REGS_SYSCALL(regs) ((regs)->orig_ax)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__s32 syscallno;
};
#define REGS_SYSCALL(regs) ((regs)->syscallno)
#endif

#pragma clang attribute pop
