/* SPDX-License-Identifier: Apache-2.0 */
/* Events beside the clock: programs, what drives them, and what they added up. */
#include "tools/capture/events.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cpu.skel.h"
#include "events.skel.h"
#include "lib/base/xalloc.h"
#include "tools/capture/heap.h"
#include "tools/capture/kinds.h"
#include "tools/capture/privilege.h"

#define ROUNDS_MAX 4096 /* of emptying the ring while sums are collected */
#define LINKS_MAX 4
#define PAUSE_NS 20000000

struct events {
	struct events_conf conf;
	struct events_bpf *skel;
	struct heap *heap; /* NULL: no allocations */
	struct ring_buffer *ring;
	struct bpf_link *links[LINKS_MAX];
	size_t nlinks;
	int *faults; /* descriptors of software events, two a CPU; -1: not open */
	size_t nfaults;
	struct event_cpu_counts *now;	    /* by CPU; the BPF programs write it */
	struct event_totals (*last)[KINDS]; /* each set when it was last read */
	uint64_t turns;			    /* intervals that ended */
};

static int on_ring(void *ctx, void *data, size_t size)
{
	const struct event_sinks *to = &((const struct events *)ctx)->conf.to;

	if (size == sizeof(struct event_sum))
		to->sum(to->ctx, data);
	else
		to->take(to->ctx, data, size);
	return 0;
}

static bool has(const struct events *ev, enum event_kind kind)
{
	return ev->conf.kinds & KIND_BIT(kind);
}

static void choose_programs(const struct events *ev)
{
	struct events_bpf *s = ev->skel;

	bpf_program__set_autoload(s->progs.on_wait, has(ev, KIND_OFFCPU));
	bpf_program__set_autoload(s->progs.collect_asleep, has(ev, KIND_OFFCPU));
	bpf_program__set_autoload(s->progs.on_minor_fault, has(ev, KIND_FAULTS));
	bpf_program__set_autoload(s->progs.on_major_fault, has(ev, KIND_FAULTS));
	bpf_program__set_autoload(s->progs.on_block, has(ev, KIND_BLOCK));
	bpf_program__set_autoload(s->progs.on_send, has(ev, KIND_NET));
	bpf_program__set_autoload(s->progs.on_receive, has(ev, KIND_NET));
}

/* What is known of processes and rows is known once. */
static int share_maps(const struct events *ev)
{
	const struct cpu_bpf *from = ev->conf.shared;
	struct events_bpf *to = ev->skel;
	const struct {
		struct bpf_map *to, *from;
	} maps[] = {
		{to->maps.want, from->maps.want},
		{to->maps.procs, from->maps.procs},
		{to->maps.mappings, from->maps.mappings},
		{to->maps.slabs, from->maps.slabs},
		{to->maps.pythons, from->maps.pythons},
	};
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(maps) / sizeof(*maps) && r >= 0; i++)
		r = bpf_map__reuse_fd(maps[i].to, bpf_map__fd(maps[i].from));
	return r;
}

static int load(struct events *ev, struct err *e)
{
	const struct events_conf *conf = &ev->conf;
	int r;

	ev->skel = events_bpf__open();
	if (!ev->skel)
		return privilege_explain_load(errno, e);
	ev->skel->rodata->length_ns = conf->length_ns;
	ev->skel->rodata->min_wait_ns = conf->min_wait_ns;
	ev->skel->rodata->by_pid = conf->by_pid;
	ev->skel->rodata->by_labels = conf->by_labels;
	ev->skel->rodata->by_thread = conf->by_thread;
	ev->skel->rodata->by_cpu = conf->by_cpu;
	ev->skel->bss->inherits = conf->inherits;
	choose_programs(ev);
	bpf_map__set_max_entries(ev->skel->maps.counts, (uint32_t)conf->npossible);
	bpf_map__set_max_entries(ev->skel->maps.ring, (uint32_t)conf->ring_bytes);
	if (!has(ev, KIND_OFFCPU))
		bpf_map__set_max_entries(ev->skel->maps.waits, 1);
	r = share_maps(ev);
	if (r >= 0)
		r = events_bpf__load(ev->skel);
	if (r < 0)
		return privilege_explain_load(-r, e);
	ev->ring = ring_buffer__new(bpf_map__fd(ev->skel->maps.ring), on_ring, ev, NULL);
	if (!ev->ring)
		return err_errno(e, errno, "cannot map the ring of events");
	ev->now = mmap(NULL, conf->npossible * sizeof(*ev->now), PROT_READ, MAP_SHARED,
		       bpf_map__fd(ev->skel->maps.counts), 0);
	if (ev->now == MAP_FAILED) {
		ev->now = NULL;
		return err_errno(e, errno, "cannot map the counters of events");
	}
	return 0;
}

