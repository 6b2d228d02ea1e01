/* SPDX-License-Identifier: Apache-2.0 */
/* A capture from start to end: sample, cut into intervals, write each as a profile. */
#include "tools/capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "tools/capture/build.h"
#include "tools/capture/clock.h"
#include "tools/capture/code.h"
#include "tools/capture/command.h"
#include "tools/capture/deliver.h"
#include "tools/capture/host.h"
#include "tools/capture/outname.h"
#include "tools/capture/privilege.h"
#include "tools/capture/procread.h"
#include "tools/capture/report.h"
#include "tools/capture/sampler.h"
#include "tools/capture/sideband.h"
#include "tools/capture/survey.h"

#define DRAIN_NS (NS_PER_S / 5)	       /* the ring is emptied this often */
#define SIDE_PAUSE_NS (NS_PER_S / 100) /* between two looks at the side band */
#define SETTLE_NS SIDE_PAUSE_NS	 /* records are in their rings after this, on every CPU */
#define TABLES_NS (NS_PER_S / 5) /* to wait for tables at the end of an interval */
/* The same of what runs already, at the start: on a machine under fire it takes that long. */
#define FIRST_TABLES_NS (3 * NS_PER_S)
#define HOLD_NS (2 * NS_PER_S) /* a copied stack waits for its tables */
#define LATE_NS                                                                          \
	(5 * NS_PER_S) /* samples wait so long for names of code made at run time */
#define FORGET_NS (HOLD_NS + NS_PER_S) /* samples are never later than this */
#define SAMPLE_BYTES 1024	       /* of a deep one, to size the ring */
#define RING_MAX (UINT64_C(64) << 20)
#define HELD_MAX (UINT64_C(32) << 20)
#define PENDING_MAX (UINT64_C(1) << 30)
#define NEVER UINT64_MAX
#define CACHE_BYTES (UINT64_C(256) << 20)
#define KEEP_BYTES (UINT64_C(4) << 30)
#define STEP_NS NS_PER_S /* UTC is looked at anew when it moved this much */

enum wake {
	WAKE_SIGNAL,
	WAKE_SIDE,
	WAKE_OUTPUT,
	WAKE_TABLE,
	WAKE_WRITER,
	WAKE_KEEPER,
	WAKE_SAMPLES,
};

struct capture {
	const struct capture_opts *o;
	struct host host;
	struct build_conf conf;
	bool unprivileged;	    /* sampled by perf events of */
	struct thread_list threads; /* these, and what they start */
	struct sampler *sampler;
	struct sideband *side;
	struct procs procs;
	struct code code;
	struct kernel kernel;
	struct label_sources sources;
	struct builder builder;
	struct command command;
	struct report report;
	struct deliver deliver;
	struct buf pending; /* samples taken from the ring, not yet in a profile */
	int epoll_fd;
	uint64_t first_ns;	   /* when sampling began */
	uint64_t start_ns, end_ns; /* of the running interval */
	uint64_t stop_ns;	   /* of the capture, or NEVER */
	uint64_t drained_ns;
	uint64_t side_ns; /* when to look at records that were too fresh; NEVER: none */
	int64_t utc_ns,
		step_ns;    /* offset of UTC; what it moved by before this interval */
	uint64_t side_lost; /* up to the last interval */
	uint64_t cpu_ns;    /* the same */
	uint64_t done;
	bool stop, late_said, writer_news;
};

/* --- what is sampled ----------------------------------------------------------------------- */

static void on_side_record(void *ctx, struct side_record *r)
{
	struct capture *c = ctx;

	if (r->kind == SIDE_COMM && r->exec && c->procs.env_names)
		r->env = procread_env(r->tgid, c->procs.env_names);
	/* the name tells the kernel; another program of the same name does not */
	if (r->kind == SIDE_COMM && r->exec && c->sources.chooser)
		sampler_undecide(c->sampler, r->tgid);
	if (r->kind == SIDE_CODE)
		c->kernel.stale = true;
}

static void on_gone(void *ctx, uint32_t tgid)
{
	struct capture *c = ctx;

	sampler_forget(c->sampler, tgid);
	code_gone(&c->code, tgid);
}

