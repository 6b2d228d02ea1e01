/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Allocations, by uprobes on the functions of allocators, each bound to a process: a call is a
 * trap of most of a microsecond. All are counted; which of them are samples is drawn by bytes, so
 * that one of `size` bytes is one with probability 1 - exp(-size / sample_bytes), and stands for
 * the inverse of that many (as in Go's and tcmalloc's heap profiles).
 *
 * A uprobe's program may be preempted and another thread's run meanwhile on the same CPU: what it
 * works on belongs to the thread, and counters are atomic.
 */
#define SCRATCH_BY_TASK

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>

#include "bpf/alloc.h"
#include "bpf/sums.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 sample_bytes = 1; /* at most 1 GiB */
const volatile __u32 log2_table[ALLOC_STEPS + 1], scale_table[ALLOC_STEPS + 1];
const volatile bool frees; /* what is in use, too */
bool trial;		   /* nothing is recorded, but what it takes is measured */

#define LN2 45426 /* in WEIGHT_ONE */
#define SIZE_MAX_BITS 47

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ALLOC_FILES_MAX);
	__type(key, __u32);
	__type(value, struct alloc_functions);
} files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set anew before loading */
	__type(key, __u32);
	__type(value, struct alloc_cpu);
} cpus SEC(".maps");

/* A thread's last call, which may go on as others in its place: operator new[] as new. */
struct tail {
	__u64 sp, from, size;
	__u64 functions; /* that it has been, bits */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tail);
} tails SEC(".maps");

/* What one sample stands for. */
struct block {
	__u64 hash, value, weight;
};

struct place {
	__u64 addr;
	__u64 tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct place);
	__type(value, struct block);
} live SEC(".maps");

/* What the live blocks of one hash come to. */
struct use {
	__u64 value, weight;
	__u64 idle; /* it was zero when it was last looked at */
	__u64 told; /* 1 + the last interval whose end user space has it of */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__type(key, __u64); /* hash */
	__type(value, struct use);
} uses SEC(".maps");