static int attach(struct events *ev, const struct bpf_program *prog, struct err *e)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link)
		return err_errno(e, errno, "cannot attach to %s",
				 bpf_program__section_name(prog));
	ev->links[ev->nlinks++] = link;
	return 0;
}

static int open_fault(struct events *ev, int cpu, uint64_t config,
		      const struct bpf_program *prog, struct err *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return privilege_explain_perf(errno, e);
	ev->faults[ev->nfaults++] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(prog)) < 0)
		return err_errno(e, errno, "cannot attach to page faults");
	return 0;
}

static int attach_all(struct events *ev, struct err *e)
{
	struct events_bpf *s = ev->skel;
	size_t i;
	int r = 0;

	if (has(ev, KIND_OFFCPU))
		r = attach(ev, s->progs.on_wait, e);
	if (r >= 0 && has(ev, KIND_BLOCK))
		r = attach(ev, s->progs.on_block, e);
	if (r >= 0 && has(ev, KIND_NET)) {
		r = attach(ev, s->progs.on_send, e);
		if (r >= 0)
			r = attach(ev, s->progs.on_receive, e);
	}
	for (i = 0; i < ev->conf.ncpus && r >= 0 && has(ev, KIND_FAULTS); i++) {
		r = open_fault(ev, ev->conf.cpus[i], PERF_COUNT_SW_PAGE_FAULTS_MIN,
			       s->progs.on_minor_fault, e);
		if (r >= 0)
			r = open_fault(ev, ev->conf.cpus[i],
				       PERF_COUNT_SW_PAGE_FAULTS_MAJ,
				       s->progs.on_major_fault, e);
	}
	return r;
}

static int open_heap(struct events *ev, struct err *e)
{
	const struct heap_conf conf = {
		.events = &ev->conf,
		.with = ev->skel,
		.cli = ev->conf.cli,
		.sample_bytes = ev->conf.alloc_bytes,
		.force = ev->conf.force,
		.nothing_runs = ev->conf.nothing_runs,
	};

	return heap_open(&conf, &ev->heap, e);
}

struct heap *events_heap(const struct events *ev)
{
	return ev->heap;
}

int events_open(const struct events_conf *conf, struct events **out, struct err *e)
{
	struct events *ev;
	const char *why;
	size_t i;
	int r;

	for (i = 0; i < KINDS; i++) {
		why = conf->kinds & KIND_BIT(i) ? kind_missing(i) : NULL;
		if (why)
			return err_set(e, ENOTSUP, "-e %s: %s", kinds[i].name, why);
	}
	ev = xcalloc(1, sizeof(*ev));
	ev->conf = *conf;
	ev->faults = xcalloc(2 * conf->ncpus, sizeof(*ev->faults));
	ev->last = xcalloc(conf->npossible * COUNT_SETS, sizeof(*ev->last));
	r = load(ev, e);
	if (r >= 0)
		r = attach_all(ev, e);
	if (r >= 0 && has(ev, KIND_ALLOC))
		r = open_heap(ev, e);
	if (r < 0) {
		events_free(ev);
		return r;
	}
	*out = ev;
	return 0;
}

void events_free(struct events *ev)
{
	size_t i;

	if (!ev)
		return;
	heap_free(ev->heap);
	for (i = 0; i < ev->nfaults; i++)
		close(ev->faults[i]);
	for (i = 0; i < ev->nlinks; i++)
		bpf_link__destroy(ev->links[i]);
	ring_buffer__free(ev->ring);
	if (ev->now)
		munmap(ev->now, ev->conf.npossible * sizeof(*ev->now));
	events_bpf__destroy(ev->skel);
	free(ev->faults);
	free(ev->last);
	free(ev);
}

