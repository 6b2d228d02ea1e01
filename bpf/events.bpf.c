/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Events beside the clock: waits, page faults, block I/O, network. Up to a million a second, so
 * they are added up here: by all that makes one a sample of its own, its stack among it, of which
 * a hash is the key. The first of an interval sends its stack through the ring, all that follow
 * add to a sum; when the interval is over user space runs collect_asleep and collect_sums.
 *
 * Maps of processes, mappings, rows and choices are those of cpu.bpf.c, which its user shares.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/python.h"
#include "bpf/unwind.h"
#include "bpf/who.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 length_ns = 1; /* of an interval */
const volatile __u64 min_wait_ns;
const volatile bool by_thread, by_cpu; /* these tell samples apart */
__u64 first_ns, stop_ns;

#define SPLITS_MAX 64 /* intervals that one wait is spread over when it ends */

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
	__u64 n, value;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__type(key, struct sum_key);
	__type(value, struct sum);
} sums SEC(".maps");

/* A thread that is not on a CPU. */
struct wait {
	__u64 from_ns; /* not yet charged since */
	__u64 began_ns;
	__u64 hash;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536); /* threads */
	__type(key, __u32);	    /* tid */
	__type(value, struct wait);
} waits SEC(".maps");

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
static __always_inline bool add_sum(__u64 hash, __u64 turn, __u64 n, __u64 value)
{
	struct event_sum one = {.hash = hash, .turn = turn, .n = n, .value = value};
	struct sum_key key = {hash, turn};
	struct sum *sum = bpf_map_lookup_elem(&sums, &key), first = {n, value};

	if (!sum) {
		if (!bpf_map_update_elem(&sums, &key, &first, BPF_NOEXIST))
			return true;
		sum = bpf_map_lookup_elem(&sums, &key);
	}
	if (!sum) /* full */
		return !send(&one, sizeof(one));
	__sync_fetch_and_add(&sum->n, n);
	__sync_fetch_and_add(&sum->value, value);
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
	__u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	__u64 *h = ctx;

	if (!s || i >= EVENT_DATA_MAX / sizeof(__u64))
		return 1;
	*h = mix(*h, s->e.data[i]);
	return 0;
}

static __always_inline __u64 hash_event(const struct sample_event *e)
{
	const __u64 *comm = (const void *)e->h.leader_comm,
		    *name = (const void *)e->h.comm;
	__u64 h = mix(e->h.detail, e->h.start_boottime);
	__u32 n = e->h.nkernel + e->h.nuser + e->h.npython * 2;

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
	/* where it stopped tells stacks apart whose rest is in a copy */
	if (may_go_on(&e->h))
		h = mix(h, e->h.next_sp);
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
 * Who does it, and where: known to user space when this returns, or NULL. regs: as for
 * unwind_begin().
 */
static __always_inline struct scratch *take_stack(void *ctx, const struct perf_regs *regs,
						  __u32 kind, __u64 detail, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!s)
		return NULL;
	fill_head(task, now, bpf_get_current_pid_tgid(), &s->e);
	s->e.h.kind = kind;
	s->e.h.detail = detail;
	unwind_kernel(ctx, &s->e);
	if (has_user_part(task, &s->e)) {
		unwind_begin(regs, task, s);
		unwind_loop();
		unwind_end(s);
		/* behind the copy, if there is one */
		if (!may_go_on(&s->e.h))
			python_frames();
	}
	s->e.h.hash = hash_event(&s->e);
	return is_known(s->e.h.hash, turn_of(now)) || send_stack(s) ? s : NULL;
}

/* An event of now: its counts, or NULL if it is not for us to look at. */
static __always_inline struct event_counts *begin(struct event_cpu_counts *all,
						  __u32 kind, __u64 now)
{
	struct event_counts *c;

	if (!all || !first_ns || now < first_ns || now >= stop_ns)
		return NULL;
	c = counts_of(all, now, kind);
	c->seen++;
	if ((by_pid || by_labels) && !wanted(bpf_get_current_pid_tgid() >> 32)) {
		c->filtered++;
		return NULL;
	}
	/* one that interrupts another would spoil what that works on */
	if (all->busy) {
		c->lost_nested++;
		return NULL;
	}
	all->busy = 1;
	return c;
}