/* --- samples ------------------------------------------------------------------------------- */

/* Nobody but who was named by number: the kernel alone can tell. */
static bool by_pid_alone(const struct choice_conf *choice)
{
	return choice->by_pid && !choice->comms.n && !choice->cgroups.n &&
	       !choice->containers.n;
}

static void on_sample(void *ctx, const struct sample_event *ev, size_t size)
{
	struct capture *c = ctx;

	if (size >= sizeof(ev->h) && size == sample_event_size(&ev->h))
		buf_put(&c->pending, ev, size);
}

static void drain(struct capture *c)
{
	sampler_drain(c->sampler, on_sample, c);
	sideband_drain(c->side, on_side_record, c);
}

static void apply_record(void *ctx, const struct side_record *r)
{
	struct capture *c = ctx;
	const struct space *s;
	struct proc *p;

	procs_record(&c->procs, r);
	if (!c->deliver.keeper || r->kind != SIDE_MMAP)
		return;
	/* it may be gone before its first sample is looked at */
	p = procs_latest(&c->procs, r->tgid);
	s = p ? proc_last_space(p) : NULL;
	if (s && s->n && s->vmas[s->n - 1].from_ns == r->time_ns &&
	    s->vmas[s->n - 1].file && (p->is_named || !by_pid_alone(&c->o->choice)))
		keeper_see(c->deliver.keeper, s->vmas[s->n - 1].file, r->tgid, r->start,
			   r->start + r->len);
}

/* All records from before until_ns have come. */
static void apply_records(struct capture *c, uint64_t until_ns)
{
	sideband_take(c->side, until_ns, apply_record, c);
	code_update(&c->code, until_ns > c->code.known_ns ? until_ns : c->code.known_ns);
}

/* The stack of a sample was copied because there was no table, and one may still come. */
static bool is_held(const struct capture *c, const struct sample_head *h,
		    uint64_t until_ns)
{
	return h->ncopy && h->ktime + HOLD_NS > until_ns && c->pending.len < HELD_MAX &&
	       code_is_pending(&c->code);
}

/* Put the samples from before until_ns into the profile; at the end of an interval all of them. */
static int process(struct capture *c, uint64_t until_ns, bool all, struct err *e)
{
	const struct sample_event *ev;
	size_t at, size, kept = 0;
	int r;

	if (c->pending.overflow)
		return err_set(e, ENOMEM, "samples come faster than they can be handled");
	apply_records(c, until_ns);
	for (at = 0; at < c->pending.len; at += size) {
		ev = (const void *)(c->pending.data + at);
		size = sample_event_size(&ev->h);
		if (ev->h.ktime < until_ns && (all || !is_held(c, &ev->h, until_ns))) {
			r = builder_add(&c->builder, ev, e);
			if (r < 0)
				return r;
		} else {
			memmove(c->pending.data + kept, ev, size);
			kept += size;
		}
	}
	c->pending.len = kept;
	if (c->builder.late.len &&
	    (all || until_ns > c->builder.late_since_ns + LATE_NS)) {
		r = builder_settle(&c->builder, e);
		if (r < 0)
			return r;
	}
	/* who waits for a name still is to be found */
	if (until_ns > FORGET_NS && !c->builder.late.len)
		procs_forget(&c->procs, until_ns - FORGET_NS, on_gone, c);
	return 0;
}

/* Between cuts only what is surely complete is handled: what came before the last time. */
static int tick(struct capture *c, struct err *e)
{
	uint64_t now = monotonic_ns(), until = c->drained_ns;

	if (c->deliver.keeper)
		keeper_poll(c->deliver.keeper);
	drain(c);
	c->drained_ns = now;
	return process(c, until < c->end_ns ? until : c->end_ns, false, e);
}

/* --- intervals ----------------------------------------------------------------------------- */

static int64_t check_utc(struct capture *c)
{
	int64_t now = utc_offset_ns(), moved = now - c->utc_ns;

	if (moved < STEP_NS && moved > -STEP_NS)
		return 0;
	c->utc_ns = now;
	return moved;
}

