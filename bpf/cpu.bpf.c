/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * On-CPU samples. At each tick of a cpu-clock event on each CPU that does not idle, one program
 * sends who was running and where through a ring buffer. A second one, on an event that ticks in
 * idle too, accounts for the rest, with a third that measures how long each CPU idles; a fourth
 * lets children inherit their parent's filter.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"
#include "bpf/python.h"
#include "bpf/unwind.h"
#include "bpf/who.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u64 period_ns = 1;

/*
 * The intervals: when the first begins, how long each is, when the last ends. A tick counts in the
 * interval that its time lies in, however late user space wakes up.
 */
const volatile __u64 length_ns = 1;
__u64 first_ns, stop_ns;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20); /* set anew before loading */
} ring SEC(".maps");

/*
 * By CPU, in memory that user space maps: to read a map by a system call shuts out all programs on
 * that CPU meanwhile, for as long as the reader may be preempted.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set anew before loading */
	__type(key, __u32);
	__type(value, struct sample_cpu_counts);
} counts SEC(".maps");

/* Known when the programs are loaded: what follows from it need not be looked at. */
static __always_inline bool one_interval(void)
{
	return length_ns >> 63;
}

static __always_inline __u32 set_of(__u64 time)
{
	return (time - first_ns) / length_ns % COUNT_SETS;
}

#define GAP_SETS 16 /* a gap that is longer counts in the last of so many intervals */

static __always_inline void lose_in(struct sample_counts *c, __u64 n, bool came)
{
	if (came)
		c->lost_recursion += n;
	else
		c->lost_timer += n;
}

/*
 * n ticks, of which the first was due then, did not come, or not to us: each counts in its own
 * interval.
 */
static __always_inline void lose_ticks(struct sample_cpu_counts *all, __u64 due, __u64 n,
				       bool came)
{
	__u64 turn = (due - first_ns) / length_ns,
	      end = first_ns + (turn + 1) * length_ns;
	__u64 before;
	int i;

	if (one_interval()) {
		lose_in(&all->set[0], n, came);
		return;
	}
	for (i = 0; i < GAP_SETS && n; i++, turn++, end += length_ns) {
		before = end > due ? (end - due + period_ns - 1) / period_ns : 0;
		if (before > n || i == GAP_SETS - 1)
			before = n;
		lose_in(&all->set[turn % COUNT_SETS], before, came);
		due += before * period_ns;
		n -= before;
	}
}

/* Interrupts of this CPU's timer since this was last asked; many: not known. */
static __always_inline __u32 new_interrupts(void *ctx, struct sample_cpu_counts *all)
{
	const struct bpf_perf_event_data_kern *data = ctx;
	const struct hrtimer_cpu_base *base;
	__u32 before = all->interrupts;

	if (!bpf_core_field_exists(struct hrtimer_cpu_base, nr_events))
		return ~0u;
	base = BPF_CORE_READ(data, event, hw.hrtimer.base, cpu_base);
	all->interrupts = BPF_CORE_READ(base, nr_events);
	return (__u32)all->interrupts - before;
}

/*
 * A tick that came a period or more after its turn: say where those between went.
 *
 * The kernel stops an event that ticked too often since the last tick of the scheduler, and an
 * idle CPU has none of those: the clock of a CPU that was idle for long stands still until there
 * is work (user space knows the idle time). Else the timer itself was late, as the CPU had
 * interrupts off or was taken away from a virtual machine; it then comes at any time between two
 * turns, and one interrupt stands for many. A tick that is on time after as many interrupts says
 * that the ones before it came too, but not to us: the kernel runs no program of an event while
 * its CPU is in one of the tracing kind, or in a system call that changes a map.
 */
static __always_inline void account_gap(void *ctx, struct sample_cpu_counts *all,
					__u64 now)
{
	struct bpf_perf_event_value v;
	__u64 due = all->due, skipped;
	__u32 interrupts = new_interrupts(ctx, all);
	bool on_time;

	/* the first tick is due a period after the clock was started */
	if (!due && !bpf_perf_prog_read_value(ctx, &v, sizeof(v)) && v.enabled < now)
		due = now - v.enabled + period_ns;
	if (!due || now < due || all->idle_run >= IDLE_RUN_LONG) {
		all->due = now + period_ns;
		return;
	}
	skipped = (now - due) / period_ns;
	all->due = due + (skipped + 1) * period_ns;
	on_time = all->due - now >= period_ns - period_ns / 64;
	if (skipped)
		lose_ticks(all, due, skipped, on_time && interrupts > skipped);
}