/* The call that a thread is in, until it returns. */
struct call {
	__u64 sp, cookie;
	__u64 to;	   /* where the address will be; 0: it is what is returned */
	__u64 old;	   /* that it frees */
	struct block made; /* hash 0: is no sample */
	struct block gone; /* what was known of `old` */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/* --- which calls count --------------------------------------------------------------------- */

static __always_inline __u64 return_address(const struct perf_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return user_word(PERF_SP(regs));
#else
	return PERF_LR(regs);
#endif
}

/* Called by another function of the allocator: calloc by operator new and the like. */
static __always_inline bool is_inner(const struct perf_regs *regs, __u64 cookie,
				     __u64 from)
{
	__u32 file = ALLOC_COOKIE_FILE(cookie), own = ALLOC_COOKIE_FUNCTION(cookie), i;
	const struct alloc_functions *f = bpf_map_lookup_elem(&files, &file);
	__u64 at;

	if (!f || own >= ALLOC_FUNCTIONS_MAX)
		return false;
	at = from - PERF_PC(regs) + f->v[own].start;
	for (i = 0; i < ALLOC_FUNCTIONS_MAX; i++) {
		if (i >= f->n)
			break;
		if (at - f->v[i].start < f->v[i].size)
			return true;
	}
	return false;
}

/* The same call by another function that jumped here: realloc(NULL, n) to malloc(n). */
static __always_inline bool is_tail(const struct perf_regs *regs, __u64 cookie,
				    __u64 from, __u64 size)
{
	struct tail *t = bpf_task_storage_get(&tails, bpf_get_current_task_btf(), NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 own = 1ull << (ALLOC_COOKIE_FUNCTION(cookie) & 63);

	if (!t)
		return false;
	if (t->sp == PERF_SP(regs) && t->from == from && t->size == size &&
	    !(t->functions & own)) {
		t->functions |= own;
		return true;
	}
	t->sp = PERF_SP(regs);
	t->from = from;
	t->size = size;
	t->functions = own;
	return false;
}

/* The bytes asked for; false: this asks for none. */
static __always_inline bool size_of(const struct perf_regs *regs, __u64 op, __u64 *size)
{
	__u64 n;

	switch (op) {
	case ALLOC_SIZE0:
		*size = PERF_ARG0(regs);
		break;
	case ALLOC_SIZE2:
		*size = PERF_ARG2(regs);
		break;
	case ALLOC_PRODUCT:
		n = PERF_ARG0(regs);
		*size = PERF_ARG1(regs);
		if (n >> 32 || *size >> 32)
			return n == 1 || *size == 1 ? (*size *= n) : !n || !*size;
		*size *= n;
		break;
	case ALLOC_SIZE1:
	case ALLOC_AGAIN:
		*size = PERF_ARG1(regs);
		/* another word for free() */
		if (op == ALLOC_AGAIN && !*size && PERF_ARG0(regs))
			return false;
		break;
	default:
		return false;
	}
	/* that is refused by every allocator */
	return !(*size >> SIZE_MAX_BITS);
}

/* --- sampling ------------------------------------------------------------------------------ */

/* A table's value at x, in 1/256 of its steps, which are below ALLOC_STEPS. */
static __always_inline __u64 between(const volatile __u32 *table, __u64 x)
{
	__u32 at = x >> 8 & (ALLOC_STEPS - 1);
	__u64 low = table[at], high = table[at + 1];

	return low + ((high - low) * (x & 255) >> 8);
}

/* Bytes up to the next sample: exponential, of mean sample_bytes. */
static __always_inline __s64 draw(void)
{
	__u32 v = bpf_get_prandom_u32() | 1, rest = v, bits = 0;
	__u64 log2;

	if (rest >> 16) {
		rest >>= 16;
		bits += 16;
	}
	if (rest >> 8) {
		rest >>= 8;
		bits += 8;
	}
	if (rest >> 4) {
		rest >>= 4;
		bits += 4;
	}
	if (rest >> 2) {
		rest >>= 2;
		bits += 2;
	}
	bits += rest >> 1;
	/* the 16 bits behind the first one */
	log2 = (__u64)bits << WEIGHT_BITS;
	log2 += between(log2_table, ((__u64)v << 32 >> bits >> 16) & (WEIGHT_ONE - 1));
	return (sample_bytes * ((32 * WEIGHT_ONE) - log2) >> WEIGHT_BITS) * LN2 >>
	       WEIGHT_BITS;
}

static __always_inline bool is_sample(struct alloc_cpu *here, __u64 size)
{
	if (sample_bytes <= 1)
		return true;
	if (__sync_fetch_and_sub(&here->left, (__s64)size) > (__s64)size)
		return false;
	__sync_lock_test_and_set(&here->left, draw());
	return true;
}

/* --- blocks -------------------------------------------------------------------------------- */

static __always_inline __u64 tgid_here(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static __always_inline bool add_use(const struct block *b)
{
	struct use *u = bpf_map_lookup_elem(&uses, &b->hash), none = {0};

	if (!u) {
		bpf_map_update_elem(&uses, &b->hash, &none, BPF_NOEXIST);
		u = bpf_map_lookup_elem(&uses, &b->hash);
	}
	if (!u)
		return false;
	u->idle = 0;
	__sync_fetch_and_add(&u->value, b->value);
	__sync_fetch_and_add(&u->weight, b->weight);
	return true;
}

static __always_inline bool add_block(__u64 addr, const struct block *b)
{
	struct place at = {addr, tgid_here()};

	if (bpf_map_update_elem(&live, &at, b, BPF_ANY))
		return false;
	if (add_use(b))
		return true;
	bpf_map_delete_elem(&live, &at);
	return false;
}

static __always_inline void drop_use(const struct block *b)
{
	struct use *u = bpf_map_lookup_elem(&uses, &b->hash);

	if (!u)
		return;
	__sync_fetch_and_add(&u->value, -b->value);
	__sync_fetch_and_add(&u->weight, -b->weight);
}

/* out: what it was; hash 0: no sample. */
static __always_inline void drop_block(__u64 addr, struct block *out)
{
	struct place at = {addr, tgid_here()};
	struct block *b = addr ? bpf_map_lookup_elem(&live, &at) : NULL;

	if (!b)
		return;
	*out = *b;
	if (bpf_map_delete_elem(&live, &at))
		out->hash = 0; /* another thread was faster */
	else
		drop_use(out);
}

static __always_inline void begin_call(const struct perf_regs *regs, __u64 cookie,
				       const struct block *made)
{
	__u64 op = ALLOC_COOKIE_OP(cookie);
	struct call *c = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!c)
		return;
	c->made = *made;
	c->gone.hash = 0;
	c->to = op == ALLOC_SIZE2 ? PERF_ARG0(regs) : 0;
	c->old = op == ALLOC_AGAIN ? PERF_ARG0(regs) : 0;
	/* before it returns another thread may have the same place */
	drop_block(c->old, &c->gone);
	c->cookie = cookie;
	c->sp = c->made.hash || c->gone.hash ? PERF_SP(regs) : 0;
}

/* The stack pointer once a function has returned that had it as `sp` at its first instruction. */
#if defined(__TARGET_ARCH_x86)
#define SP_AFTER(sp) ((sp) + 8)
#else
#define SP_AFTER(sp) (sp)
#endif

/* What both say that differ in the price of their traps. */
#define SAME_CALL(a, b) (!(((a) ^ (b)) & 0xffffffff))

static __always_inline void end_call(const struct perf_regs *regs, __u64 cookie,
				     struct event_counts *n)
{
	struct call *c =
		bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL, 0);
	__u64 addr = PERF_RESULT(regs);

	if (!c || !c->sp || !SAME_CALL(c->cookie, cookie) ||
	    SP_AFTER(c->sp) != PERF_SP(regs))
		return;
	c->sp = 0;
	if (c->to)
		addr = addr ? 0 : user_word(c->to);
	/* it failed: nothing was freed */
	if (!addr)
		c->made = c->gone;
	if (c->made.hash && !add_block(addr ? addr : c->old, &c->made))
		__sync_fetch_and_add(&n->lost_live, 1);
}

/* --- programs ------------------------------------------------------------------------------ */

static __always_inline void record(const struct perf_regs *regs, struct event_counts *c,
				   __u64 size, __u64 now, struct block *out)
{
	__u64 x = size * (ALLOC_STEPS * 256 / ALLOC_SCALE_END) / sample_bytes;
	__u64 value = size, weight = WEIGHT_ONE, scaled;
	struct scratch *s = take_stack(NULL, regs, KIND_ALLOC, 0, now);

	if (sample_bytes > 1 && x < ALLOC_STEPS * 256 && size) {
		scaled = sample_bytes * between(scale_table, x);
		value = scaled >> WEIGHT_BITS;
		weight = scaled / size;
	}
	if (!s)
		__sync_fetch_and_add(&c->lost_ring, 1);
	else if (!add_sum(s->e.h.hash, turn_of(now), 1, value, weight))
		__sync_fetch_and_add(&c->lost_map, 1);
	else
		*out = (struct block){s->e.h.hash, value, weight};
}

static __always_inline bool is_filtered(void)
{
	return (by_pid || by_labels) && !wanted(tgid_here());
}

/* One of those that all count and some are recorded of. */
static __always_inline void sample(const struct perf_regs *regs, struct alloc_cpu *here,
				   struct event_counts *c, __u64 size, __u64 now,
				   struct block *made)
{
	__u64 run;