static uint64_t next_end(const struct capture *c, uint64_t end_ns)
{
	uint64_t next = c->o->interval_ns ? end_ns + c->o->interval_ns : NEVER;

	return next < c->stop_ns ? next : c->stop_ns;
}

/* The counters of intervals that nobody reads begin to mix after some. */
static void check_late(struct capture *c, uint64_t end_ns)
{
	uint64_t late_ns = monotonic_ns() - end_ns;

	if (c->late_said || !c->o->interval_ns ||
	    late_ns < (uint64_t)c->o->interval_ns * (COUNT_SETS - 2))
		return;
	cli_note(&c->o->cli, "making a profile takes longer than an interval: counters "
			     "are not exact");
	c->late_said = true;
}

/* Each has its own store of labels. */
static void begin_profile(struct capture *c)
{
	builder_begin(&c->builder);
	chooser_reset(c->sources.chooser);
}

/* Look at all processes. What is told of them holds from then on. */
static int scan(struct capture *c, struct err *e)
{
	int r = procs_scan(&c->procs, e);

	if (r >= 0)
		code_update(&c->code, monotonic_ns());
	return r;
}

static int end_interval(struct capture *c, uint64_t end_ns, struct err *e)
{
	struct buf out = BUF_INIT(UINT64_C(4) << 30);
	struct interval_info info = {
		.time_ns = (int64_t)c->start_ns + c->utc_ns,
		.duration_ns = end_ns - c->start_ns,
		.step_ns = c->step_ns,
	};
	struct writer_counts counts;
	uint64_t lost, bytes;
	int r;

	check_late(c, end_ns);
	sampler_cut(c->sampler, end_ns, &info.ticks);
	drain(c);
	c->drained_ns = monotonic_ns();
	lost = sideband_lost(c->side);
	info.side_lost = lost - c->side_lost;
	if (info.side_lost && scan(c, e) < 0)
		return -e->code;
	c->side_lost = lost;
	apply_records(c, end_ns);
	code_wait(&c->code, TABLES_NS);
	r = process(c, end_ns, true, e);
	info.ticks.filtered += (int64_t)c->builder.dropped;
	info.cpu_ns = code_cpu_ns(&c->code) - c->cpu_ns;
	c->cpu_ns += info.cpu_ns;
	info.dropped = writer_take_lost(c->deliver.writer);
	c->done++;
	if (end_ns >= c->stop_ns || (c->o->count && c->done >= c->o->count))
		c->stop = true;
	if (r >= 0)
		r = builder_finish(&c->builder, &info, &out, e);
	bytes = out.len;
	if (r >= 0) {
		writer_counts(c->deliver.writer, &counts);
		c->report.dropped = counts.lost;
		deliver_put(&c->deliver, &out, info.time_ns, info.dropped, c->stop);
		report_interval(&c->report, &c->builder, &info, bytes);
	}
	buf_release(&out);
	if (c->kernel.hidden && !c->kernel.warned) {
		c->kernel.warned = true;
		cli_note(&c->o->cli,
			 "kernel symbols are hidden (needs CAP_SYSLOG, or "
			 "kernel.kptr_restrict=0); kernel frames stay as addresses");
	}
	c->start_ns = end_ns;
	c->end_ns = next_end(c, end_ns);
	c->step_ns = check_utc(c);
	if (r >= 0 && !c->stop)
		begin_profile(c);
	if (c->deliver.keeper)
		keeper_poll(c->deliver.keeper);
	return r;
}

/* Stop now, unless the interval has ended by itself meanwhile. */
static int end_early(struct capture *c, struct err *e)
{
	uint64_t now = sampler_stop(c->sampler);

	return end_interval(c, now < c->end_ns ? now : c->end_ns, e);
}

/* --- waiting ------------------------------------------------------------------------------- */

static void reload_rules(struct capture *c)
{
	struct err e;

	if (chooser_reload(c->sources.chooser, &e) < 0)
		cli_note(&c->o->cli, "the rules stay as they were: %s", e.msg);
	else
		procs_forget_labels(&c->procs);
}

