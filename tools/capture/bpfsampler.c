/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling by BPF: programs, their maps, the clocks that drive them, and the count of every tick. */
#include "tools/capture/backend.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cpu.skel.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/privilege.h"

#define READ_TRIES 16 /* of two clocks at one time */

/* Two events of one CPU that tick together: the clock, and the sampler that idle does not wake. */
struct cpu_events {
	int cpu;
	int clock_fd, sample_fd; /* -1: not open */
	uint64_t ticks;		 /* that must have come up to the last cut */
	struct sample_counts last[COUNT_SETS]; /* each set when it was last read */
	uint64_t idle_ticks;		       /* told as idle up to the last cut */
};

struct bpf_sampler {
	struct sampler base;
	struct programs programs;
	struct cpu_bpf *skel; /* of programs */
	struct bpf_link *switch_link, *fork_link;
	struct ring_buffer *ring;
	struct cpu_events *cpus;
	size_t ncpus;
	uint64_t period_ns;
	uint64_t stopped_ns;   /* 0: running */
	uint64_t cuts;	       /* intervals that ended: whose set of counters is next */
	size_t npossible;      /* CPUs */
	struct events *events; /* that decisions are for, too; not ours */
	struct sample_cpu_counts *now; /* by CPU; the BPF programs write it */
	void (*take)(void *ctx, const struct sample_event *ev, size_t size);
	void *take_ctx;
};

static struct bpf_sampler *of(struct sampler *base)
{
	return (struct bpf_sampler *)base;
}

static const struct bpf_sampler *const_of(const struct sampler *base)
{
	return (const struct bpf_sampler *)base;
}

static int on_ring(void *ctx, void *data, size_t size)
{
	struct bpf_sampler *s = ctx;

	s->take(s->take_ctx, data, size);
	return 0;
}

static int load(struct bpf_sampler *s, const struct sampler_conf *conf, struct err *e)
{
	struct programs_conf pc = {
		.form = conf->form,
		.by_pid = conf->by_pid,
		.by_labels = conf->by_labels,
		.inherits = conf->inherits,
		.period_ns = s->period_ns,
		.length_ns = conf->length_ns,
		.ring_bytes = conf->ring_bytes,
	};
	int r;

	r = programs_possible_cpus(e);
	if (r < 0)
		return r;
	s->npossible = r;
	pc.ncpus = s->npossible;
	r = programs_load(&pc, &s->programs, e);
	if (r < 0)
		return r;
	s->skel = s->programs.skel;
	s->switch_link = bpf_program__attach(s->skel->progs.on_switch);
	if (!s->switch_link)
		return err_errno(e, errno, "cannot attach to sched_switch");
	if (conf->by_pid || conf->by_labels) {
		s->fork_link = bpf_program__attach(s->skel->progs.on_fork);
		if (!s->fork_link)
			return err_errno(e, errno, "cannot attach to sched_process_fork");
	}
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.ring), on_ring, s, NULL);
	if (!s->ring)
		return err_errno(e, errno, "cannot map the ring of samples");
	s->now = mmap(NULL, s->npossible * sizeof(*s->now), PROT_READ, MAP_SHARED,
		      bpf_map__fd(s->skel->maps.counts), 0);
	if (s->now == MAP_FAILED) {
		s->now = NULL;
		return err_errno(e, errno, "cannot map the counters");
	}
	return 0;
}

static int open_event(struct bpf_sampler *s, int cpu, bool in_idle,
		      const struct bpf_program *prog, int *fd, struct err *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		/* a period, not a frequency: reading the event then says how many there were */
		.sample_period = s->period_ns,
		.exclude_idle = !in_idle,
		.disabled = 1,
	};

	*fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (*fd < 0)
		return privilege_explain_perf(errno, e);
	if (ioctl(*fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(prog)) < 0)
		return err_errno(e, errno, "cannot attach to CPU %d", cpu);
	return 0;
}