/* Runs at each tick, also of an idle CPU: counts what the sampler does not see. */
SEC("perf_event")
int clock_tick(void *ctx)
{
	struct sample_cpu_counts *all;
	__u64 now = bpf_ktime_get_ns();
	__u32 cpu = bpf_get_smp_processor_id();

	all = bpf_map_lookup_elem(&counts, &cpu);
	if (!all || now >= stop_ns)
		return 0;
	account_gap(ctx, all, now);
	if ((__u32)bpf_get_current_pid_tgid()) {
		all->idle_run = 0;
	} else {
		all->idle_run++;
		all->set[set_of(now)].idle++;
	}
	return 0;
}

/*
 * The sampler runs at each tick of a CPU that is not idle. It has three forms, of which one is
 * loaded: frames are taken in a loop (bpf_loop: Linux 5.17), or in parts that call one another
 * (33 at most), or by the kernel.
 */
static __always_inline struct sample_counts *counts_now(__u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sample_cpu_counts *all = bpf_map_lookup_elem(&counts, &cpu);

	return all ? &all->set[set_of(now)] : NULL;
}

/* Everything but the user's stack. NULL: not to be sampled. */
static __always_inline struct scratch *begin(void *ctx)
{
	__u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	struct sample_counts *c = counts_now(now);
	struct scratch *s;

	s = scratch_here();
	if (!c || !s || now >= stop_ns)
		return NULL;
	if ((by_pid || by_labels) && !wanted(id >> 32)) {
		c->filtered++;
		return NULL;
	}
	fill_head(bpf_get_current_task_btf(), now, id, &s->e);
	unwind_kernel(ctx, &s->e);
	return s;
}

#ifdef STOP_AT_SAMPLE /* a build for tests, which then look at the same stack in other ways */
bool has_stopped;
#define SIGSTOP 19

static __always_inline void stop_task(void)
{
	if (!has_stopped)
		has_stopped = !bpf_send_signal(SIGSTOP);
}

/* The others know native frames alone. */
static __always_inline void take_python(void)
{
}
#else
static __always_inline void stop_task(void)
{
}

static __always_inline void take_python(void)
{
	python_frames();
}
#endif

static __always_inline int end(struct scratch *s)
{
	struct sample_event *e = &s->e;
	struct sample_counts *c = counts_now(e->h.ktime);
	__u32 n = sizeof(e->h) + (e->h.nkernel + e->h.nuser) * sizeof(__u64) +
		  e->h.ncopy + e->h.npython * 2 * sizeof(__u64);

	if (!c)
		return 0;
	barrier_var(n);
	if (n > sizeof(*e))
		c->errors++;
	else if (bpf_ringbuf_output(&ring, e, n, BPF_RB_NO_WAKEUP))
		c->lost_ring++;
	else
		c->sent++;
	if (e->h.nuser && !e->h.ncopy)
		stop_task();
	c->run_ns += bpf_ktime_get_ns() - e->h.ktime;
	return 0;
}

SEC("perf_event")
int sample_loop(struct perf_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = begin(regs);

	if (!s)
		return 0;
	if (has_user_part(task, &s->e)) {
		unwind_begin(regs, task, s);
		unwind_loop();
		unwind_end(s);
		unwind_copy(s, &ring);
		take_python();
	}
	return end(s);
}

#define PART_FRAMES 32

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} parts SEC(".maps");

SEC("perf_event")
int sample_part(struct perf_regs *regs)
{
	__u32 i;
	struct scratch *s = scratch_here();

	if (!s)
		return 0;
	for (i = 0; i < PART_FRAMES; i++) {
		if (unwind_step())
			goto out;
	}
	if (s->u.part++ < EVENT_USER_MAX / PART_FRAMES)
		bpf_tail_call(regs, &parts, 0);
	s->e.h.stop = STOP_DEPTH;
out:
	unwind_end(s);
	unwind_copy(s, &ring);
	take_python();
	return end(s);
}

