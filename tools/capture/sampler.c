/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF side: programs, their maps, the clocks that drive them, and the count of every tick. */
#include "tools/capture/sampler.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cpu.skel.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/privilege.h"

struct tick_clock {
	int fd;
	uint64_t ticks; /* that must have come up to the last cut */
};

struct sampler {
	struct cpu_bpf *skel;
	struct bpf_link *fork_link;
	struct ring_buffer *ring;
	struct tick_clock *clocks;
	size_t nclocks;
	uint64_t period_ns;
	uint64_t stopped_ns; /* 0: running */
	unsigned int set;    /* of counters, in use before the boundary */
	size_t npossible;    /* CPUs in per-CPU map values */
	struct sample_cpu_counts *now;
	struct sample_counts last[2]; /* sums when each set was last read */
	uint64_t last_misses;
	void (*take)(void *ctx, const struct sample_event *ev, size_t size);
	void *take_ctx;
};

static int quiet_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static uint64_t ring_size(uint64_t want_bytes)
{
	uint64_t n = sysconf(_SC_PAGESIZE);

	while (n < want_bytes)
		n <<= 1;
	return n;
}

static int on_ring(void *ctx, void *data, size_t size)
{
	struct sampler *s = ctx;

	s->take(s->take_ctx, data, size);
	return 0;
}

static int load(struct sampler *s, const struct sampler_conf *conf, struct err *e)
{
	int r;

	libbpf_set_print(quiet_libbpf);
	s->skel = cpu_bpf__open();
	if (!s->skel)
		return err_errno(e, errno, "cannot open the BPF programs");
	s->skel->rodata->filtering = conf->filtering;
	if (!conf->filtering) {
		bpf_program__set_autoload(s->skel->progs.on_fork, false);
		bpf_map__set_max_entries(s->skel->maps.want, 1);
	}
	bpf_map__set_max_entries(s->skel->maps.ring, ring_size(conf->ring_bytes));
	r = cpu_bpf__load(s->skel);
	if (r < 0)
		return privilege_explain_load(-r, e);
	if (conf->filtering) {
		s->fork_link = bpf_program__attach(s->skel->progs.on_fork);
		if (!s->fork_link)
			return err_errno(e, errno, "cannot attach to sched_process_fork");
	}
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.ring), on_ring, s, NULL);
	if (!s->ring)
		return err_errno(e, errno, "cannot map the ring of samples");
	s->npossible = libbpf_num_possible_cpus();
	s->now = xcalloc(s->npossible, sizeof(*s->now));
	return 0;
}

static int open_clock(struct sampler *s, int cpu, struct tick_clock *c, struct err *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		/* a period, not a frequency: reading the event then says how many there were */
		.sample_period = s->period_ns,
		.disabled = 1,
	};
	int prog = bpf_program__fd(s->skel->progs.cpu_tick);

	c->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return privilege_explain_perf(errno, e);
	if (ioctl(c->fd, PERF_EVENT_IOC_SET_BPF, prog) < 0)
		return err_errno(e, errno, "cannot attach the sampler to CPU %d", cpu);
	return 0;
}

int sampler_open(const struct sampler_conf *conf, struct sampler **out, struct err *e)
{
	struct sampler *s = xcalloc(1, sizeof(*s));
	size_t i;
	int r;

	s->period_ns = NS_PER_S / conf->rate_hz;
	s->clocks = xcalloc(conf->ncpus, sizeof(*s->clocks));
	r = load(s, conf, e);
	for (i = 0; i < conf->ncpus && r >= 0; i++) {
		s->nclocks++;
		r = open_clock(s, conf->cpus[i], &s->clocks[i], e);
	}
	if (r < 0) {
		sampler_free(s);
		return r;
	}
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->nclocks; i++) {
		if (s->clocks[i].fd >= 0)
			close(s->clocks[i].fd);
	}
	ring_buffer__free(s->ring);
	bpf_link__destroy(s->fork_link);
	cpu_bpf__destroy(s->skel);
	free(s->clocks);
	free(s->now);
	free(s);
}