/*
 * Run on each CPU for a moment: one that idles since before we looked has then switched, and is
 * known to idle. Where we may not run, such a CPU stays unexplained.
 */
static void visit_cpus(const struct bpf_sampler *s)
{
	cpu_set_t *before = CPU_ALLOC(s->npossible), *one = CPU_ALLOC(s->npossible);
	size_t size = CPU_ALLOC_SIZE(s->npossible), i;

	if (before && one && !sched_getaffinity(0, size, before)) {
		for (i = 0; i < s->ncpus; i++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(s->cpus[i].cpu, size, one);
			sched_setaffinity(0, size, one);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(one);
}

static void bpf_free(struct sampler *base)
{
	struct bpf_sampler *s = of(base);
	size_t i;

	for (i = 0; i < s->ncpus; i++) {
		if (s->cpus[i].clock_fd >= 0)
			close(s->cpus[i].clock_fd);
		if (s->cpus[i].sample_fd >= 0)
			close(s->cpus[i].sample_fd);
	}
	ring_buffer__free(s->ring);
	bpf_link__destroy(s->switch_link);
	bpf_link__destroy(s->fork_link);
	cpu_bpf__destroy(s->skel);
	free(s->cpus);
	if (s->now)
		munmap(s->now, s->npossible * sizeof(*s->now));
	free(s);
}

/* Run a program that changes a map: its answer. */
static uint32_t run_change(const struct bpf_program *prog, const void *change,
			   size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = change, .ctx_size_in = size);

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) < 0 ? 0 : opts.retval;
}

/* The flags that it had. */
static uint32_t change_want(const struct bpf_sampler *s, const struct want_change *c)
{
	/* else everybody is sampled */
	if (!s->programs.conf.by_pid && !s->programs.conf.by_labels)
		return 0;
	return run_change(s->skel->progs.change_want, c, sizeof(*c));
}

static void bpf_want(struct sampler *base, uint32_t tgid)
{
	change_want(of(base),
		    &(struct want_change){.tgid = tgid, .keep = ~0u, .set = WANT_PID});
}

static uint32_t bpf_wants(const struct sampler *base, uint32_t tgid)
{
	return change_want(const_of(base),
			   &(struct want_change){.tgid = tgid, .keep = ~0u});
}

static void bpf_decide(struct sampler *base, uint32_t tgid, const char *comm,
		       uint64_t cgroup_id, bool keep)
{
	struct want_change c = {
		.tgid = tgid,
		.keep = WANT_PID,
		.set = WANT_DECIDED | (keep ? WANT_KEEP : 0),
		.cgroup_id = cgroup_id,
	};

	memcpy(c.comm, comm, sizeof(c.comm));
	change_want(of(base), &c);
}

static void bpf_undecide(struct sampler *base, uint32_t tgid)
{
	change_want(of(base), &(struct want_change){.tgid = tgid, .keep = WANT_PID});
}

static void bpf_decide_anew(struct sampler *base, bool inherits)
{
	struct bpf_sampler *s = of(base);
	s->skel->bss->inherits = inherits;
	s->skel->bss->generation++;
	if (s->events)
		events_decide_anew(s->events, inherits);
}

static void bpf_forget(struct sampler *base, uint32_t tgid)
{
	change_want(of(base), &(struct want_change){.tgid = tgid});
}

static int bpf_start(struct sampler *base, uint64_t first_ns, uint64_t stop_ns,
		     struct err *e)
{
	struct bpf_sampler *s = of(base);
	size_t i;