static __always_inline int record(void *ctx, const struct perf_regs *regs, __u32 kind,
				  __u64 detail, __u64 value)
{
	__u64 now = bpf_ktime_get_ns();
	struct event_cpu_counts *all = counts_here();
	struct event_counts *c = begin(all, kind, now);
	struct scratch *s;

	if (!c)
		return 0;
	s = take_stack(ctx, regs, kind, detail, now);
	if (!s)
		c->lost_ring++;
	else if (!add_sum(s->e.h.hash, turn_of(now), 1, value))
		c->lost_map++;
	c->run_ns += bpf_ktime_get_ns() - now;
	all->busy = 0;
	return 0;
}

/* --- waits --------------------------------------------------------------------------------- */

/* A wait that ends, and what of it is not charged yet. */
struct split {
	__u64 hash, from_ns;
	__u64 turn, last; /* the interval of from_ns, and that of the end */
	bool lost;
};

/* One interval that it was over the end of has its part. */
static long split_step(__u32 i, void *ctx)
{
	struct split *s = ctx;
	__u64 end = first_ns + (s->turn + 1) * length_ns;

	if (s->turn >= s->last)
		return 1;
	if (!add_sum(s->hash, s->turn, 0, end - s->from_ns))
		s->lost = true;
	s->from_ns = end;
	s->turn++;
	return 0;
}

/* The task goes on: what it waited since it was last charged is each interval's own part. */
static __always_inline void end_wait(struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid;
	struct wait *w = bpf_map_lookup_elem(&waits, &tid);
	struct event_cpu_counts *all = counts_here();
	struct event_sum asleep = {.asleep = 1};
	struct event_counts *c;
	struct split s = {0};
	__u64 began;

	/* of one that goes on when all is over the rest is charged by collect_asleep */
	if (!w || !all || now >= stop_ns)
		return;
	s.from_ns = __sync_lock_test_and_set(&w->from_ns, now);
	s.hash = w->hash;
	began = w->began_ns;
	bpf_map_delete_elem(&waits, &tid);
	c = counts_of(all, now, KIND_OFFCPU);
	c->seen++;
	if (now - began < min_wait_ns) {
		c->brief++;
		return;
	}
	s.turn = turn_of(s.from_ns);
	s.last = turn_of(now);
	/* it was asleep at the end of an interval, and nobody has asked yet */
	if (s.turn < s.last) {
		asleep.hash = s.hash;
		asleep.turn = s.last - 1;
		s.lost = send(&asleep, sizeof(asleep));
	}
	bpf_loop(SPLITS_MAX, split_step, &s, 0);
	if (!add_sum(s.hash, s.last, 1, now - s.from_ns) || s.lost)
		c->lost_map++;
}

static __always_inline __u64 state_of(bool preempt, unsigned int state)
{
	if (preempt || !state)
		return WAIT_PREEMPTED;
	if (state & TASK_STOPPED_OR_TRACED)
		return WAIT_STOPPED;
	return state & TASK_UNINTERRUPTIBLE ? WAIT_UNINTERRUPTIBLE : WAIT_SLEEPING;
}

static __always_inline void begin_wait(void *ctx, struct task_struct *task, bool preempt,
				       unsigned int state, __u64 now)
{
	struct event_cpu_counts *all = counts_here();
	struct event_counts *c;
	struct scratch *s;
	struct wait w;
	__u32 tid = task->pid;

	if (!tid || task->flags & PF_KTHREAD || !task->mm ||
	    (!preempt && state & TASK_DEAD_STATES))
		return;
	c = begin(all, KIND_OFFCPU, now);
	if (!c) /* but no wait ended */
		return;
	c->seen--;
	s = take_stack(ctx, NULL, KIND_OFFCPU, state_of(preempt, state), now);
	if (!s) {
		c->lost_ring++;
		c->seen++;
	} else {
		add_sum(s->e.h.hash, turn_of(now), 0, 0);
		w = (struct wait){now, now, s->e.h.hash};
		if (bpf_map_update_elem(&waits, &tid, &w, BPF_ANY)) {
			c->lost_map++;
			c->seen++;
		}
	}
	c->run_ns += bpf_ktime_get_ns() - now;
	all->busy = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_wait, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();

	if (!first_ns || now < first_ns)
		return 0;
	end_wait(next, now);
	begin_wait(ctx, prev, preempt, prev_state, now);
	return 0;
}

