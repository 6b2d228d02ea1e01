/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations: which allocators named processes have, and uprobes on their functions. */
#include "tools/capture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "alloc.skel.h"
#include "bpf/alloc.h"
#include "cpu.skel.h"
#include "events.skel.h"
#include "lib/base/num.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/events.h"
#include "tools/capture/privilege.h"
#include "tools/capture/procread.h"
#include "tools/capture/tables.h"

#define PRICE_CALLS 2000
#define PRICE_GUESS_NS 1000 /* where it cannot be measured */
#define TRIAL_NS (NS_PER_S / 4)
#define CHECK_NS NS_PER_S
#define BURIALS_MAX 256 /* threads */
#define SHARE_MAX 0.2	/* of a process's time that may go by in probes */

/*
 * Functions of ours that do nothing, to measure what a probe on their first instruction costs: a
 * push, the mark where jumps may end, any other.
 */
void heap_price_push(void);
void heap_price_mark(void);
void heap_price_other(void);
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	"heap_price_push: push %rbp; pop %rbp; ret\n"
	"heap_price_mark: endbr64; ret\n"
	"heap_price_other: test %rdi, %rdi; ret\n"
	".popsection");
#else
__asm__(".pushsection .text\n"
	"heap_price_push:\nheap_price_mark:\n"
	"heap_price_other: stp x29, x30, [sp, #-16]!; ldp x29, x30, [sp], #16; ret\n"
	".popsection");
#endif

/*
 * One link for all places, which is taken off at once. As in linux/bpf.h since 6.6; which threads
 * of a process count is right since 6.11.
 */
#define TRACE_UPROBE_MULTI 48
#define UPROBE_MULTI_RETURN 1
#define MULTI_SINCE 6, 12

struct probe {
	int event, link; /* descriptors */
};

/* The functions of one file in one process. */
struct hold {
	const struct table *table;
	struct probe *probes;
	size_t nprobes;
};

struct target {
	uint32_t tgid;
	int pidfd;	  /* -1: not known when it ends */
	uint64_t from_ns; /* of the program that it runs */
	struct hold *holds;
	size_t nholds, cap;
	bool is_go;
};

/* What was spent up to some time, by all targets. */
struct spent {
	uint64_t time_ns, cpu_ns, calls, cost_ns;
};

struct heap {
	struct heap_conf conf;
	struct alloc_bpf *skel;
	struct alloc_cpu *cpus;
	struct target *targets;
	size_t ntargets, targets_cap;
	const struct table *files[ALLOC_FILES_MAX]; /* by number in cookies */
	uint32_t nfiles;
	uint32_t trap_ns[ALLOC_STARTS],
		return_ns; /* of a call; of one more trap at its end */
	struct spent last;
	bool price_said, gave_up, failure_said;
	int type;	   /* of perf events that are uprobes */
	bool multi;	   /* there is one link for all of a file */
	atomic_int buried; /* probes that are being taken off */
};

/* --- programs ------------------------------------------------------------------------------ */

static void fill_tables(struct alloc_bpf *s)
{
	double x;
	size_t i;

	for (i = 0; i <= ALLOC_STEPS; i++) {
		x = (double)i / ALLOC_STEPS;
		s->rodata->log2_table[i] = (uint32_t)lround(log2(1 + x) * WEIGHT_ONE);
		x *= ALLOC_SCALE_END;
		s->rodata->scale_table[i] =
			(uint32_t)lround((x > 0 ? x / -expm1(-x) : 1) * WEIGHT_ONE);
	}
}

static int share_maps(struct heap *h)
{
	const struct cpu_bpf *cpu = h->conf.events->shared;
	const struct events_bpf *with = h->conf.with;
	struct alloc_bpf *to = h->skel;
	const struct {
		struct bpf_map *to, *from;
	} maps[] = {
		{to->maps.want, cpu->maps.want},
		{to->maps.procs, cpu->maps.procs},
		{to->maps.mappings, cpu->maps.mappings},
		{to->maps.slabs, cpu->maps.slabs},
		{to->maps.pythons, cpu->maps.pythons},
		{to->maps.ring, with->maps.ring},
		{to->maps.counts, with->maps.counts},
		{to->maps.sums, with->maps.sums},
	};
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(maps) / sizeof(*maps) && r >= 0; i++)
		r = bpf_map__reuse_fd(maps[i].to, bpf_map__fd(maps[i].from));
	return r;
}

