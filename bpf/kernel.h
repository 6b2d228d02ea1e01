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
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_RB_NO_WAKEUP = 1 << 0,
	BPF_RB_FORCE_WAKEUP = 1 << 1,
	BPF_RB_AVAIL_DATA = 0,
	BPF_RB_RING_SIZE = 1,
	BPF_F_NO_PREALLOC = 1 << 0,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1 << 0,
};

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#define PF_KTHREAD 0x00200000

#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_OR_TRACED (0x4 | 0x8)
#define TASK_DEAD_STATES (0x10 | 0x20 | 0x80)

#define REQ_OP_MASK 0xff

#define FAMILY_INET 2
#define FAMILY_INET6 10
#define MESSAGE_PEEK 2

/* As in the kernel's linux/bpf.h, times in ns. */
struct bpf_perf_event_value {
	__u64 counter, enabled, running;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	unsigned long start_stack;
};

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};
/* What pthread_self() returns; 0: not known */
#define TASK_THREAD_POINTER(task) ((task)->thread.fsbase)
#else
struct thread_struct {
	int dummy;
};
#define TASK_THREAD_POINTER(task) 0
#endif

struct task_struct {
	unsigned int flags;
	struct mm_struct *mm;
	int pid, tgid;
	struct task_struct *real_parent, *group_leader;
	__u64 start_boottime;
	char comm[16];
	struct thread_struct thread;
};

struct block_device {
	__u32 bd_dev;
};
struct bvec_iter {
	unsigned int bi_size;
};
struct bio {
	struct block_device *bi_bdev;
	__u32 bi_opf;
	struct bvec_iter bi_iter;
};

struct sock_common {
	__be16 skc_dport;
	unsigned short skc_family;
};
struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol;
};

/* The timer of a cpu-clock event, from what the kernel gives a perf_event program. */
struct hrtimer_cpu_base {
	unsigned int nr_events; /* interrupts of this CPU's high-resolution timer */
};
struct hrtimer_clock_base {
	struct hrtimer_cpu_base *cpu_base;
};
struct hrtimer {
	struct hrtimer_clock_base *base;
};
struct hw_perf_event {
	struct hrtimer hrtimer;
};
struct perf_event {
	struct hw_perf_event hw;
};
struct bpf_perf_event_data_kern {
	struct perf_event *event;
};

/*
 * Registers of a task, as its kernel stack holds them (pt_regs: moved about between versions)
 * and as a perf_event program gets them (perf_regs: fixed, begins its context).
 *
 * REGS_SYSCALL: the system call a task is in, negative when an exception or interrupt brought
 * it here. CODE_ADDRESS: a return address without the bits that sign it.
 */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, ip, sp;
	long orig_ax;
};
#define REGS_SYSCALL(r) ((r)->orig_ax)
#define REGS_PC(r) ((r)->ip)
#define REGS_SP(r) ((r)->sp)
#define REGS_FP(r) ((r)->bp)
#define REGS_LR(r) 0
#define CODE_ADDRESS(addr) (addr)
#define IS_EXECVE(nr) ((nr) == 59 || (nr) == 322)

/* mov $15, %rax; the first byte of syscall: how signal handlers return, whoever wrote them */
#define SIGRETURN_CODE 0x0f0000000fc0c748

/* Where the C library's return from a signal handler finds the saved registers, from its sp. */
#define SIGNAL_FP 120
#define SIGNAL_SP 160
#define SIGNAL_PC 168
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 sp, pc;
	__s32 syscallno;
};
#define REGS_SYSCALL(r) ((r)->syscallno)
#define REGS_PC(r) ((r)->pc)
#define REGS_SP(r) ((r)->sp)
#define REGS_FP(r) ((r)->regs[29])
#define REGS_LR(r) ((r)->regs[30])
#define CODE_ADDRESS(addr) ((addr)&0x0000ffffffffffff)
#define IS_EXECVE(nr) ((nr) == 221 || (nr) == 281)

/* mov x8, #139; svc #0 */
#define SIGRETURN_CODE 0xd4000001d2801168

#define SIGNAL_FP 544
#define SIGNAL_LR 552
#define SIGNAL_SP 560
#define SIGNAL_PC 568
#endif

#pragma clang attribute pop

/* A program's context may only be read at fixed places: no address of one is to be worked out. */
#define CONTEXT(member) (*(const volatile __u64 *)&(member))

#if defined(__TARGET_ARCH_x86)
struct perf_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	__u64 ip, cs, flags, sp, ss;
};
#define REGS_USER_MODE(r) (CONTEXT((r)->cs) & 3)
#define PERF_PC(r) CONTEXT((r)->ip)
#define PERF_SP(r) CONTEXT((r)->sp)
#define PERF_FP(r) CONTEXT((r)->bp)
#define PERF_LR(r) 0
#define PERF_ARG0(r) CONTEXT((r)->di)
#define PERF_ARG1(r) CONTEXT((r)->si)
#define PERF_ARG2(r) CONTEXT((r)->dx)
#define PERF_RESULT(r) CONTEXT((r)->ax)
#elif defined(__TARGET_ARCH_arm64)
struct perf_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};
#define REGS_USER_MODE(r) (!(CONTEXT((r)->pstate) & 15))
#define PERF_PC(r) CONTEXT((r)->pc)
#define PERF_SP(r) CONTEXT((r)->sp)
#define PERF_FP(r) CONTEXT((r)->regs[29])
#define PERF_LR(r) CONTEXT((r)->regs[30])
#define PERF_ARG0(r) CONTEXT((r)->regs[0])
#define PERF_ARG1(r) CONTEXT((r)->regs[1])
#define PERF_ARG2(r) CONTEXT((r)->regs[2])
#define PERF_RESULT(r) CONTEXT((r)->regs[0])
#endif