	s->skel->bss->first_ns = first_ns;
	s->skel->bss->stop_ns = stop_ns;
	for (i = 0; i < s->ncpus; i++) {
		if (ioctl(s->cpus[i].clock_fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ||
		    ioctl(s->cpus[i].sample_fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return err_errno(e, errno, "cannot start sampling");
	}
	return 0;
}

static void bpf_drain(struct sampler *base,
		      void (*take)(void *ctx, const struct sample_event *ev, size_t size),
		      void *ctx)
{
	struct bpf_sampler *s = of(base);
	s->take = take;
	s->take_ctx = ctx;
	ring_buffer__consume(s->ring);
}

/*
 * How long a CPU's events have run, and when that was. The kernel asks that CPU by an interrupt,
 * so that no program of ours is in the middle of something there when it answers: they run with
 * interrupts off. A cpu-clock event counts the ns it is on.
 * Who is preempted between looking at the two clocks looks again.
 */
static bool read_running(const struct bpf_sampler *s, const struct cpu_events *c,
			 uint64_t *ran_ns, uint64_t *at_ns)
{
	uint64_t before, took, best = UINT64_MAX, ran;
	int i;

	for (i = 0; i < READ_TRIES && best > s->period_ns / 8; i++) {
		before = monotonic_ns();
		if (read(c->sample_fd, &ran, sizeof(ran)) != sizeof(ran))
			return false;
		took = monotonic_ns() - before;
		if (took >= best)
			continue;
		best = took;
		*ran_ns = ran;
		*at_ns = s->stopped_ns ? s->stopped_ns : before + took / 2;
	}
	return true;
}

/* Ticks of a CPU up to end_ns since the last time this was asked. */
static int64_t expected_ticks(const struct bpf_sampler *s, struct cpu_events *c,
			      uint64_t end_ns)
{
	uint64_t ran_ns = 0, at_ns = 0, late_ns, ticks, before = c->ticks;

	if (!read_running(s, c, &ran_ns, &at_ns))
		return 0;
	late_ns = at_ns > end_ns ? at_ns - end_ns : 0;
	ticks = (ran_ns > late_ns ? ran_ns - late_ns : 0) / s->period_ns;
	if (ticks > before)
		c->ticks = ticks;
	return c->ticks - before;
}

/* What a CPU's programs wrote, all of one moment: the CPU goes on meanwhile. */
struct seen_counts {
	struct sample_counts set;
	struct idle_time idle;
	uint64_t due;
};

static void read_counts(const struct sample_cpu_counts *all, size_t set,
			struct seen_counts *out)
{
	struct seen_counts again;
	int i;

	for (i = 0; i < READ_TRIES; i++) {
		*out = (struct seen_counts){.set = all->set[set],
					    .idle = all->idle,
					    .due = *(const volatile __u64 *)&all->due};
		atomic_thread_fence(memory_order_acquire);
		again = (struct seen_counts){.set = all->set[set],
					     .idle = all->idle,
					     .due = *(const volatile __u64 *)&all->due};
		if (!memcmp(out, &again, sizeof(again)))
			break;
	}
}

/*
 * Ticks that should have come before the end and did not until now: they are late, or the CPU
 * idles. When a tick comes at last its program counts those that did not in the interval they
 * were due in; that one is over, see settle_past().
 */
static int64_t overdue(const struct bpf_sampler *s, const struct seen_counts *now,
		       uint64_t end_ns)
{
	return now->due && now->due < end_ns ? (end_ns - now->due) / s->period_ns : 0;
}

/* Of intervals that are over all has been told. */
static void settle_past(const struct bpf_sampler *s, struct cpu_events *c,
			uint64_t end_ns)
{
	const struct sample_cpu_counts *all = &s->now[c->cpu];
	uint64_t length_ns = s->skel->rodata->length_ns, now_ns = monotonic_ns();
	uint64_t begun = now_ns > end_ns ? (now_ns - end_ns) / length_ns + 1 : 1, i;

	for (i = begun + 1; i < COUNT_SETS; i++) {
		size_t set = (s->cuts + i) % COUNT_SETS;
		c->last[set].lost_timer =
			*(const volatile __u64 *)&all->set[set].lost_timer;
		c->last[set].lost_recursion =
			*(const volatile __u64 *)&all->set[set].lost_recursion;
	}
}

/*
 * Ticks that an idle CPU has not given: some do not tick while there is nothing to do, and the
 * first tick with work comes late. How long it was idle from the start up to end_ns says how many;
 * they are taken from those that nothing explains, then from those that seemed to come too late.
 */
static int64_t unseen_idle(const struct bpf_sampler *s, struct cpu_events *c,
			   const struct idle_time *idle, int64_t seen, uint64_t end_ns,
			   int64_t *rest, int64_t *late)
{
	uint64_t idle_ns = idle->turn > s->cuts
				   ? idle->upto[s->cuts % COUNT_SETS]
				   : idle_upto(idle, s->skel->bss->first_ns, end_ns);
	int64_t missing =
		(int64_t)(idle_ns / s->period_ns) - (int64_t)c->idle_ticks - seen;
	int64_t unseen = 0, part;

	if (missing > 0 && *rest > 0) {
		part = missing < *rest ? missing : *rest;
		*rest -= part;
		unseen += part;
	}
	if (missing > unseen && *late > 0) {
		part = missing - unseen < *late ? missing - unseen : *late;
		*late -= part;
		unseen += part;
	}
	c->idle_ticks += (uint64_t)(seen + unseen);
	return unseen;
}

/* Add what became of `expected` ticks of one CPU. */
static void add_counts(struct bpf_sampler *s, struct cpu_events *c, int64_t expected,
		       uint64_t end_ns, struct tick_counts *out)
{
	struct sample_counts *last = &c->last[s->cuts % COUNT_SETS];
	struct seen_counts now;
	int64_t sent, filtered, lost_ring, lost_timer, recursion, errors, idle, rest,
		late;

	read_counts(&s->now[c->cpu], s->cuts % COUNT_SETS, &now);
	sent = now.set.sent - last->sent;
	filtered = now.set.filtered - last->filtered;
	lost_ring = now.set.lost_ring - last->lost_ring;
	lost_timer = now.set.lost_timer - last->lost_timer;
	recursion = now.set.lost_recursion - last->lost_recursion;
	errors = now.set.errors - last->errors;
	idle = now.set.idle - last->idle;
	rest = expected - sent - filtered - lost_ring - lost_timer - recursion - errors -
	       idle;
	late = overdue(s, &now, end_ns);
	late = late < rest ? late : rest > 0 ? rest : 0;
	lost_timer += late;
	rest -= late;

	idle += unseen_idle(s, c, &now.idle, idle, end_ns, &rest, &lost_timer);
	out->expected += expected;
	out->sent += sent;
	out->filtered += filtered;
	out->idle += idle;
	out->lost_ring += lost_ring;
	out->lost_timer += lost_timer;
	out->lost_recursion += recursion;
	out->lost_error += errors;
	out->run_ns += now.set.run_ns - last->run_ns;
	*last = now.set;
	settle_past(s, c, end_ns);
}

static void bpf_cut(struct sampler *base, uint64_t end_ns, struct tick_counts *out)
{
	struct bpf_sampler *s = of(base);
	int64_t *expected = xcalloc(s->ncpus, sizeof(*expected));
	size_t i;

	*out = (struct tick_counts){0};
	for (i = 0; i < s->ncpus; i++)
		expected[i] = expected_ticks(s, &s->cpus[i], end_ns);
	for (i = 0; i < s->ncpus; i++) {
		if ((size_t)s->cpus[i].cpu < s->npossible)
			add_counts(s, &s->cpus[i], expected[i], end_ns, out);
	}
	s->cuts++;
	free(expected);
}

static void bpf_unwind_maps(const struct sampler *base, struct unwind_maps *out)
{
	const struct bpf_sampler *s = const_of(base);
	*out = (struct unwind_maps){
		.procs_fd = bpf_map__fd(s->skel->maps.procs),
		.mappings_fd = bpf_map__fd(s->skel->maps.mappings),
		.slabs_fd = bpf_map__fd(s->skel->maps.slabs),
		.nmappings = s->programs.nmappings,
	};
}

static void bpf_tell_python(const struct sampler *base, uint32_t tgid, uint64_t runtime)
{
	const struct python_change c = {.tgid = tgid, .runtime = runtime};
	run_change(const_of(base)->skel->progs.change_python, &c, sizeof(c));
}

static int bpf_open_events(struct sampler *base, struct events_conf *conf,
			   struct events **out, struct err *e)
{
	struct bpf_sampler *s = of(base);
	int r;

	conf->shared = s->skel;
	conf->npossible = s->npossible;
	r = events_open(conf, out, e);
	if (r >= 0)
		s->events = *out;
	return r;
}

static enum unwinder_form bpf_form(const struct sampler *base)
{
	const struct bpf_sampler *s = const_of(base);
	return s->programs.form;
}

static uint32_t bpf_steps(const struct sampler *base)
{
	const struct bpf_sampler *s = const_of(base);
	return s->programs.steps;
}

static bool bpf_samples(const struct sampler *base, uint32_t tgid)
{
	const struct bpf_sampler *s = const_of(base);
	const struct programs_conf *conf = &s->programs.conf;
	uint32_t flags;

	if (!conf->by_pid && !conf->by_labels)
		return true;
	flags = bpf_wants(base, tgid);
	if (conf->by_pid && !(flags & WANT_PID))
		return false;
	return !conf->by_labels || !(flags & WANT_DECIDED) || flags & WANT_KEEP;
}

static uint64_t bpf_stop(struct sampler *base)
{
	struct bpf_sampler *s = of(base);
	size_t i;

	for (i = 0; i < s->ncpus; i++) {
		ioctl(s->cpus[i].sample_fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(s->cpus[i].clock_fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	s->stopped_ns = monotonic_ns();
	return s->stopped_ns;
}

static const struct sampler_ops bpf_ops = {
	.free = bpf_free,
	.start = bpf_start,
	.drain = bpf_drain,
	.cut = bpf_cut,
	.stop = bpf_stop,
	.want = bpf_want,
	.wants = bpf_wants,
	.decide = bpf_decide,
	.undecide = bpf_undecide,
	.decide_anew = bpf_decide_anew,
	.forget = bpf_forget,
	.samples = bpf_samples,
	.form = bpf_form,
	.steps = bpf_steps,
	.unwind_maps = bpf_unwind_maps,
	.open_events = bpf_open_events,
	.tell_python = bpf_tell_python,
};

int bpfsampler_open(const struct sampler_conf *conf, struct sampler **out, struct err *e)
{
	struct bpf_sampler *s = xcalloc(1, sizeof(*s));
	size_t i;
	int r;

	s->base.ops = &bpf_ops;
	s->period_ns = NS_PER_S / conf->rate_hz;
	s->cpus = xcalloc(conf->ncpus, sizeof(*s->cpus));
	for (; s->ncpus < conf->ncpus && !conf->no_clock; s->ncpus++)
		s->cpus[s->ncpus] = (struct cpu_events){
			.cpu = conf->cpus[s->ncpus],
			.clock_fd = -1,
			.sample_fd = -1,
		};
	r = load(s, conf, e);
	for (i = 0; i < s->ncpus && r >= 0; i++) {
		struct cpu_events *c = &s->cpus[i];

		r = open_event(s, c->cpu, true, s->skel->progs.clock_tick, &c->clock_fd,
			       e);
		if (r >= 0)
			r = open_event(s, c->cpu, false, s->programs.sampler,
				       &c->sample_fd, e);
	}
	if (r < 0) {
		bpf_free(&s->base);
		return r;
	}
	visit_cpus(s);
	*out = &s->base;
	return 0;
}