static void stop_by_signal(struct capture *c)
{
	if (!c->stop)
		c->deliver.signal_ns = monotonic_ns();
	c->stop = true;
}

static void on_signal(struct capture *c)
{
	struct signalfd_siginfo si;

	while (read(c->deliver.signal_fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGHUP && c->o->choice.rules_file)
			reload_rules(c);
		else if (si.ssi_signo != SIGCHLD)
			stop_by_signal(c);
	}
	if (c->o->command && command_ended(&c->command))
		c->stop = true;
}

/* The unwinder is to know of new code at once, not when the profile does. */
static void apply_side_band(struct capture *c)
{
	uint64_t now = monotonic_ns();

	sideband_drain(c->side, on_side_record, c);
	apply_records(c, now - SETTLE_NS);
	c->side_ns = sideband_has_more(c->side) ? now + SETTLE_NS : NEVER;
}

static void look_at_side_band(struct capture *c)
{
	const struct timespec pause = {.tv_nsec = SIDE_PAUSE_NS};

	/* a process that starts makes a dozen records, and each would wake us */
	nanosleep(&pause, NULL);
	apply_side_band(c);
}

static void wait_for_events(struct capture *c)
{
	uint64_t now = monotonic_ns(), until = c->drained_ns + DRAIN_NS;
	struct epoll_event ev[8];
	int n, i, ms;

	if (until > c->end_ns)
		until = c->end_ns;
	if (until > c->side_ns)
		until = c->side_ns;
	ms = until > now ? (until - now + 999999) / 1000000 : 0;
	n = epoll_wait(c->epoll_fd, ev, 8, ms);
	for (i = 0; i < n; i++) {
		if (ev[i].data.u64 == WAKE_SIGNAL) {
			on_signal(c);
		} else if (ev[i].data.u64 == WAKE_OUTPUT) {
			c->stop = true;
		} else if (ev[i].data.u64 == WAKE_KEEPER) {
			keeper_poll(c->deliver.keeper);
		} else if (ev[i].data.u64 == WAKE_WRITER) {
			c->writer_news = true;
		} else if (ev[i].data.u64 == WAKE_TABLE) {
			code_update(&c->code, c->code.known_ns);
		} else if (ev[i].data.u64 == WAKE_SAMPLES) {
			sampler_drain(c->sampler, on_sample, c);
		} else if (i == n - 1 || ev[i + 1].data.u64 != WAKE_SIDE) {
			look_at_side_band(c);
		}
	}
	if (monotonic_ns() >= c->side_ns)
		apply_side_band(c);
}

static int run(struct capture *c, struct err *e)
{
	uint64_t now;
	int r = 0;

	while (!r && !c->stop) {
		wait_for_events(c);
		now = monotonic_ns();
		if (c->writer_news && deliver_check(&c->deliver, e) < 0)
			return -e->code;
		c->writer_news = false;
		if (now >= c->end_ns)
			r = end_interval(c, c->end_ns, e);
		else if (c->stop)
			return end_early(c, e);
		else if (now - c->drained_ns >= DRAIN_NS)
			r = tick(c, e);
	}
	return r;
}

/* --- start --------------------------------------------------------------------------------- */

static int watch(struct capture *c, int fd, enum wake wake, uint32_t events,
		 struct err *e)
{
	struct epoll_event ev = {.events = events, .data.u64 = wake};

	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return err_errno(e, errno, "epoll");
	return 0;
}

/* A reader that goes away is noticed at once, not at the next profile. */
static void watch_reader(struct capture *c)
{
	const char *pattern = c->o->cli.output;
	struct epoll_event ev = {.data.u64 = WAKE_OUTPUT};

	if (!pattern || !strcmp(pattern, "-"))
		epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, STDOUT_FILENO, &ev);
}

static int start_delivery(struct capture *c, struct err *e)
{
	struct deliver *d = &c->deliver;
	int r = deliver_start(d, e);

	if (r >= 0)
		r = watch(c, writer_fd(d->writer), WAKE_WRITER, EPOLLIN, e);
	if (r >= 0 && d->keeper)
		r = watch(c, keeper_fd(d->keeper), WAKE_KEEPER, EPOLLIN, e);
	return r;
}

