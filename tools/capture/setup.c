/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture opens before it begins, and how it is told to begin. */
#include "tools/capture/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/capture/clock.h"
#include "tools/capture/kinds.h"
#include "tools/capture/privilege.h"
#include "tools/capture/procread.h"
#include "tools/capture/survey.h"

/*
 * To wait for the tables of what runs already, at the start: on a machine under fire it takes
 * that long.
 */
#define FIRST_TABLES_NS (3 * NS_PER_S)
#define SAMPLE_BYTES 1024 /* of a deep one, to size the ring */
#define RING_MAX (UINT64_C(64) << 20)
#define EVENT_RING                                                                       \
	(UINT64_C(16) << 20) /* new processes have new stacks, many of them copied */

static int watch(struct session *c, int fd, enum wake wake, uint32_t events,
		 struct err *e)
{
	struct epoll_event ev = {.events = events, .data.u64 = wake};

	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return err_errno(e, errno, "epoll");
	return 0;
}

/* A reader that goes away is noticed at once, not at the next profile. */
void session_watch_reader(struct session *c)
{
	const char *pattern = c->o->cli.output;
	struct epoll_event ev = {.data.u64 = WAKE_OUTPUT};

	if (!pattern || !strcmp(pattern, "-"))
		epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, STDOUT_FILENO, &ev);
}

int session_start_delivery(struct session *c, struct err *e)
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
int session_catch_signals(struct session *c, struct err *e)
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
	uint64_t flow = (uint64_t)o->rate_hz * ncpus * SAMPLE_BYTES * 2 /
			(NS_PER_S / SESSION_DRAIN_NS);
	uint64_t n = fixed > flow ? fixed : flow;

	return n < RING_MAX ? n : RING_MAX;
}

int session_check_pids(const struct capture_opts *o, struct err *e)
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
static void list_threads(struct session *c)
{
	const struct capture_opts *o = c->o;
	size_t i;

	for (i = 0; i < o->npids; i++)
		threads_add_process(&c->threads, o->pids[i]);
	if (o->command)
		threads_add_process(&c->threads, (uint32_t)c->command.pid);
}

static void name_process(struct session *c, uint32_t tgid)
{
	struct proc *p = procs_latest(&c->procs, tgid);

	if (p)
		p->is_named = true;
}

static int open_events(struct session *c, const struct sampler_conf *s, struct err *e)
{
	const uint32_t extra = c->o->labels.extra;
	struct events_conf conf = {
		.kinds = kinds_sources(c->o->kinds) & ~KIND_BIT(KIND_CPU),
		.cpus = s->cpus,
		.ncpus = s->ncpus,
		.length_ns = s->length_ns,
		.ring_bytes = c->o->ring_bytes ? s->ring_bytes : EVENT_RING,
		.min_wait_ns = (uint64_t)c->o->min_wait_ns,
		.alloc_bytes = c->o->alloc_bytes,
		.nothing_runs = !c->o->npids,
		.frees = c->o->frees,
		.force = c->o->force,
		.cli = &c->o->cli,
		.by_pid = s->by_pid,
		.by_labels = s->by_labels,
		.inherits = s->inherits,
		.by_thread = extra & (LABEL_THREAD_NAME | LABEL_THREAD_ID),
		.by_cpu = extra & LABEL_CPU,
		.to = {session_take_sample, session_take_sum, c},
	};

	c->report.event_ring_bytes = conf.ring_bytes;

	if (sampler_form(c->sampler) != UNWINDER_LOOP)
		return err_set(e, ENOTSUP,
			       "events other than cpu need the unwinder's form loop "
			       "(Linux 5.17)");
	return sampler_open_events(c->sampler, &conf, &c->events, e);
}