/* --- other events -------------------------------------------------------------------------- */

SEC("perf_event")
int on_minor_fault(struct perf_regs *regs)
{
	return record(regs, regs, KIND_FAULTS, FAULT_MINOR, 0);
}

SEC("perf_event")
int on_major_fault(struct perf_regs *regs)
{
	return record(regs, regs, KIND_FAULTS, FAULT_MAJOR, 0);
}

/* In whose name the I/O is, as long as nobody else does it for them. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(on_block, struct bio *bio)
{
	__u32 op = bio->bi_opf & REQ_OP_MASK;

	return record(ctx, NULL, KIND_BLOCK, BLOCK_DETAIL(op, bio->bi_bdev->bd_dev),
		      bio->bi_iter.bi_size);
}

static __always_inline int on_socket(void *ctx, struct sock *sk, int n, __u64 sends)
{
	__u16 port = __builtin_bswap16(sk->__sk_common.skc_dport);
	__u16 family = sk->__sk_common.skc_family;

	if (n <= 0)
		return 0;
	if (family != FAMILY_INET && family != FAMILY_INET6)
		port = 0;
	return record(ctx, NULL, KIND_NET,
		      NET_DETAIL(sends, family, (__u16)sk->sk_protocol, port), n);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_send, struct sock *sk, int ret, int flags)
{
	return on_socket(ctx, sk, ret, 1);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_receive, struct sock *sk, int ret, int flags)
{
	return flags & MESSAGE_PEEK ? 0 : on_socket(ctx, sk, ret, 0);
}

/* --- the end of an interval ---------------------------------------------------------------- */

struct collect {
	__u64 turn, end_ns;
	__u32 failed;
};

/* Who still waits has waited up to now: told of where, and charged. */
static long charge_asleep(void *map, __u32 *tid, struct wait *w, struct collect *c)
{
	__u64 from = w->from_ns;
	struct event_sum asleep = {.hash = w->hash, .turn = c->turn, .asleep = 1};

	if (from >= c->end_ns)
		return 0;
	if (send(&asleep, sizeof(asleep))) {
		c->failed = 1;
		return 1;
	}
	/* too short up to now: charged as a whole when it is not any more */
	if (c->end_ns - w->began_ns < min_wait_ns)
		return 0;
	if (__sync_val_compare_and_swap(&w->from_ns, from, c->end_ns) == from)
		add_sum(asleep.hash, c->turn, 0, c->end_ns - from);
	return 0;
}

static long send_sum(void *map, struct sum_key *key, struct sum *sum, struct collect *c)
{
	struct event_sum one = {
		.hash = key->hash, .turn = key->turn, .n = sum->n, .value = sum->value};

	if (key->turn > c->turn)
		return 0;
	if (send(&one, sizeof(one))) {
		c->failed = 1;
		return 1;
	}
	bpf_map_delete_elem(map, key);
	return 0;
}

/* Each is run again, once the ring is empty, for as long as it answers 1. */
SEC("raw_tp")
int collect_asleep(const struct event_collect *what)
{
	struct collect c = {CONTEXT(what->turn), CONTEXT(what->end_ns), 0};

	bpf_for_each_map_elem(&waits, charge_asleep, &c, 0);
	return c.failed;
}

SEC("raw_tp")
int collect_sums(const struct event_collect *what)
{
	struct collect c = {CONTEXT(what->turn), CONTEXT(what->end_ns), 0};

	bpf_for_each_map_elem(&sums, send_sum, &c, 0);
	return c.failed;
}