static bool is_since(unsigned long major, unsigned long minor)
{
	struct utsname u;
	unsigned long a;
	char *end;

	if (uname(&u))
		return false;
	a = strtoul(u.release, &end, 10);
	return a > major ||
	       (a == major && *end == '.' && strtoul(end + 1, NULL, 10) >= minor);
}

static void set_multi(struct bpf_program *prog)
{
	bpf_program__set_expected_attach_type(prog,
					      (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

static int load(struct heap *h, struct err *e)
{
	const struct events_conf *events = h->conf.events;
	uint32_t random = 0;
	size_t i;
	int r;

	h->skel = alloc_bpf__open();
	if (!h->skel)
		return privilege_explain_load(errno, e);
	h->skel->rodata->length_ns = events->length_ns;
	h->skel->rodata->by_pid = events->by_pid;
	h->skel->rodata->by_labels = events->by_labels;
	h->skel->rodata->by_thread = events->by_thread;
	h->skel->rodata->by_cpu = events->by_cpu;
	h->skel->rodata->sample_bytes = h->conf.sample_bytes;
	h->skel->rodata->frees = events->frees;
	h->multi = is_since(MULTI_SINCE);
	if (h->multi) {
		set_multi(h->skel->progs.on_alloc);
		set_multi(h->skel->progs.on_return);
		set_multi(h->skel->progs.on_free);
	}
	fill_tables(h->skel);
	h->skel->bss->inherits = events->inherits;
	bpf_map__set_max_entries(h->skel->maps.cpus, (uint32_t)events->npossible);
	r = share_maps(h);
	if (r >= 0)
		r = alloc_bpf__load(h->skel);
	if (r < 0)
		return privilege_explain_load(-r, e);
	h->cpus = mmap(NULL, events->npossible * sizeof(*h->cpus), PROT_READ | PROT_WRITE,
		       MAP_SHARED, bpf_map__fd(h->skel->maps.cpus), 0);
	if (h->cpus == MAP_FAILED) {
		h->cpus = NULL;
		return err_errno(e, errno, "cannot map the counters of allocations");
	}
	/* the first sample of each CPU is as far away as any other from the one before */
	for (i = 0; i < events->npossible; i++) {
		getrandom(&random, sizeof(random), GRND_NONBLOCK);
		h->cpus[i].left = (int64_t)((double)h->conf.sample_bytes *
					    -log((random + 1.0) / 4294967296.0));
	}
	return 0;
}

/* --- probes -------------------------------------------------------------------------------- */

/* The number that perf_event_open() wants for uprobes; negative: this kernel has none. */
static int read_type(void)
{
	int fd = open("/sys/bus/event_source/devices/uprobe/type", O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? (int)strtol(text, NULL, 10) : -1;
}

bool heap_is_possible(void)
{
	return read_type() >= 0;
}

/* Where in a file, and what the program is told there. */
struct places {
	uint64_t offsets[ALLOC_FUNCTIONS_MAX], cookies[ALLOC_FUNCTIONS_MAX];
	uint32_t n;
};

static void add_place(struct places *p, uint64_t offset, uint64_t cookie)
{
	p->offsets[p->n] = offset;
	p->cookies[p->n++] = cookie;
}

struct multi_attr {
	uint32_t prog, target, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, multi_flags, pid, pad;
};

static bool attach_multi(const struct heap *h, const struct bpf_program *prog,
			 uint32_t tgid, const char *path, const struct places *at,
			 struct hold *out)
{
	struct multi_attr attr = {
		.prog = (uint32_t)bpf_program__fd(prog),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)at->offsets,
		.cookies = (uintptr_t)at->cookies,
		.n = at->n,
		.multi_flags = prog == h->skel->progs.on_return ? UPROBE_MULTI_RETURN : 0,
		.pid = tgid,
	};
	int link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	if (link < 0)
		return false;
	fcntl(link, F_SETFD, FD_CLOEXEC);
	out->probes[out->nprobes++] = (struct probe){.event = -1, .link = link};
	return true;
}

/* The older way: an event for each. */
static bool attach_one(const struct heap *h, const struct bpf_program *prog,
		       uint32_t tgid, const char *path, uint64_t offset, uint64_t cookie,
		       struct probe *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {
		.type = (uint32_t)h->type,
		.size = sizeof(attr),
		.config = prog == h->skel->progs.on_return, /* whether at the return */
		.config1 = (uintptr_t)path,
		.config2 = offset,
	};

	out->event = (int)syscall(SYS_perf_event_open, &attr, tgid, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	if (out->event < 0)
		return false;
	out->link =
		bpf_link_create(bpf_program__fd(prog), out->event, BPF_PERF_EVENT, &opts);
	if (out->link >= 0)
		return true;
	close(out->event);
	return false;
}

/* At the first instruction there, or when that returns. False, with errno: it failed. */
static bool attach(const struct heap *h, const struct bpf_program *prog, uint32_t tgid,
		   const char *path, const struct places *at, struct hold *out)
{
	uint32_t i;

	if (!at->n)
		return true;
	if (h->multi)
		return attach_multi(h, prog, tgid, path, at, out);
	for (i = 0; i < at->n; i++) {
		if (!attach_one(h, prog, tgid, path, at->offsets[i], at->cookies[i],
				&out->probes[out->nprobes]))
			return false;
		out->nprobes++;
	}
	return true;
}

bool heap_needs_admin(const struct heap *h)
{
	return !h->multi;
}

struct burial {
	struct heap *heap;
	struct probe probe;
};

static void detach(const struct probe *p)
{
	close(p->link);
	if (p->event >= 0)
		close(p->event);
}

static void *bury(void *arg)
{
	struct burial *b = arg;

	detach(&b->probe);
	atomic_fetch_sub(&b->heap->buried, 1);
	free(b);
	return NULL;
}

/* To take off a probe the kernel waits for all CPUs, for long: that is done beside. */
static void take_off(struct heap *h, const struct probe *p)
{
	struct burial *b = xmalloc(sizeof(*b));
	pthread_t thread;

	*b = (struct burial){h, *p};
	if (atomic_fetch_add(&h->buried, 1) < BURIALS_MAX &&
	    !pthread_create(&thread, NULL, bury, b))
		pthread_detach(thread);
	else
		bury(b);
}

static void await_burials(struct heap *h)
{
	const struct timespec pause = {.tv_nsec = NS_PER_S / 1000};

	while (atomic_load(&h->buried))
		nanosleep(&pause, NULL);
}

/* --- the price ----------------------------------------------------------------------------- */

/* Where in our own file the address is. */
static int find_own(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t *at = ctx, addr = *at - info->dlpi_addr;
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && addr >= p->p_vaddr &&
		    addr - p->p_vaddr < p->p_filesz) {
			*at = p->p_offset + (addr - p->p_vaddr);
			return 1;
		}
	}
	return 0;
}

static uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint32_t measure_trap(struct heap *h, const struct bpf_program *prog,
			     void (*call)(void))
{
	uint64_t offset = (uintptr_t)call, begin, i;
	struct probe probe;
	struct hold one = {.probes = &probe};
	struct places at = {.n = 0};

	if (!dl_iterate_phdr(find_own, &offset))
		return PRICE_GUESS_NS;
	add_place(&at, offset, ALLOC_COOKIE(ALLOC_NOTHING, 0, 0, 0));
	if (!attach(h, prog, (uint32_t)getpid(), "/proc/self/exe", &at, &one))
		return PRICE_GUESS_NS;
	begin = thread_cpu_ns();
	for (i = 0; i < PRICE_CALLS; i++)
		call();
	begin = thread_cpu_ns() - begin;
	take_off(h, &probe);
	return (uint32_t)(begin / PRICE_CALLS);
}

static void measure_traps(struct heap *h)
{
	const struct bpf_program *prog = h->skel->progs.on_alloc;
	uint32_t both;

	h->trap_ns[ALLOC_START_PUSH] = measure_trap(h, prog, heap_price_push);
	h->trap_ns[ALLOC_START_MARK] = measure_trap(h, prog, heap_price_mark);
	h->trap_ns[ALLOC_START_OTHER] = measure_trap(h, prog, heap_price_other);
	if (!h->conf.events->frees)
		return;
	both = measure_trap(h, h->skel->progs.on_return, heap_price_push);
	if (both > h->trap_ns[ALLOC_START_PUSH])
		h->return_ns = both - h->trap_ns[ALLOC_START_PUSH];
}

static uint64_t process_cpu_ns(uint32_t tgid)
{
	clockid_t clock;

	return clock_getcpuclockid((pid_t)tgid, &clock) ? 0 : clock_ns(clock);
}

static struct spent spent_now(const struct heap *h)
{
	const volatile struct alloc_cpu *cpus = h->cpus;
	struct spent s = {.time_ns = monotonic_ns()};
	size_t i;

	for (i = 0; i < h->ntargets; i++)
		s.cpu_ns += process_cpu_ns(h->targets[i].tgid);
	for (i = 0; i < h->conf.events->npossible; i++) {
		s.calls += cpus[i].calls;
		s.cost_ns += cpus[i].cost_ns;
	}
	return s;
}

struct price {
	double rate, each_ns, share; /* calls a second; share of the CPU time used */
};

static struct price price_of(const struct spent *a, const struct spent *b)
{
	uint64_t calls = b->calls - a->calls, cost = b->cost_ns - a->cost_ns,
		 cpu = b->cpu_ns - a->cpu_ns;
	struct price p = {0};

	if (!calls || b->time_ns <= a->time_ns || b->cpu_ns < a->cpu_ns)
		return p;
	p.rate = (double)calls * NS_PER_S / (double)(b->time_ns - a->time_ns);
	p.each_ns = (double)cost / (double)calls;
	p.share = (double)cost / (double)(cost > cpu ? cost : cpu);
	return p;
}

static void say_price(struct heap *h, const struct price *p)
{
	h->price_said = true;
	cli_note(h->conf.cli,
		 "alloc: %.0f calls/s at %.2f us: %.1f %% of the CPU time of %s", p->rate,
		 p->each_ns / 1e3, 100 * p->share,
		 h->ntargets == 1 ? "the process" : "the processes");
}

int heap_try(struct heap *h, struct err *e)
{
	const struct timespec pause = {.tv_nsec = TRIAL_NS};
	struct spent before, after;
	struct price p;
	size_t i;

	if (h->conf.nothing_runs) {
		h->last = spent_now(h);
		return 0;
	}
	for (i = 0; i < h->ntargets; i++) {
		if (h->targets[i].nholds)
			continue;
		cli_note(h->conf.cli,
			 h->targets[i].is_go
				 ? "alloc: process %u is Go's: prof-scrape has its heap"
				 : "alloc: process %u: no allocator that we know",
			 h->targets[i].tgid);
	}
	before = spent_now(h);
	h->skel->bss->trial = true;
	nanosleep(&pause, NULL);
	h->skel->bss->trial = false;
	after = spent_now(h);
	p = price_of(&before, &after);
	h->last = after;
	if (p.share > SHARE_MAX && !h->conf.force)
		return err_set(e, EBUSY,
			       "-e alloc: would take %.0f %% of the process's CPU time "
			       "(%.0f calls/s at %.2f us); --force does it",
			       100 * p.share, p.rate, p.each_ns / 1e3);
	if (p.rate > 0)
		say_price(h, &p);
	return 0;
}

static void let_go(struct heap *h, struct target *t)
{
	size_t i, k;

	for (i = 0; i < t->nholds; i++) {
		for (k = 0; k < t->holds[i].nprobes; k++)
			take_off(h, &t->holds[i].probes[k]);
		free(t->holds[i].probes);
	}
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pidfd = -1;
	free(t->holds);
	t->holds = NULL;
	t->nholds = t->cap = 0;
}

void heap_end(struct heap *h)
{
	struct spent now = spent_now(h);

	if (!h->price_said && now.calls)
		cli_note(h->conf.cli, "alloc: %" PRIu64 " calls at %.2f us", now.calls,
			 (double)now.cost_ns / (double)now.calls / 1e3);
}

void heap_check(struct heap *h, uint64_t now_ns)
{
	struct spent now;
	struct price p;
	size_t i;

	if (h->gave_up || now_ns - h->last.time_ns < CHECK_NS)
		return;
	now = spent_now(h);
	p = price_of(&h->last, &now);
	h->last = now;
	if (p.rate > 0 && !h->price_said)
		say_price(h, &p);
	if (p.share <= SHARE_MAX || h->conf.force)
		return;
	/* what is still called while probes are taken off is not recorded */
	heap_stop(h, now.time_ns);
	h->gave_up = true;
	for (i = 0; i < h->ntargets; i++)
		let_go(h, &h->targets[i]);
	cli_note(h->conf.cli,
		 "alloc: ends here: it takes %.0f %% of the CPU time (%.0f calls/s at "
		 "%.2f us); --force goes on",
		 100 * p.share, p.rate, p.each_ns / 1e3);
}

/* --- processes ----------------------------------------------------------------------------- */

static struct target *target_of(struct heap *h, uint32_t tgid)
{
	size_t i;

	for (i = 0; i < h->ntargets; i++) {
		if (h->targets[i].tgid == tgid)
			return &h->targets[i];
	}
	XGROW(h->targets, h->ntargets, h->targets_cap);
	h->targets[h->ntargets] = (struct target){
		.tgid = tgid,
		.pidfd = (int)syscall(SYS_pidfd_open, tgid, 0),
	};
	return &h->targets[h->ntargets++];
}

/* The file's number in cookies: its functions are told to the programs. Negative: no room. */
static int number_of(struct heap *h, struct table *t)
{
	struct alloc_functions f = {.n = t->alloc->n};
	uint32_t i;

	for (i = 0; i < h->nfiles; i++) {
		if (h->files[i] == t)
			return (int)i;
	}
	if (h->nfiles == ALLOC_FILES_MAX)
		return -ENOSPC;
	for (i = 0; i < f.n; i++) {
		f.v[i].start = t->alloc->v[i].addr;
		f.v[i].size = t->alloc->v[i].size;
	}
	if (bpf_map_update_elem(bpf_map__fd(h->skel->maps.files), &h->nfiles, &f,
				BPF_ANY))
		return -errno;
	t->refs++; /* for good: what is numbered stays */
	h->files[h->nfiles] = t;
	return (int)h->nfiles++;
}

/* All functions of a file; false: it failed. */
static bool hold_file(struct heap *h, struct hold *one, uint32_t tgid, const char *path,
		      uint32_t file)
{
	const struct alloc_places *all = one->table->alloc;
	struct places starts = {.n = 0}, ends = {.n = 0}, frees = {.n = 0};
	uint32_t i;

	for (i = 0; i < all->n; i++) {
		const struct alloc_place *p = &all->v[i];

		add_place(p->op == ALLOC_FREE ? &frees : &starts, p->offset,
			  ALLOC_COOKIE(p->op, i, file, h->trap_ns[p->start]));
		if (p->op != ALLOC_FREE)
			add_place(&ends, p->offset,
				  ALLOC_COOKIE(p->op, i, file, h->return_ns));
	}
	/* the ends first: a call that began before is of no interest */
	if (h->conf.events->frees &&
	    (!attach(h, h->skel->progs.on_return, tgid, path, &ends, one) ||
	     !attach(h, h->skel->progs.on_free, tgid, path, &frees, one)))
		return false;
	return attach(h, h->skel->progs.on_alloc, tgid, path, &starts, one);
}

static void hold(struct heap *h, struct target *t, const struct live *l)
{
	struct table *table = l->file->table;
	int number = number_of(h, table),
	    fd = procread_open(l->file, t->tgid, l->start, l->end);
	struct hold one = {.table = table};
	char path[32];
	bool good;

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	one.probes = xcalloc(2 * (size_t)table->alloc->n, sizeof(*one.probes));
	good = number >= 0 && hold_file(h, &one, t->tgid, path, (uint32_t)number);
	if (!good && !h->failure_said) {
		h->failure_said = true;
		cli_note(h->conf.cli, "alloc: cannot attach to %s: %s", table->like.name,
			 number < 0	   ? "too many files"
			 : errno == EACCES ? "needs CAP_SYS_ADMIN before Linux 6.12"
					   : strerror(errno));
	}
	close(fd);
	XGROW(t->holds, t->nholds, t->cap);
	t->holds[t->nholds++] = one;
}

/* Its blocks are no more. */
static void forget(struct heap *h, uint32_t tgid)
{
	const struct alloc_forget who = {tgid};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &who, .ctx_size_in = sizeof(who));

	if (h->conf.events->frees)
		bpf_prog_test_run_opts(bpf_program__fd(h->skel->progs.forget_live),
				       &opts);
}

static bool holds(const struct target *t, const struct table *table)
{
	size_t i;

	for (i = 0; i < t->nholds; i++) {
		if (t->holds[i].table == table)
			return true;
	}
	return false;
}

static void update_one(void *ctx, struct proc *p)
{
	struct space *s = proc_last_space(p);
	struct heap *h = ctx;
	struct target *t;
	uint64_t from_ns;
	size_t i;

	if (!p->is_named || !s || p->closed_ns != UINT64_MAX)
		return;
	t = target_of(h, p->tgid);
	from_ns = p->images[p->nimages - 1].from_ns;
	if (t->from_ns && t->from_ns != from_ns)
		forget(h, t->tgid);
	t->from_ns = from_ns;
	for (i = 0; i < s->nlive; i++) {
		const struct table *table =
			s->live[i].file ? s->live[i].file->table : NULL;

		t->is_go |= table && table->is_go;
		if (table && table->alloc && !holds(t, table))
			hold(h, t, &s->live[i]);
	}
}

void heap_update(struct heap *h, struct procs *ps)
{
	if (!h->gave_up)
		procs_each(ps, update_one, h);
}

void heap_gone(struct heap *h, uint32_t tgid)
{
	size_t i;

	for (i = 0; i < h->ntargets; i++) {
		if (h->targets[i].tgid != tgid)
			continue;
		forget(h, tgid);
		let_go(h, &h->targets[i]);
		h->targets[i] = h->targets[--h->ntargets];
		return;
	}
}

const struct bpf_program *heap_collector(struct heap *h)
{
	struct pollfd p;
	size_t i;

	for (i = 0; i < h->ntargets; i++) {
		p = (struct pollfd){.fd = h->targets[i].pidfd, .events = POLLIN};
		if (h->gave_up || (p.fd >= 0 && poll(&p, 1, 0) > 0))
			forget(h, h->targets[i].tgid);
	}
	return h->skel->progs.collect_live;
}

/* --- all of it ----------------------------------------------------------------------------- */

int heap_open(const struct heap_conf *conf, struct heap **out, struct err *e)
{
	struct heap *h = xcalloc(1, sizeof(*h));
	int r;

	h->conf = *conf;
	h->type = read_type();
	r = load(h, e);
	if (r < 0) {
		heap_free(h);
		return r;
	}
	measure_traps(h);
	*out = h;
	return 0;
}

void heap_free(struct heap *h)
{
	size_t i;

	if (!h)
		return;
	for (i = 0; i < h->ntargets; i++)
		let_go(h, &h->targets[i]);
	await_burials(h);
	free(h->targets);
	if (h->cpus)
		munmap(h->cpus, h->conf.events->npossible * sizeof(*h->cpus));
	alloc_bpf__destroy(h->skel);
	free(h);
}

void heap_start(struct heap *h, uint64_t first_ns, uint64_t stop_ns)
{
	h->skel->bss->stop_ns = stop_ns;
	__atomic_store_n(&h->skel->bss->first_ns, first_ns, __ATOMIC_RELEASE);
}

void heap_stop(struct heap *h, uint64_t stop_ns)
{
	if (stop_ns < h->skel->bss->stop_ns)
		h->skel->bss->stop_ns = stop_ns;
}

void heap_decide_anew(struct heap *h, bool inherits)
{
	h->skel->bss->inherits = inherits;
	h->skel->bss->generation++;
}