	__sync_fetch_and_add(&c->calls, 1);
	__sync_fetch_and_add(&c->bytes, size);
	if (!is_sample(here, size))
		return;
	__sync_fetch_and_add(&c->seen, 1);
	if (is_filtered()) {
		__sync_fetch_and_add(&c->filtered, 1);
		return;
	}
	record(regs, c, size, now, made);
	run = bpf_ktime_get_ns() - now;
	__sync_fetch_and_add(&c->run_ns, run);
	__sync_fetch_and_add(&here->cost_ns, run);
}

/* The same before anything is recorded, to learn what it takes. */
static __always_inline void try(const struct perf_regs *regs, struct alloc_cpu *here,
				__u64 size, __u64 now)
{
	if (!is_sample(here, size))
		return;
	walk(NULL, regs, KIND_ALLOC, 0, now);
	__sync_fetch_and_add(&here->cost_ns, bpf_ktime_get_ns() - now);
}

static __always_inline bool is_on(__u64 now)
{
	return first_ns && now >= first_ns && now < stop_ns;
}

/* What this CPU counts in; NULL: not now. */
static __always_inline struct alloc_cpu *cpu_here(__u64 cookie, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct alloc_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);

	if (!here || (!is_on(now) && !trial))
		return NULL;
	__sync_fetch_and_add(&here->cost_ns, ALLOC_COOKIE_TRAP(cookie));
	return here;
}