SEC("perf_event")
int sample_tail(struct perf_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = begin(regs);

	if (!s)
		return 0;
	if (has_user_part(task, &s->e)) {
		unwind_begin(regs, task, s);
		bpf_tail_call(regs, &parts, 0);
	}
	return end(s);
}

SEC("perf_event")
int sample_fp(struct perf_regs *regs)
{
	struct scratch *s = begin(regs);

	if (!s)
		return 0;
	if (has_user_part(bpf_get_current_task_btf(), &s->e))
		unwind_by_fp(regs, &s->e);
	return end(s);
}

/* A global function: the verifier looks at its ways once, not in each round of a loop. */
__noinline __u64 idle_at(__u64 sum, __u64 since, __u64 end)
{
	const struct idle_time idle = {.sum = sum, .since = since};

	return idle_upto(&idle, first_ns, end);
}

/* Keep what was idle at the end of each interval that is over. */
static __always_inline void turn_idle(struct idle_time *idle, __u64 now)
{
	__u64 turn, i, end;
	int n;

	if (one_interval())
		return;
	turn = (now - first_ns) / length_ns;
	if (idle->turn >= turn)
		return;
	i = idle->turn + COUNT_SETS < turn ? turn - COUNT_SETS : idle->turn;
	end = first_ns + (i + 1) * length_ns;
	for (n = 0; n < COUNT_SETS && i < turn; n++, i++, end += length_ns)
		idle->upto[i % COUNT_SETS] = idle_at(idle->sum, idle->since, end);
	idle->turn = turn;
}

/* An idle CPU need not tick: how long it was idle says how often it would have. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	bool from_idle = !prev->pid, to_idle = !next->pid;
	__u32 cpu = bpf_get_smp_processor_id();
	struct sample_cpu_counts *all;
	__u64 now;

	if (from_idle == to_idle)
		return 0;
	all = bpf_map_lookup_elem(&counts, &cpu);
	if (!all)
		return 0;
	now = bpf_ktime_get_ns();
	if (first_ns && now >= first_ns) {
		if (now > stop_ns)
			now = stop_ns;
		turn_idle(&all->idle, now);
		all->idle.sum = idle_upto(&all->idle, first_ns, now);
	}
	all->idle.since = to_idle ? now : 0;
	return 0;
}

/* In the parent, before the child can run: children are followed from their first instruction. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct want *w, of_child;

	if (from == to)
		return 0;
	w = bpf_map_lookup_elem(&want, &from);
	if (w) {
		of_child = *w;
		if (!inherits)
			of_child.flags &= WANT_PID;
	}
	if (w && of_child.flags)
		bpf_map_update_elem(&want, &to, &of_child, BPF_ANY);
	else
		bpf_map_delete_elem(&want,
				    &to); /* left by an earlier process of this number */
	return 0;
}

/*
 * User space runs these to change the maps, which it never does by itself while it samples: such
 * a system call shuts out all programs on its CPU, for as long as who makes it is preempted.
 */
SEC("raw_tp")
int change_want(const struct want_change *c)
{
	const __u64 *comm = (const void *)c->comm;
	__u32 tgid = CONTEXT(c->tgid), before;
	struct want *old = bpf_map_lookup_elem(&want, &tgid), w = {0};
	bool decides = CONTEXT(c->set) & WANT_DECIDED;

	if (old)
		w = *old;
	before = w.flags;
	w.flags = (before & CONTEXT(c->keep)) | CONTEXT(c->set);
	if (decides) {
		w.generation = generation;
		w.cgroup_id = CONTEXT(c->cgroup_id);
		((__u64 *)w.comm)[0] = CONTEXT(comm[0]);
		((__u64 *)w.comm)[1] = CONTEXT(comm[1]);
	}
	if (w.flags && (decides || w.flags != before))
		bpf_map_update_elem(&want, &tgid, &w, BPF_ANY);
	else if (!w.flags && old)
		bpf_map_delete_elem(&want, &tgid);
	return before;
}

SEC("raw_tp")
int change_python(const struct python_change *c)
{
	__u64 runtime = CONTEXT(c->runtime);
	__u32 tgid = CONTEXT(c->tgid);

	if (runtime)
		bpf_map_update_elem(&pythons, &tgid, &runtime, BPF_ANY);
	else
		bpf_map_delete_elem(&pythons, &tgid);
	return 0;
}
