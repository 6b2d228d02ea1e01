/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling without BPF: a cpu-clock event on each CPU for each thread, which those that it starts
 * inherit. Such an event runs while its thread does, and counts that time in ns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "tools/capture/backend.h"
#include "tools/capture/clock.h"
#include "tools/capture/perfsample.h"
#include "tools/capture/privilege.h"
#include "tools/capture/procread.h"
#include "tools/capture/tasks.h"

#define RING_LEAST (64 << 10)
#define STORE_MAX (UINT64_C(1) << 30)

/* A sample, or a record about threads, that is not handed out yet. */
struct stored {
	uint64_t time_ns, seq;
	size_t at, n; /* in the store; bytes */
	bool is_sample;
};

struct perf_sampler {
	struct sampler base;
	struct perf_event_attr attr;
	struct perf_ring *rings;
	size_t nrings;
	uint64_t period_ns;
	uint64_t stopped_ns; /* 0: running */
	struct tasks tasks;
	struct buf store;
	struct stored *stored; /* of the store */
	size_t nstored, stored_cap;
	uint64_t seq;
	struct sample_event *event; /* room to make one */
	/* since the start; and up to the last cut */
	uint64_t came, lost;
	uint64_t told_ticks, told_sent, told_lost, errors;
};

static struct perf_sampler *of(struct sampler *base)
{
	return (struct perf_sampler *)base;
}

static void perf_free(struct sampler *base)
{
	struct perf_sampler *s = of(base);

	perf_rings_free(s->rings, s->nrings);
	tasks_release(&s->tasks);
	buf_release(&s->store);
	free(s->stored);
	free(s->event);
	free(s);
}

/* --- what this user may ask for ------------------------------------------------------------ */

/* errno of opening the event for ourselves, or 0. */
static int try_attr(struct perf_event_attr *attr)
{
	int fd = perf_open(attr, 0, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* The number in a sample is that of the v2 hierarchy, unless a v1 one has these events. */
static bool has_v1_group(void)
{
	char text[8192];

	return procread_file((uint32_t)getpid(), "cgroup", text, sizeof(text)) < 0 ||
	       strstr(text, ":perf_event:") || strstr(text, ",perf_event") ||
	       strstr(text, "perf_event,");
}

static int choose_attr(struct perf_sampler *s, struct err *e)
{
	struct perf_event_attr *attr = &s->attr;
	bool kernel = true, cgroup = !has_v1_group();
	int code;

	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = s->period_ns,
		.disabled = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
	};
	perf_sample_ask(attr, kernel, cgroup);
	code = try_attr(attr);
	if (code == EACCES) {
		kernel = false;
		perf_sample_ask(attr, kernel, cgroup);
		code = try_attr(attr);
	}
	if (code == EINVAL && cgroup) {
		cgroup = false;
		perf_sample_ask(attr, kernel, cgroup);
		code = try_attr(attr);
	}
	return code ? privilege_explain_perf(code, e) : 0;
}

/* A descriptor for each thread on each CPU may be many. */
static void allow_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

static int perf_start(struct sampler *base, uint64_t first_ns, uint64_t stop_ns,
		      struct err *e)
{
	struct perf_sampler *s = of(base);
	size_t i, k;

	(void)first_ns;
	(void)stop_ns; /* who cuts knows when to */
	for (i = 0; i < s->nrings; i++) {
		for (k = 1; k < s->rings[i].nfds; k++) {
			if (ioctl(s->rings[i].fds[k], PERF_EVENT_IOC_ENABLE, 0) < 0)
				return err_errno(e, errno, "cannot start sampling");
		}
	}
	return 0;
}

static uint64_t perf_stop(struct sampler *base)
{
	struct perf_sampler *s = of(base);
	size_t i, k;

	for (i = 0; i < s->nrings; i++) {
		for (k = 1; k < s->rings[i].nfds; k++)
			ioctl(s->rings[i].fds[k], PERF_EVENT_IOC_DISABLE, 0);
	}
	s->stopped_ns = monotonic_ns();
	return s->stopped_ns;
}

static int perf_epoll(struct sampler *base, int epoll_fd, uint64_t data, struct err *e)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = data};
	struct perf_sampler *s = of(base);
	size_t i;

	for (i = 0; i < s->nrings; i++) {
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, s->rings[i].fds[0], &ev) < 0)
			return err_errno(e, errno, "epoll");
	}
	return 0;
}

