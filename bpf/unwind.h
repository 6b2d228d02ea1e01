/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Stacks of the task that was interrupted. The kernel walks its own; the user's is walked here,
 * by the rows that user space made of the files' call frame information (bpf/row.h), and by
 * frame pointers where there are none.
 *
 * unwind_step() and the two searches are global functions: the verifier looks at each once, by
 * itself, however often it is called. What they work on is in per-CPU memory.
 */
#pragma once

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>

#include "bpf/event.h"
#include "bpf/row.h"
#include "bpf/unwindmap.h"

#define FP_REACH (1 << 20) /* bytes that a frame may be above the one it called */
#define COPIES_NS 1000000000ull
#define COPIES_MAX 50 /* of each process and kind in COPIES_NS */

struct unwind_state {
	__u64 pc, sp, fp, lr; /* of the frame that is looked at */
	__u64 start, end;     /* the mapping that was found last */
	__u32 map_pc, first, count, kind;
	__u32 run_first, run_n; /* the process's mappings */
	__u32 at;		/* where its frames begin in the event */
	__u32 n;		/* frames so far */
	__u32 part;		/* of the tail calls */
	__u8 exact;		/* pc is where it was interrupted, not behind a call */
	__u8 has_fp, has_lr;
};

struct scratch {
	struct sample_event e;
	struct unwind_state u;
};

struct copies {
	__u64 from_ns;
	__u32 n;
};

#ifdef SCRATCH_BY_TASK
/* For programs that may be preempted: the next one of their kind works on its own. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scratch);
} scratch SEC(".maps");

static __always_inline struct scratch *scratch_here(void)
{
	return bpf_task_storage_get(&scratch, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}
#else
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

static __always_inline struct scratch *scratch_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch, &zero);
}
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_PROCS);
	__type(key, __u32); /* see unwind_proc_place() */
	__type(value, __u64);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set anew before loading */
	__type(key, __u32);
	__type(value, struct unwind_mapping);
} mappings SEC(".maps");

struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << UNWIND_SLAB_SHIFT);
	/* by size: libbpf finds no type that is only pointed to */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_row));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SLABS_MAX);
	__type(key, __u32);
	__array(values, struct slab);
} slabs SEC(".maps");

/* How many copies of its stacks a process has had of late, by kind of event. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* tgid * KINDS + kind */
	__type(value, struct copies);
} copied SEC(".maps");

/* --- searches ------------------------------------------------------------------------------ */

static __always_inline const struct unwind_row *row_at(__u32 index)
{
	__u32 slab = index >> UNWIND_SLAB_SHIFT;
	__u32 at = index & ((1 << UNWIND_SLAB_SHIFT) - 1);
	void *rows = bpf_map_lookup_elem(&slabs, &slab);

	return rows ? bpf_map_lookup_elem(rows, &at) : NULL;
}