/* SIGPIPE is not for us: the interval that nobody reads is an ordinary end. */
static int catch_signals(struct capture *c, struct err *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	c->deliver.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->deliver.signal_fd < 0)
		return err_errno(e, errno, "signalfd");
	return watch(c, c->deliver.signal_fd, WAKE_SIGNAL, EPOLLIN, e);
}

static uint64_t default_ring(const struct capture_opts *o, size_t ncpus)
{
	uint64_t fixed = (UINT64_C(2) << 20) + ncpus * (UINT64_C(128) << 10);
	/* what comes between two looks, twice, if every stack is deep */
	uint64_t flow =
		(uint64_t)o->rate_hz * ncpus * SAMPLE_BYTES * 2 / (NS_PER_S / DRAIN_NS);
	uint64_t n = fixed > flow ? fixed : flow;

	return n < RING_MAX ? n : RING_MAX;
}

static int check_pids(const struct capture_opts *o, struct err *e)
{
	uint32_t tgid;
	size_t i;

	for (i = 0; i < o->npids; i++) {
		if (kill(o->pids[i], 0) < 0 && errno == ESRCH)
			return err_set(e, ESRCH, "no process %u", o->pids[i]);
		tgid = procread_tgid(o->pids[i]);
		if (tgid && tgid != o->pids[i])
			return err_set(e, EINVAL, "%u is a thread of process %u",
				       o->pids[i], tgid);
	}
	return 0;
}

/* Whom the perf events follow, if it is to be done by those. */
static void list_threads(struct capture *c)
{
	const struct capture_opts *o = c->o;
	size_t i;

	for (i = 0; i < o->npids; i++)
		threads_add_process(&c->threads, o->pids[i]);
	if (o->command)
		threads_add_process(&c->threads, (uint32_t)c->command.pid);
}

static void name_process(struct capture *c, uint32_t tgid)
{
	struct proc *p = procs_latest(&c->procs, tgid);

	if (p)
		p->is_named = true;
}

static int open_sources(struct capture *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	struct sampler_conf conf = {
		.cpus = c->host.cpus,
		.ncpus = c->host.ncpus,
		.rate_hz = o->rate_hz,
		.ring_bytes = sampler_ring_bytes(
			o->ring_bytes ? o->ring_bytes : default_ring(o, c->host.ncpus)),
		.by_pid = by_pid_alone(&o->choice),
		.by_labels = c->sources.chooser != NULL,
		.inherits = c->sources.chooser && chooser_inherits(c->sources.chooser),
		.length_ns = o->interval_ns ? (uint64_t)o->interval_ns : NEVER,
		.form = o->unwinder,
		.threads = c->unprivileged ? &c->threads : NULL,
	};
	size_t i;
	int r;

	if (c->unprivileged)
		list_threads(c);
	c->report = (struct report){
		.opts = o,
		.unprivileged = c->unprivileged,
		.ring_bytes = conf.ring_bytes,
	};
	r = sampler_open(&conf, &c->sampler, e);
	if (r < 0)
		return r;
	for (i = 0; i < o->npids; i++)
		sampler_want(c->sampler, o->pids[i]);
	if (o->command)
		sampler_want(c->sampler, c->command.pid);
	/* first listen, then look: what happens between is seen twice, but not missed */
	r = sideband_open(c->host.cpus, c->host.ncpus, conf.threads, &c->side, e);
	if (r < 0)
		return !conf.threads && (r == -EACCES || r == -EPERM)
			       ? privilege_explain_perf(-r, e)
			       : r;
	r = sampler_epoll(c->sampler, c->epoll_fd, WAKE_SAMPLES, e);
	if (r >= 0)
		r = sideband_epoll(c->side, c->epoll_fd, WAKE_SIDE, e);
	if (r < 0)
		return r;
	r = code_open(&c->code, &c->procs, c->sampler, e);
	if (r >= 0 && code_fd(&c->code) >= 0)
		r = watch(c, code_fd(&c->code), WAKE_TABLE, EPOLLIN, e);
	if (r >= 0)
		r = procs_scan(&c->procs, e);
	if (r >= 0 && c->sources.chooser) {
		chooser_connect(c->sources.chooser, c->sampler);
		survey_decide(&c->procs, &c->conf.labels, &c->sources);
	}
	for (i = 0; i < o->npids; i++)
		name_process(c, o->pids[i]);
	if (o->command)
		name_process(c, c->command.pid);
	if (r >= 0)
		code_update(&c->code, monotonic_ns());
	return r;
}