/* --- records ------------------------------------------------------------------------------- */

struct lost_body {
	uint64_t id, lost;
};

struct comm_body {
	uint32_t tgid, tid;
	char comm[];
};

struct task_body {
	uint32_t tgid, ppid, tid, ptid;
};

static void store(struct perf_sampler *s, const struct perf_event_header *h)
{
	const struct lost_body *lost = (const void *)(h + 1);
	struct stored one = {
		.time_ns = perf_record_time(h),
		.seq = s->seq++,
		.at = s->store.len,
		.n = h->size,
		.is_sample = h->type == PERF_RECORD_SAMPLE,
	};
	const void *what = h;

	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(*h) + sizeof(*lost)) {
		s->lost += lost->lost;
		return;
	}
	/* at once, as it may be much smaller than the record's room for a stack */
	if (one.is_sample) {
		what = s->event;
		one.n = perf_sample_read(&s->attr, h, s->event);
	}
	if (!one.n || buf_put(&s->store, what, one.n) < 0) {
		s->errors += one.is_sample;
		return;
	}
	s->came += one.is_sample;
	XGROW(s->stored, s->nstored, s->stored_cap);
	s->stored[s->nstored++] = one;
}

/* Empty the rings. */
static void collect(struct perf_sampler *s)
{
	const struct perf_event_header *h;
	size_t i;

	for (i = 0; i < s->nrings; i++) {
		perf_ring_look(&s->rings[i]);
		while ((h = perf_ring_next(&s->rings[i])))
			store(s, h);
		perf_ring_done(&s->rings[i]);
	}
}

static void on_task_record(struct perf_sampler *s, const struct perf_event_header *h)
{
	const struct comm_body *comm = (const void *)(h + 1);
	const struct task_body *task = (const void *)(h + 1);

	if (h->size < sizeof(*h) + sizeof(*task))
		return;
	switch (h->type) {
	case PERF_RECORD_COMM:
		tasks_comm(&s->tasks, comm->tid, comm->tgid, comm->comm);
		break;
	case PERF_RECORD_FORK:
		tasks_fork(&s->tasks, task->tid, task->tgid, task->ptid, task->ppid);
		break;
	case PERF_RECORD_EXIT:
		tasks_exit(&s->tasks, task->tid, task->tgid);
		break;
	}
}

