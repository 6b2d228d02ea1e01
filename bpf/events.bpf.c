/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Events beside the clock: waits, page faults, block I/O, network. They are added up (sums.h);
 * when an interval is over user space runs collect_asleep and collect_sums.
 *
 * Maps of processes, mappings, rows and choices are those of cpu.bpf.c, which its user shares.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/sums.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 min_wait_ns;

#define SPLITS_MAX 64 /* intervals that one wait is spread over when it ends */

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
	else if (!add_sum(s->e.h.hash, turn_of(now), 1, value, 0))
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
	if (!add_sum(s->hash, s->turn, 0, end - s->from_ns, 0))
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
	struct event_sum asleep = {.what = SUM_ASLEEP};
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
	if (!add_sum(s.hash, s.last, 1, now - s.from_ns, 0) || s.lost)
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
		add_sum(s->e.h.hash, turn_of(now), 0, 0, 0);
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
	struct event_sum asleep = {.hash = w->hash, .turn = c->turn, .what = SUM_ASLEEP};

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
		add_sum(asleep.hash, c->turn, 0, c->end_ns - from, 0);
	return 0;
}

static long send_sum(void *map, struct sum_key *key, struct sum *sum, struct collect *c)
{
	struct event_sum one = {.hash = key->hash,
				.turn = key->turn,
				.n = sum->n,
				.value = sum->value,
				.weight = sum->weight};

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