SEC("uprobe")
int on_alloc(struct perf_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs), op = ALLOC_COOKIE_OP(cookie);
	__u64 size = 0, from, now = bpf_ktime_get_ns();
	struct alloc_cpu *here = cpu_here(cookie, now);
	struct event_cpu_counts *all = counts_here();
	struct block made = {0};

	if (!here || !all)
		return 0;
	if (!size_of(regs, op, &size)) {
		if (frees && op == ALLOC_AGAIN)
			drop_block(PERF_ARG0(regs), &made);
		return 0;
	}
	from = return_address(regs);
	if (is_inner(regs, cookie, from) || is_tail(regs, cookie, from, size))
		return 0;
	__sync_fetch_and_add(&here->calls, 1);
	if (is_on(now))
		sample(regs, here, counts_of(all, now, KIND_ALLOC), size, now, &made);
	else
		try(regs, here, size, now);
	if (frees)
		begin_call(regs, cookie, &made);
	return 0;
}

SEC("uretprobe")
int on_return(struct perf_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs), now = bpf_ktime_get_ns();
	struct event_cpu_counts *all = counts_here();

	if (cpu_here(cookie, now) && all && is_on(now))
		end_call(regs, cookie, counts_of(all, now, KIND_ALLOC));
	return 0;
}

SEC("uprobe")
int on_free(struct perf_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs), now = bpf_ktime_get_ns();
	struct alloc_cpu *here = cpu_here(cookie, now);
	struct block gone = {0};

	if (here) {
		__sync_fetch_and_add(&here->calls, 1);
		drop_block(PERF_ARG0(regs), &gone);
	}
	return 0;
}

/* --- the end of an interval ---------------------------------------------------------------- */

struct collect {
	__u64 turn;
	__u32 failed;
};

static long send_use(void *map, __u64 *hash, struct use *u, struct collect *c)
{
	struct event_sum one = {.hash = *hash,
				.turn = c->turn,
				.value = u->value,
				.weight = u->weight,
				.what = SUM_LIVE};

	if (!one.value && !one.weight) {
		/* not at once: somebody may be about to add to it */
		if (u->idle)
			bpf_map_delete_elem(map, hash);
		else
			u->idle = 1;
		return 0;
	}
	if (u->told == c->turn + 1)
		return 0;
	if (send(&one, sizeof(one))) {
		c->failed = 1;
		return 1;
	}
	u->told = c->turn + 1;
	return 0;
}

/* Run again, once the ring is empty, for as long as it answers 1. */
SEC("raw_tp")
int collect_live(const struct event_collect *what)
{
	struct collect c = {CONTEXT(what->turn), 0};

	bpf_for_each_map_elem(&uses, send_use, &c, 0);
	return c.failed;
}

static long forget_block(void *map, struct place *at, struct block *b,
			 struct alloc_forget *who)
{
	struct block gone = *b;

	if (at->tgid == who->tgid && !bpf_map_delete_elem(map, at))
		drop_use(&gone);
	return 0;
}

SEC("raw_tp")
int forget_live(const struct alloc_forget *who)
{
	struct alloc_forget copy = {CONTEXT(who->tgid)};

	bpf_for_each_map_elem(&live, forget_block, &copy, 0);
	return 0;
}