static int cmp_stored(const void *pa, const void *pb)
{
	const struct stored *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Keep those from n on. */
static void drop_first(struct perf_sampler *s, size_t n)
{
	struct buf rest = BUF_INIT(STORE_MAX);
	size_t i;

	for (i = n; i < s->nstored; i++) {
		struct stored one = s->stored[i];

		buf_put(&rest, s->store.data + one.at, one.n);
		one.at = rest.len - one.n;
		s->stored[i - n] = one;
	}
	s->nstored -= n;
	if (s->nstored) {
		buf_release(&s->store);
		s->store = rest;
	} else {
		buf_clear(&s->store);
	}
}

/* In order of time, so that a name is that of the moment. What came meanwhile may lack others. */
static void
perf_drain(struct sampler *base,
	   void (*take)(void *ctx, const struct sample_event *ev, size_t size), void *ctx)
{
	struct perf_sampler *s = of(base);
	uint64_t until = monotonic_ns();
	struct sample_event *ev;
	size_t i;

	collect(s);
	if (!s->nstored)
		return;
	qsort(s->stored, s->nstored, sizeof(*s->stored), cmp_stored);
	for (i = 0; i < s->nstored && s->stored[i].time_ns < until; i++) {
		ev = (void *)(s->store.data + s->stored[i].at);
		if (s->stored[i].is_sample) {
			tasks_fill(&s->tasks, &ev->h);
			take(ctx, ev, s->stored[i].n);
		} else {
			on_task_record(s, (const void *)ev);
		}
	}
	drop_first(s, i);
}

/* --- counts -------------------------------------------------------------------------------- */

/* How long the threads have run. Children that ended are in it. */
static uint64_t ran_ns(const struct perf_sampler *s)
{
	uint64_t sum = 0, ns;
	size_t i, k;

	for (i = 0; i < s->nrings; i++) {
		for (k = 1; k < s->rings[i].nfds; k++) {
			if (read(s->rings[i].fds[k], &ns, sizeof(ns)) == sizeof(ns))
				sum += ns;
		}
	}
	return sum;
}

static void perf_cut(struct sampler *base, uint64_t end_ns, struct tick_counts *out)
{
	struct perf_sampler *s = of(base);
	uint64_t ticks = ran_ns(s) / s->period_ns, sent, late = 0;
	size_t i;

	collect(s);
	/* we look some time after the end */
	for (i = 0; i < s->nstored; i++)
		late += s->stored[i].is_sample && s->stored[i].time_ns >= end_ns;
	ticks -= ticks < late ? ticks : late;
	if (ticks < s->told_ticks)
		ticks = s->told_ticks;
	sent = s->came - late;
	*out = (struct tick_counts){
		.expected = (int64_t)(ticks - s->told_ticks),
		.sent = (int64_t)(sent - s->told_sent),
		.lost_ring = (int64_t)(s->lost - s->told_lost),
		.lost_error = (int64_t)s->errors,
	};
	s->told_ticks = ticks;
	s->told_sent = sent;
	s->told_lost = s->lost;
	s->errors = 0;
	out->hidden = out->expected - out->sent - out->lost_ring - out->lost_error;
	if (out->hidden < 0 || !s->attr.exclude_kernel)
		out->hidden = 0;
}

static bool perf_hides_kernel(const struct sampler *base)
{
	return ((const struct perf_sampler *)base)->attr.exclude_kernel;
}

static const struct sampler_ops perf_ops = {
	.free = perf_free,
	.start = perf_start,
	.drain = perf_drain,
	.cut = perf_cut,
	.stop = perf_stop,
	.epoll = perf_epoll,
	.hides_kernel = perf_hides_kernel,
};

/* A power of two: each CPU's part of the room. */
static size_t ring_bytes(const struct sampler_conf *conf)
{
	size_t n = RING_LEAST;

	while (n * 2 * conf->ncpus <= conf->ring_bytes)
		n *= 2;
	return n;
}

/* As much of each stack as leaves room for the samples of a quarter of a second. */
static uint32_t stack_bytes(const struct sampler_conf *conf, size_t ring)
{
	size_t n = ring * 4 / conf->rate_hz;

	if (n < PERF_STACK_LEAST)
		n = PERF_STACK_LEAST;
	return n < PERF_STACK_MOST ? n & ~(size_t)7 : PERF_STACK_MOST;
}

static int open_rings(struct perf_sampler *s, const struct sampler_conf *conf,
		      struct err *e)
{
	struct perf_ring_conf rc = {
		.cpus = conf->cpus,
		.ncpus = conf->ncpus,
		.threads = conf->threads,
		.bytes = ring_bytes(conf),
	};
	int r;

	do {
		s->attr.wakeup_watermark = rc.bytes / 4;
		s->attr.sample_stack_user = stack_bytes(conf, rc.bytes);
		r = perf_rings_open(&rc, &s->attr, &s->rings, e);
		rc.bytes /= 2;
	} while (r == -ENOBUFS && rc.bytes >= RING_LEAST);
	if (!r)
		s->nrings = conf->ncpus;
	return r;
}

int perfsampler_open(const struct sampler_conf *conf, struct sampler **out, struct err *e)
{
	struct perf_sampler *s = xcalloc(1, sizeof(*s));
	size_t i;
	int r;

	s->base.ops = &perf_ops;
	s->period_ns = NS_PER_S / conf->rate_hz;
	s->store = BUF_INIT(STORE_MAX);
	s->event = xmalloc(PERF_EVENT_MAX);
	allow_files();
	r = choose_attr(s, e);
	if (!r)
		r = open_rings(s, conf, e);
	if (r < 0) {
		perf_free(&s->base);
		return r;
	}
	for (i = 0; i < conf->threads->n; i++)
		tasks_read(&s->tasks, conf->threads->v[i].tid, conf->threads->v[i].tgid);
	*out = &s->base;
	return 0;
}