int session_open_sources(struct session *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	struct sampler_conf conf = {
		.cpus = c->host.cpus,
		.ncpus = c->host.ncpus,
		.rate_hz = o->rate_hz,
		.ring_bytes = sampler_ring_bytes(
			o->ring_bytes ? o->ring_bytes : default_ring(o, c->host.ncpus)),
		.by_pid = choice_by_pid_alone(&o->choice),
		.by_labels = c->sources.chooser != NULL,
		.inherits = c->sources.chooser && chooser_inherits(c->sources.chooser),
		.length_ns = o->interval_ns ? (uint64_t)o->interval_ns : SESSION_NEVER,
		.form = o->unwinder,
		.threads = c->unprivileged ? &c->threads : NULL,
		.no_clock = !(kinds_sources(o->kinds) & KIND_BIT(KIND_CPU)),
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
	if (r >= 0 && kinds_sources(o->kinds) & ~KIND_BIT(KIND_CPU)) {
		r = open_events(c, &conf, e);
		if (r >= 0)
			r = watch(c, events_fd(c->events), WAKE_EVENTS, EPOLLIN, e);
	}
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
	bool own = choice_by_pid_alone(&o->choice);
	struct stat st;
	char path[32];
	size_t i;

	for (i = 0; i < o->npids && own; i++) {
		snprintf(path, sizeof(path), "/proc/%u", o->pids[i]);
		own = !stat(path, &st) && st.st_uid == geteuid();
	}
	return own;
}

void session_tell(struct session *c)
{
	const struct cli *cli = &c->o->cli;
	enum unwinder_form form = sampler_form(c->sampler);

	if (c->unprivileged) {
		cli_note(cli, "without CAP_BPF and CAP_PERFMON: by perf events%s",
			 c->conf.hides_kernel ? ", and without the kernel's part" : "");
	} else {
		cli_info(cli, "unwinder %s, %" PRIu32 " verifier steps",
			 unwinder_form_names[form], sampler_steps(c->sampler));
		if (form == UNWINDER_FP && c->o->unwinder != UNWINDER_FP)
			cli_note(cli, "this kernel rejects the unwinder; continuing with "
				      "frame pointers only, stacks will be short");
		c->kernel.warned = privilege_tell_missing(cli, asks_for_own(c->o));
	}
}

static void tell_begin(const struct session *c)
{
	cli_info(&c->o->cli,
		 "%u samples/s on each of %zu CPUs, ring of %" PRIu64
		 " KiB, %zu processes",
		 c->o->rate_hz, c->host.ncpus, c->report.ring_bytes >> 10, c->procs.n);
}

void session_set_up(struct session *c)
{
	c->conf = (struct build_conf){
		.rate_hz = c->o->rate_hz,
		.kinds = c->o->kinds,
		.alloc_bytes = c->o->alloc_bytes,
		.frees = c->o->frees,
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

int session_start(struct session *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	uint64_t limit = o->duration_ns;
	int r;

	if (o->count && (!limit || o->count < limit / o->interval_ns))
		limit = o->count * o->interval_ns;
	session_begin_profile(c);
	code_wait(&c->code, FIRST_TABLES_NS);
	code_started(&c->code);
	if (session_heap(c)) {
		heap_update(session_heap(c), &c->procs);
		r = heap_try(session_heap(c), e);
		if (r < 0)
			return r;
	}
	c->utc_ns = utc_offset_ns();
	c->start_ns = c->drained_ns = monotonic_ns();
	c->stop_ns = limit ? c->start_ns + limit : SESSION_NEVER;
	c->end_ns = session_next_end(c, c->start_ns);
	r = sampler_start(c->sampler, c->start_ns, c->stop_ns, e);
	if (r < 0)
		return r;
	if (c->events)
		events_start(c->events, c->start_ns, c->stop_ns);
	tell_begin(c);
	return o->command ? command_run(&c->command, o->command[0], e) : r;
}

/* By BPF, or, for who may not and asks for nothing but some processes, by perf events. */
int session_choose_way(struct session *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	int r = privilege_check(e);

	if (r >= 0 || privilege_for_bpf() || !choice_by_pid_alone(&o->choice))
		return r;
	if (o->kinds != KIND_BIT(KIND_CPU))
		return err_set(e, EPERM,
			       "-e: events other than cpu need CAP_BPF and "
			       "CAP_PERFMON");
	if (o->unwinder != UNWINDER_AUTO)
		return err_set(e, EPERM, "--unwinder %s: needs CAP_BPF and CAP_PERFMON",
			       unwinder_form_names[o->unwinder]);
	c->unprivileged = true;
	return 0;
}