void sampler_want(struct sampler *s, uint32_t tgid, uint32_t set, uint32_t clear)
{
	int fd = bpf_map__fd(s->skel->maps.want);
	uint32_t flags = 0, new_flags;

	bpf_map_lookup_elem(fd, &tgid, &flags);
	new_flags = (flags & ~clear) | set;
	if (new_flags == flags)
		return;
	if (new_flags)
		bpf_map_update_elem(fd, &tgid, &new_flags, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &tgid);
}

static void set_boundary(struct sampler *s, uint64_t end_ns)
{
	/* the lowest bit is the set; a nanosecond does not matter, half a word would */
	__atomic_store_n(&s->skel->bss->boundary, (end_ns & ~UINT64_C(1)) | s->set,
			 __ATOMIC_RELEASE);
}

int sampler_start(struct sampler *s, uint64_t end_ns, struct err *e)
{
	size_t i;

	set_boundary(s, end_ns);
	for (i = 0; i < s->nclocks; i++) {
		if (ioctl(s->clocks[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return err_errno(e, errno, "cannot start sampling");
	}
	return 0;
}

void sampler_drain(struct sampler *s,
		   void (*take)(void *ctx, const struct sample_event *ev, size_t size),
		   void *ctx)
{
	s->take = take;
	s->take_ctx = ctx;
	ring_buffer__consume(s->ring);
}

/* Ticks of all clocks up to end_ns since the last time this was asked. */
static int64_t expected_ticks(struct sampler *s, uint64_t end_ns)
{
	uint64_t ran_ns, at_ns, late_ns, ticks;
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < s->nclocks; i++) {
		struct tick_clock *c = &s->clocks[i];

		if (read(c->fd, &ran_ns, sizeof(ran_ns)) != sizeof(ran_ns))
			continue;
		/* a cpu-clock event counts the ns it is on */
		at_ns = s->stopped_ns ? s->stopped_ns : monotonic_ns();
		late_ns = at_ns > end_ns ? at_ns - end_ns : 0;
		ticks = (ran_ns > late_ns ? ran_ns - late_ns : 0) / s->period_ns;
		if (ticks > c->ticks) {
			sum += ticks - c->ticks;
			c->ticks = ticks;
		}
	}
	return sum;
}

static uint64_t recursion_misses(struct sampler *s)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	uint64_t misses;

	if (bpf_obj_get_info_by_fd(bpf_program__fd(s->skel->progs.cpu_tick), &info,
				   &size) < 0)
		return s->last_misses;
	misses = info.recursion_misses - s->last_misses;
	s->last_misses = info.recursion_misses;
	return misses;
}

static void read_counts(struct sampler *s, struct tick_counts *out)
{
	struct sample_counts sum = {0}, *last = &s->last[s->set];
	uint32_t zero = 0;
	size_t i;

	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.counts), &zero, s->now) < 0)
		sum = *last;
	for (i = 0; i < s->npossible; i++) {
		struct sample_counts *c = &s->now[i].set[s->set];

		sum.sent += c->sent;
		sum.idle += c->idle;
		sum.filtered += c->filtered;
		sum.lost_ring += c->lost_ring;
		sum.errors += c->errors;
	}
	out->sent = sum.sent - last->sent;
	out->idle = sum.idle - last->idle;
	out->filtered = sum.filtered - last->filtered;
	out->lost_ring = sum.lost_ring - last->lost_ring;
	out->lost_error = sum.errors - last->errors;
	*last = sum;
}

/* Every BPF program that runs now has ended when this returns: one grace period of RCU. */
static void wait_for_programs(void)
{
	const struct timespec grace = {.tv_nsec = 50000000};

	/* refused where CPUs run without a tick: then time must do */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		nanosleep(&grace, NULL);
}

void sampler_cut(struct sampler *s, uint64_t end_ns, uint64_t next_end_ns,
		 struct tick_counts *out)
{
	out->expected = expected_ticks(s, end_ns);
	wait_for_programs();
	read_counts(s, out);
	out->lost_recursion = recursion_misses(s);
	s->set ^= 1;
	set_boundary(s, next_end_ns);
}

uint64_t sampler_stop(struct sampler *s)
{
	size_t i;

	for (i = 0; i < s->nclocks; i++)
		ioctl(s->clocks[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	s->stopped_ns = monotonic_ns();
	return s->stopped_ns;
}
