/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the programs on allocators (alloc.bpf.c) and prof-capture tell each other. */
#pragma once

#ifdef __bpf__
#include "bpf/kernel.h"
#else
#include <linux/types.h>
#endif

/* What a function of an allocator does, by where its arguments have the size. */
enum alloc_op {
	ALLOC_NOTHING, /* to measure what a call costs */
	ALLOC_SIZE0,   /* malloc(size) */
	ALLOC_SIZE1,   /* aligned_alloc(alignment, size) */
	ALLOC_SIZE2,   /* posix_memalign(&to, alignment, size) */
	ALLOC_PRODUCT, /* calloc(n, size) */
	ALLOC_AGAIN,   /* realloc(old, size) */
	ALLOC_FREE,    /* free(old) */
};

#define ALLOC_FUNCTIONS_MAX 48 /* of one file */
#define ALLOC_FILES_MAX 1024

/* The functions of one file, as its symbols have them. */
struct alloc_functions {
	__u32 n;
	struct {
		__u64 start, size;
	} v[ALLOC_FUNCTIONS_MAX];
};

/*
 * A program's cookie: what the function does, which one of its file it is, which file, and how
 * many ns the trap takes.
 */
#define ALLOC_COOKIE(op, function, file, trap_ns)                                        \
	((__u64)(op) | (__u64)(function) << 8 | (__u64)(file) << 16 |                    \
	 (__u64)(trap_ns) << 32)
#define ALLOC_COOKIE_OP(c) ((c)&0xff)
#define ALLOC_COOKIE_FUNCTION(c) ((c) >> 8 & 0xff)
#define ALLOC_COOKIE_FILE(c) ((c) >> 16 & 0xffff)
#define ALLOC_COOKIE_TRAP(c) ((c) >> 32)

/* The trap's price depends on the instruction that it is put on: whether the kernel can act it. */
enum alloc_start { ALLOC_START_PUSH, ALLOC_START_MARK, ALLOC_START_OTHER, ALLOC_STARTS };

/* What forget_live gets: the process whose blocks are no more. */
struct alloc_forget {
	__u64 tgid;
};

#define WEIGHT_BITS 16
#define WEIGHT_ONE (1ull << WEIGHT_BITS)

/*
 * Functions in steps of 1/ALLOC_STEPS, in WEIGHT_ONE: log2(1 + x) for 0 <= x <= 1, and
 * x / (1 - exp(-x)) for 0 <= x <= ALLOC_SCALE_END, which is x beyond.
 */
#define ALLOC_STEPS 256
#define ALLOC_SCALE_END 16

/* Of one CPU. */
struct alloc_cpu {
	__s64 left; /* bytes up to the next sample */
	__u64 calls,
		cost_ns; /* all, also while nothing is recorded; traps and programs */
} __attribute__((aligned(64)));