/* The row for pc among `count` from `first` on: its index, or -1. */
__noinline int find_row(__u32 pc, __u32 first, __u32 count)
{
	__u32 low = first, high = first + count, middle, at, i;
	__u32 slab = 0, known = UNWIND_SLABS_MAX;
	const struct unwind_row *row;
	void *rows = NULL;

	for (i = 0; i < UNWIND_ROW_STEPS && low < high; i++) {
		middle = low + ((high - low) >> 1);
		slab = middle >> UNWIND_SLAB_SHIFT;
		/* nearly always the same one */
		if (slab != known) {
			rows = bpf_map_lookup_elem(&slabs, &slab);
			known = slab;
		}
		if (!rows)
			return -1;
		at = middle & ((1 << UNWIND_SLAB_SHIFT) - 1);
		row = bpf_map_lookup_elem(rows, &at);
		if (!row)
			return -1;
		if (row->pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? (int)(low - 1) : -1;
}

/* The mapping that holds addr among n from `first` on: its index, or -1. */
__noinline int find_mapping(__u64 addr, __u32 first, __u32 n)
{
	__u32 low = first, high = first + n, middle, i;
	const struct unwind_mapping *m;

	for (i = 0; i < UNWIND_MAPPING_STEPS && low < high; i++) {
		middle = low + ((high - low) >> 1);
		m = bpf_map_lookup_elem(&mappings, &middle);
		if (!m)
			return -1;
		if (m->end <= addr)
			low = middle + 1;
		else if (m->start > addr)
			high = middle;
		else
			return (int)middle;
	}
	return -1;
}

/* The place of a process among the mappings: -1 if nothing is known of it. */
__noinline int find_proc(__u32 tgid)
{
	__u32 i, place;
	__u64 *word;

	for (i = 0; i < UNWIND_PROBES; i++) {
		place = unwind_proc_place(tgid, i);
		word = bpf_map_lookup_elem(&procs, &place);
		if (!word || !*word)
			return -1;
		if (*word >> 32 == tgid)
			return (int)*word;
	}
	return -1;
}

/* --- one frame ----------------------------------------------------------------------------- */

static __always_inline bool read_word(__u64 addr, __u64 *out)
{
	return !bpf_probe_read_user(out, sizeof(*out), (const void *)addr);
}

/* The caller is at pc with these: go on with it, unless there is none. */
static __always_inline int to_caller(struct unwind_state *u, __u64 pc, __u64 sp)
{
	pc = CODE_ADDRESS(pc);
	if (!pc)
		return STOP_COMPLETE;
	u->pc = pc;
	u->sp = sp;
	u->exact = 0;
	u->has_lr = 0;
	return -1;
}

/* A frame that the kernel made to run a signal's handler: all registers are in it. */
static __always_inline int by_signal_frame(struct unwind_state *u)
{
	__u64 pc, sp, fp;

	if (!read_word(u->sp + SIGNAL_PC, &pc) || !read_word(u->sp + SIGNAL_SP, &sp) ||
	    !read_word(u->sp + SIGNAL_FP, &fp))
		return STOP_FAULT;
#ifdef SIGNAL_LR
	if (!read_word(u->sp + SIGNAL_LR, &u->lr))
		return STOP_FAULT;
#endif
	u->pc = pc;
	u->sp = sp;
	u->fp = fp;
	u->exact = u->has_fp = u->has_lr = 1;
	return -1;
}

/*
 * Where no rule is: the frame pointer may point to the caller's and the return address. Far
 * away, as when a program changes stacks, that is believed if the address is one of code.
 */
static __always_inline int by_frame_pointer(struct unwind_state *u)
{
	int otherwise = u->kind == UNWIND_JIT ? STOP_JIT : STOP_NO_ROW;
	__u64 fp, pc, code;

	if (!u->exact && read_word(u->pc, &code) && code == SIGRETURN_CODE)
		return by_signal_frame(u);
	if (!u->has_fp || u->fp & 7)
		return otherwise;
	if (!u->fp)
		return u->n > 1 ? STOP_COMPLETE : otherwise;
	if (!read_word(u->fp, &fp) || !read_word(u->fp + 8, &pc))
		return otherwise;
	if ((u->fp < u->sp || u->fp - u->sp > FP_REACH) &&
	    find_mapping(CODE_ADDRESS(pc) - 1, u->run_first, u->run_n) < 0)
		return pc ? otherwise : STOP_COMPLETE;
	otherwise = to_caller(u, pc, u->fp + 16);
	u->fp = fp;
	return otherwise;
}

static __always_inline int find_cfa(const struct unwind_state *u, __u32 rule, __s64 cfa,
				    __s64 fp, __u64 *out)
{
	switch (rule) {
	case UNWIND_SP:
		*out = u->sp + cfa * 8;
		return -1;
	case UNWIND_PLT:
		*out = u->sp + cfa * 8 + ((__s64)(u->pc & 15) >= fp ? 8 : 0);
		return -1;
	case UNWIND_DEREF_SP:
		if (!read_word(u->sp + (cfa >> 4) * 8, out))
			return STOP_FAULT;
		*out += (cfa & 15) * 8;
		return -1;
	}
	if (!u->has_fp)
		return STOP_UNSUPPORTED;
	if (rule == UNWIND_FP) {
		*out = u->fp + cfa * 8;
		return -1;
	}
	if (!read_word(u->fp + (cfa >> 4) * 8, out))
		return STOP_FAULT;
	*out += (cfa & 15) * 8;
	return -1;
}

#if defined(__TARGET_ARCH_x86)
/* The return address is always below the CFA. */
static __always_inline int by_saved(struct unwind_state *u, __u32 saved, __u64 at,
				    __u64 cfa)
{
	__u64 pc, fp;

	if (!read_word(cfa - 8, &pc))
		return STOP_FAULT;
	if (saved == UNWIND_FP_AT_CFA || saved == UNWIND_FP_AT_BASE) {
		if (!read_word(at, &fp))
			return STOP_FAULT;
		u->fp = fp;
		u->has_fp = 1;
	} else if (saved == UNWIND_FP_UNDEFINED) {
		u->has_fp = 0;
	} else if (saved != UNWIND_FP_SAME) {
		return STOP_UNSUPPORTED;
	}
	return to_caller(u, pc, cfa);
}
#else
/* The return address is saved with the frame pointer, or alone, or still in its register. */
static __always_inline int by_saved(struct unwind_state *u, __u32 saved, __u64 at,
				    __u64 cfa)
{
	__u64 pc = u->lr, fp;

	if (saved == UNWIND_FP_AT_CFA || saved == UNWIND_FP_AT_BASE) {
		if (!read_word(at, &fp) || !read_word(at + 8, &pc))
			return STOP_FAULT;
		u->fp = fp;
		u->has_fp = 1;
	} else if (saved == UNWIND_RA_AT_CFA || saved == UNWIND_RA_AT_BASE) {
		if (!read_word(at, &pc))
			return STOP_FAULT;
	} else {
		if (!u->has_lr)
			return STOP_UNSUPPORTED;
		if (saved == UNWIND_FP_UNDEFINED)
			u->has_fp = 0;
	}
	return to_caller(u, pc, cfa);
}
#endif

static __always_inline int by_row(struct unwind_state *u, __u32 index)
{
	const struct unwind_row *row = row_at(index);
	__u32 rule, saved;
	__u64 cfa = 0, at;
	__s64 fp;
	int r;

	if (!row)
		return by_frame_pointer(u);
	rule = row->rule & 15;
	saved = row->rule >> 4;
	fp = row->fp;
	switch (rule) {
	case UNWIND_NONE:
		return by_frame_pointer(u);
	case UNWIND_END:
		return STOP_COMPLETE;
	case UNWIND_SIGNAL:
		return by_signal_frame(u);
	}
	if (rule == UNWIND_UNSUPPORTED || rule > UNWIND_DEREF_FP)
		return STOP_UNSUPPORTED;
	r = find_cfa(u, rule, row->cfa, fp, &cfa);
	if (r >= 0)
		return r;
	if (rule == UNWIND_PLT)
		return by_saved(u, UNWIND_FP_SAME, 0, cfa);
	at = cfa;
	if (saved == UNWIND_FP_AT_BASE || saved == UNWIND_RA_AT_BASE)
		at = rule == UNWIND_SP || rule == UNWIND_DEREF_SP ? u->sp : u->fp;
	return by_saved(u, saved, at + fp * 8, cfa);
}

/* Make the mapping of addr the one that is known. */
static __always_inline bool enter_mapping(struct unwind_state *u, __u64 addr)
{
	const struct unwind_mapping *m;
	__u32 index;
	int found;

	if (addr >= u->start && addr < u->end)
		return true;
	found = find_mapping(addr, u->run_first, u->run_n);
	if (found < 0)
		return false;
	index = found;
	m = bpf_map_lookup_elem(&mappings, &index);
	if (!m)
		return false;
	u->start = m->start;
	u->end = m->end;
	u->map_pc = m->pc;
	u->first = m->first;
	u->count = m->count;
	u->kind = m->kind;
	return true;
}

/* Go to the caller: -1, or enum unwind_stop. */
static __always_inline int to_next(struct unwind_state *u)
{
	__u64 addr = u->pc - !u->exact;
	int found;

	if (!u->run_n)
		return STOP_NO_PROCESS;
	if (!enter_mapping(u, addr))
		return STOP_NO_MAPPING;
	switch (u->kind) {
	case UNWIND_TABLE:
		found = find_row(addr - u->start + u->map_pc, u->first, u->count);
		return found < 0 ? by_frame_pointer(u) : by_row(u, found);
	case UNWIND_PENDING:
		return STOP_NO_TABLE;
	case UNWIND_FOREIGN:
		return STOP_FOREIGN;
	}
	return by_frame_pointer(u);
}

/* Take the frame down and go on. */
static __always_inline int frame(struct scratch *s)
{
	struct unwind_state *u = &s->u;
	__u32 to = u->at + u->n;
	int r;

	if (u->n >= EVENT_USER_MAX || to >= EVENT_KERNEL_MAX + EVENT_USER_MAX)
		return STOP_DEPTH;
	s->e.data[to] = u->exact ? u->pc | EVENT_EXACT : u->pc;
	u->n++;
	r = to_next(u);
	/* that was a signal's frame, whose code nobody called */
	if (r < 0 && u->exact)
		s->e.data[to] |= EVENT_EXACT;
	return r;
}

/* One frame more: 0, or 1 when that was the last. */
__noinline int unwind_step(void)
{
	struct scratch *s = scratch_here();
	int r;

	if (!s)
		return 1;
	r = frame(s);
	if (r < 0)
		return 0;
	s->e.h.stop = r;
	return 1;
}

/* All frames: needs bpf_loop() of Linux 5.17. */
static long loop_step(__u32 i, void *ctx)
{
	if (unwind_step())
		return 1;
	return 0;
}

static __always_inline void unwind_loop(void)
{
	bpf_loop(EVENT_USER_MAX + 1, loop_step, NULL, 0);
}

/* --- begin and end ------------------------------------------------------------------------- */

static __always_inline void unwind_kernel(void *ctx, struct sample_event *e)
{
	int n = bpf_get_stack(ctx, e->data, EVENT_KERNEL_MAX * sizeof(__u64), 0);

	e->h.nkernel = n > 0 ? (__u32)n / sizeof(__u64) : 0;
}

/* False: a task without a program. */
static __always_inline bool has_user_part(struct task_struct *task,
					  struct sample_event *e)
{
	long syscall;

	e->h.nuser = e->h.ncopy = 0;
	e->h.stop = STOP_COMPLETE;
	e->h.next_pc = e->h.known_ns = e->h.start_stack = 0;
	e->h.npython = 0;
	if (task->flags & PF_KTHREAD || !task->mm) {
		e->h.flags |= EVENT_NO_USER;
		return false;
	}
	syscall = REGS_SYSCALL((struct pt_regs *)bpf_task_pt_regs(task));
	if (syscall >= 0)
		e->h.flags |= EVENT_IN_SYSCALL;
	if (IS_EXECVE(syscall))
		e->h.flags |= EVENT_IN_EXEC;
	return true;
}

/* Where the task will go on in its program. */
static __always_inline void unwind_from_entry(struct task_struct *task,
					      struct unwind_state *u)
{
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);

	u->pc = REGS_PC(user);
	u->sp = REGS_SP(user);
	u->fp = REGS_FP(user);
	u->lr = REGS_LR(user);
}

/* regs: where it was interrupted; NULL: it called the kernel. */
static __always_inline void unwind_begin(const struct perf_regs *regs,
					 struct task_struct *task, struct scratch *s)
{
	struct unwind_state *u = &s->u;
	const struct unwind_proc *p = NULL;
	int found = find_proc(s->e.h.tgid);
	__u32 place = found;

	if (found >= 0)
		p = bpf_map_lookup_elem(&mappings, &place);
	u->at = s->e.h.nkernel;
	u->n = u->part = u->run_first = u->run_n = 0;
	u->start = u->end = 0;
	u->exact = u->has_fp = u->has_lr = 1;
	/* an entry from before the process began is that of another one with its number */
	if (p && s->e.h.start_boottime <= p->known_boottime) {
		u->run_first = p->first;
		u->run_n = p->n;
		s->e.h.known_ns = p->known_ns;
	}
	if (regs && REGS_USER_MODE(regs)) {
		u->pc = PERF_PC(regs);
		u->sp = PERF_SP(regs);
		u->fp = PERF_FP(regs);
		u->lr = PERF_LR(regs);
	} else {
		unwind_from_entry(task, u);
	}
}

/* A process's share of copies is not used up. */
static __always_inline bool may_copy(__u32 tgid, __u32 kind, __u64 now)
{
	__u32 key = tgid * KINDS + kind;
	struct copies *c = bpf_map_lookup_elem(&copied, &key), first = {now, 1};

	if (!c)
		return !bpf_map_update_elem(&copied, &key, &first, BPF_ANY);
	if (now - c->from_ns >= COPIES_NS) {
		c->from_ns = now;
		c->n = 0;
	}
	return c->n++ < COPIES_MAX;
}

/* What no rule is known of yet can still be unwound later, if the stack is kept. */
static __always_inline void copy_stack(struct scratch *s, __u32 at)
{
	__u64 from = s->u.sp & ~(__u64)(EVENT_COPY_PIECE - 1);
	__u32 n, i;

	for (i = 0; i < EVENT_COPY_MAX / EVENT_COPY_PIECE; i++) {
		n = at * sizeof(__u64) + i * EVENT_COPY_PIECE;
		barrier_var(n); /* or the check could be made on something else */
		if (n > EVENT_DATA_MAX - EVENT_COPY_PIECE)
			break;
		if (bpf_probe_read_user((char *)s->e.data + n, EVENT_COPY_PIECE,
					(const void *)(from + i * EVENT_COPY_PIECE)))
			break;
	}
	s->e.h.ncopy = i * EVENT_COPY_PIECE;
}

/* What user space needs to go on where this ended. */
static __always_inline void unwind_end(struct scratch *s)
{
	struct unwind_state *u = &s->u;
	struct sample_head *h = &s->e.h;

	h->nuser = u->n;
	if (h->stop == STOP_COMPLETE)
		return;
	h->start_stack = BPF_CORE_READ(bpf_get_current_task_btf(), mm, start_stack);
	h->next_pc = u->pc;
	h->next_sp = u->sp;
	h->next_fp = u->fp;
	h->next_lr = u->lr;
	h->flags |= (u->exact ? EVENT_LEAF : 0) | (u->has_fp ? EVENT_HAS_FP : 0) |
		    (u->has_lr ? EVENT_HAS_LR : 0);
}

/* It ended for want of knowledge, which may come. */
static __always_inline bool may_go_on(const struct sample_head *h)
{
	return h->stop == STOP_NO_PROCESS || h->stop == STOP_NO_MAPPING ||
	       h->stop == STOP_NO_TABLE;
}

/* Keep the rest of the stack, if it is of use and there is room for that. */
static __always_inline void unwind_copy(struct scratch *s, void *ring)
{
	struct unwind_state *u = &s->u;
	struct sample_head *h = &s->e.h;

	if (may_go_on(h) &&
	    bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) <
		    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2 &&
	    may_copy(h->tgid, h->kind, h->ktime))
		copy_stack(s, u->at + u->n);
}

/* The last resort: the kernel follows frame pointers. */
static __always_inline void unwind_by_fp(void *ctx, struct sample_event *e)
{
	__u32 at = e->h.nkernel & 127;
	int n = bpf_get_stack(ctx, &e->data[at], EVENT_KERNEL_MAX * sizeof(__u64),
			      BPF_F_USER_STACK);

	e->h.flags |= EVENT_BY_FP;
	if (n < 0)
		e->h.stop = STOP_FAULT;
	else
		e->h.nuser = (__u32)n / sizeof(__u64);
}