static bool asks_for_own(const struct capture_opts *o)
{
	bool own = by_pid_alone(&o->choice);
	struct stat st;
	char path[32];
	size_t i;

	for (i = 0; i < o->npids && own; i++) {
		snprintf(path, sizeof(path), "/proc/%u", o->pids[i]);
		own = !stat(path, &st) && st.st_uid == geteuid();
	}
	return own;
}

static void tell_form(const struct capture *c)
{
	enum unwinder_form form = sampler_form(c->sampler);

	if (c->unprivileged) {
		cli_note(&c->o->cli, "without CAP_BPF and CAP_PERFMON: by perf events%s",
			 sampler_hides_kernel(c->sampler)
				 ? ", and without the kernel's part"
				 : "");
		return;
	}

	cli_info(&c->o->cli, "unwinder %s, %" PRIu32 " verifier steps",
		 unwinder_form_names[form], sampler_steps(c->sampler));
	if (form == UNWINDER_FP && c->o->unwinder != UNWINDER_FP)
		cli_note(&c->o->cli, "this kernel rejects the unwinder; continuing with "
				     "frame pointers "
				     "only, stacks will be short");
}

static void set_up(struct capture *c)
{
	c->conf = (struct build_conf){
		.rate_hz = c->o->rate_hz,
		.depth_limit = c->host.max_stack,
		.ncpus = c->host.ncpus,
		.cpu_model = c->host.cpu_model,
		.host = c->host.name,
		.labels = c->o->labels,
	};
	c->conf.labels.kernel_release = c->host.kernel_release;
	if (!c->conf.labels.node)
		c->conf.labels.node = c->host.name;
	c->builder = (struct builder){
		.conf = &c->conf,
		.procs = &c->procs,
		.kernel = &c->kernel,
		.sources = c->sources,
		.late = BUF_INIT(BUILDER_LATE_MAX_BYTES),
	};
	c->kernel.anonymous = c->o->anonymous_kernel;
}

static int start(struct capture *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	uint64_t limit = o->duration_ns;
	int r;

	if (o->count && (!limit || o->count < limit / o->interval_ns))
		limit = o->count * o->interval_ns;
	begin_profile(c);
	code_wait(&c->code, FIRST_TABLES_NS);
	code_started(&c->code);
	c->utc_ns = utc_offset_ns();
	c->start_ns = c->drained_ns = monotonic_ns();
	c->stop_ns = limit ? c->start_ns + limit : NEVER;
	c->end_ns = next_end(c, c->start_ns);
	r = sampler_start(c->sampler, c->start_ns, c->stop_ns, e);
	if (!r && o->command)
		r = command_run(&c->command, o->command[0], e);
	return r;
}

/* By BPF, or, for who may not and asks for nothing but some processes, by perf events. */
static int choose_way(struct capture *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	int r = privilege_check(e);

	if (r >= 0 || privilege_for_bpf() || !by_pid_alone(&o->choice))
		return r;
	if (o->unwinder != UNWINDER_AUTO)
		return err_set(e, EPERM, "--unwinder %s: needs CAP_BPF and CAP_PERFMON",
			       unwinder_form_names[o->unwinder]);
	c->unprivileged = true;
	return 0;
}