void events_start(struct events *ev, uint64_t first_ns, uint64_t stop_ns)
{
	ev->skel->bss->stop_ns = stop_ns;
	__atomic_store_n(&ev->skel->bss->first_ns, first_ns, __ATOMIC_RELEASE);
	if (ev->heap)
		heap_start(ev->heap, first_ns, stop_ns);
}

void events_stop(struct events *ev, uint64_t stop_ns)
{
	if (stop_ns < ev->skel->bss->stop_ns)
		ev->skel->bss->stop_ns = stop_ns;
	if (ev->heap)
		heap_stop(ev->heap, stop_ns);
}

void events_decide_anew(struct events *ev, bool inherits)
{
	ev->skel->bss->inherits = inherits;
	ev->skel->bss->generation++;
	if (ev->heap)
		heap_decide_anew(ev->heap, inherits);
}

int events_fd(const struct events *ev)
{
	return ring_buffer__epoll_fd(ev->ring);
}

void events_drain(struct events *ev)
{
	ring_buffer__consume(ev->ring);
}

/* --- the end of an interval ---------------------------------------------------------------- */

/* All programs that had begun have ended. Where that cannot be asked: some time later. */
static void await_programs(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		nanosleep(&pause, NULL);
}

/* Run one of the programs that collect, until all is out of its map. */
static int collect(struct events *ev, const struct bpf_program *prog, uint64_t end_ns,
		   struct err *e)
{
	const struct event_collect what = {ev->turns, end_ns};
	int i, r;

	for (i = 0; i < ROUNDS_MAX; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &what,
			    .ctx_size_in = sizeof(what));

		r = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
		if (r < 0)
			return err_errno(e, -r, "cannot collect events");
		events_drain(ev);
		if (!opts.retval)
			break;
	}
	return 0;
}

static void add_totals(const struct events *ev, size_t cpu, struct event_totals *totals)
{
	size_t set = ev->turns % COUNT_SETS, i;
	struct event_totals *last = ev->last[cpu * COUNT_SETS + set];

	for (i = 0; i < KINDS; i++) {
		const volatile struct event_counts *c = &ev->now[cpu].set[set][i];
		const struct event_totals now = {
			.seen = (int64_t)c->seen,
			.filtered = (int64_t)c->filtered,
			.brief = (int64_t)c->brief,
			.lost_ring = (int64_t)c->lost_ring,
			.lost_map = (int64_t)c->lost_map,
			.lost_nested = (int64_t)c->lost_nested,
			.lost_live = (int64_t)c->lost_live,
			.calls = c->calls,
			.bytes = c->bytes,
			.run_ns = c->run_ns,
		};

		totals[i].seen += now.seen - last[i].seen;
		totals[i].filtered += now.filtered - last[i].filtered;
		totals[i].brief += now.brief - last[i].brief;
		totals[i].lost_ring += now.lost_ring - last[i].lost_ring;
		totals[i].lost_map += now.lost_map - last[i].lost_map;
		totals[i].lost_nested += now.lost_nested - last[i].lost_nested;
		totals[i].lost_live += now.lost_live - last[i].lost_live;
		totals[i].calls += now.calls - last[i].calls;
		totals[i].bytes += now.bytes - last[i].bytes;
		totals[i].run_ns += now.run_ns - last[i].run_ns;
		last[i] = now;
	}
}

int events_cut(struct events *ev, uint64_t end_ns, struct event_totals totals[KINDS],
	       struct err *e)
{
	size_t i;
	int r = 0;

	await_programs();
	if (has(ev, KIND_OFFCPU)) {
		r = collect(ev, ev->skel->progs.collect_asleep, end_ns, e);
		/* who woke up meanwhile is charged for both sides of the end */
		await_programs();
	}
	if (r >= 0)
		r = collect(ev, ev->skel->progs.collect_sums, end_ns, e);
	if (r >= 0 && ev->heap && ev->conf.frees)
		r = collect(ev, heap_collector(ev->heap), end_ns, e);
	for (i = 0; i < ev->conf.npossible; i++)
		add_totals(ev, i, totals);
	ev->turns++;
	return r;
}