static int capture(struct capture *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	const struct code_conf code_conf = {
		.cache = o->cache,
		.cache_bytes = CACHE_BYTES,
		.by_pid = by_pid_alone(&o->choice),
		.cli = &o->cli,
	};
	const struct keeper_conf keeper_conf = {
		.dir = o->keep,
		.max_bytes = o->keep_bytes ? o->keep_bytes : KEEP_BYTES,
		.cli = &o->cli,
	};
	int r;

	/* or the next file opened, of whatever kind, would be it */
	if (!o->cli.output && fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return err_set(e, EBADF, "standard output is closed");
	/* a file that may not grow is like a full disk; our children inherit this */
	signal(SIGXFSZ, SIG_IGN);
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll_fd < 0)
		return err_errno(e, errno, "epoll");
	if (choice_by_labels(&o->choice)) {
		r = chooser_new(&o->choice, &c->sources.chooser, e);
		if (r < 0)
			return r;
	}
	r = host_init(&c->host, e);
	if (r < 0)
		return r;
	set_up(c);
	if (o->explain) {
		r = procs_scan(&c->procs, e);
		return r < 0 ? r
			     : survey_explain(&c->procs, &c->conf.labels, &c->sources, e);
	}
	r = choose_way(c, e);
	if (r >= 0 && o->unwinder != UNWINDER_FP)
		r = code_start(&c->code, &code_conf, e);
	if (r >= 0 && o->keep)
		r = keeper_start(&keeper_conf, &c->deliver.keeper, e);
	c->builder.keeper = c->deliver.keeper;
	if (r >= 0)
		r = check_pids(o, e);
	if (r >= 0)
		r = deliver_open(&c->deliver, e);
	if (r >= 0) {
		watch_reader(c);
		r = catch_signals(c, e);
	}
	if (r >= 0 && o->command)
		r = command_prepare(&c->command, o->command, !o->cli.output, e);
	if (r >= 0)
		r = open_sources(c, e);
	if (r < 0)
		return r;
	c->conf.unprivileged = c->unprivileged;
	c->conf.hides_kernel = sampler_hides_kernel(c->sampler);
	privilege_drop(!c->deliver.conf.stream || o->cache);
	tell_form(c);
	if (c->unprivileged && !c->conf.hides_kernel)
		kernel_load(&c->kernel);
	if (!c->unprivileged)
		c->kernel.warned = privilege_tell_missing(&o->cli, asks_for_own(o));
	cli_info(&o->cli,
		 "%u samples/s on each of %zu CPUs, ring of %" PRIu64
		 " KiB, %zu processes",
		 o->rate_hz, c->host.ncpus, c->report.ring_bytes >> 10, c->procs.n);
	r = start_delivery(c, e);
	if (r >= 0)
		r = start(c, e);
	if (r >= 0)
		r = run(c, e);
	if (r >= 0 || r == -EPIPE)
		r = deliver_end(&c->deliver, e);
	if (r >= 0) {
		report_unwinding(&c->report, &c->builder.stops, &c->code.tables);
		report_end(&c->report);
	}
	return r;
}

int capture_run(const struct capture_opts *o, struct err *e)
{
	struct capture c = {
		.o = o,
		.pending = BUF_INIT(PENDING_MAX),
		.epoll_fd = -1,
		.deliver = {.o = o, .signal_fd = -1},
		.side_ns = NEVER,
		.code = {.tabler = {.fd = -1}},
		.command = {.go_fd = -1, .fail_fd = -1},
	};
	int r;

	procs_init(&c.procs);
	c.sources.cgroups = cgroups_new();
	c.sources.containers = containers_new(o->root);
	c.procs.env_names = o->labels.nenv ? (const char *)o->env_names.data : NULL;
	r = capture(&c, e);
	if (r == -EPIPE) /* the reader has enough */
		r = 0;
	deliver_release(&c.deliver);
	builder_release(&c.builder);
	stops_release(&c.builder.stops);
	procs_release(&c.procs);
	code_release(&c.code);
	sampler_free(c.sampler);
	sideband_free(c.side);
	threads_release(&c.threads);
	kernel_release(&c.kernel);
	cgroups_free(c.sources.cgroups);
	containers_free(c.sources.containers);
	chooser_free(c.sources.chooser);
	command_release(&c.command);
	host_release(&c.host);
	buf_release(&c.pending);
	if (c.epoll_fd >= 0)
		close(c.epoll_fd);
	if (c.deliver.signal_fd >= 0)
		close(c.deliver.signal_fd);
	return r;
}
