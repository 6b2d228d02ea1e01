/* SPDX-License-Identifier: Apache-2.0 */
/* A capture from start to end: sample, cut into intervals, write each as a profile. */
#include "tools/capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tools/capture/clock.h"
#include "tools/capture/kinds.h"
#include "tools/capture/privilege.h"
#include "tools/capture/session.h"
#include "tools/capture/survey.h"

#define SIDE_PAUSE_NS (NS_PER_S / 100) /* between two looks at the side band */
#define SETTLE_NS SIDE_PAUSE_NS /* records are in their rings after this, on every CPU */
#define PENDING_MAX (UINT64_C(1) << 30)
#define CACHE_BYTES (UINT64_C(256) << 20)
#define KEEP_BYTES (UINT64_C(4) << 30)

static void reload_rules(struct session *c)
{
	struct err e;

	if (chooser_reload(c->sources.chooser, &e) < 0)
		cli_note(&c->o->cli, "the rules stay as they were: %s", e.msg);
	else
		procs_forget_labels(&c->procs);
}

static void stop_by_signal(struct session *c)
{
	if (!c->stop)
		c->deliver.signal_ns = monotonic_ns();
	c->stop = true;
}

static void on_signal(struct session *c)
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
static void apply_side_band(struct session *c)
{
	uint64_t now = monotonic_ns();

	sideband_drain(c->side, session_take_record, c);
	session_apply_records(c, now - SETTLE_NS);
	c->side_ns = sideband_has_more(c->side) ? now + SETTLE_NS : SESSION_NEVER;
}

static void look_at_side_band(struct session *c)
{
	const struct timespec pause = {.tv_nsec = SIDE_PAUSE_NS};

	/* a process that starts makes a dozen records, and each would wake us */
	nanosleep(&pause, NULL);
	apply_side_band(c);
}

static void wait_for_events(struct session *c)
{
	uint64_t now = monotonic_ns(), until = c->drained_ns + SESSION_DRAIN_NS;
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
			if (session_heap(c))
				heap_update(session_heap(c), &c->procs);
		} else if (ev[i].data.u64 == WAKE_SAMPLES) {
			sampler_drain(c->sampler, session_take_sample, c);
		} else if (ev[i].data.u64 == WAKE_EVENTS) {
			events_drain(c->events);
		} else if (i == n - 1 || ev[i + 1].data.u64 != WAKE_SIDE) {
			look_at_side_band(c);
		}
	}
	if (monotonic_ns() >= c->side_ns)
		apply_side_band(c);
}

static int run(struct session *c, struct err *e)
{
	uint64_t now;
	int r = 0;

	while (!r && !c->stop) {
		wait_for_events(c);
		now = monotonic_ns();
		if (c->writer_news && deliver_check(&c->deliver, e) < 0)
			return -e->code;
		c->writer_news = false;
		if (session_heap(c))
			heap_check(session_heap(c), now);
		if (now >= c->end_ns)
			r = session_end_interval(c, c->end_ns, e);
		else if (c->stop)
			return session_end_early(c, e);
		else if (now - c->drained_ns >= SESSION_DRAIN_NS)
			r = session_tick(c, e);
	}
	return r;
}

/* Events, maps and files of many processes: as many as we may have. `before`: what it was. */
static void raise_files(struct rlimit *before)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, before) < 0)
		*before = (struct rlimit){1024, 1024};
	most = (struct rlimit){before->rlim_max, before->rlim_max};
	setrlimit(RLIMIT_NOFILE, &most);
}

static int capture(struct session *c, struct err *e)
{
	const struct capture_opts *o = c->o;
	const struct code_conf code_conf = {
		.cache = o->cache,
		.cache_bytes = CACHE_BYTES,
		.by_pid = choice_by_pid_alone(&o->choice),
		.want_alloc = o->kinds & KIND_BIT(KIND_ALLOC),
		.cli = &o->cli,
	};
	const struct keeper_conf keeper_conf = {
		.dir = o->keep,
		.max_bytes = o->keep_bytes ? o->keep_bytes : KEEP_BYTES,
		.cli = &o->cli,
	};
	struct rlimit files;
	int r;

	/* or the next file opened, of whatever kind, would be it */
	if (!o->cli.output && fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return err_set(e, EBADF, "standard output is closed");
	/* a file that may not grow is like a full disk; our children inherit this */
	signal(SIGXFSZ, SIG_IGN);
	raise_files(&files);
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
	session_set_up(c);
	if (o->explain) {
		r = procs_scan(&c->procs, e);
		return r < 0 ? r
			     : survey_explain(&c->procs, &c->conf.labels, &c->sources, e);
	}
	r = session_choose_way(c, e);
	if (r >= 0 && o->unwinder != UNWINDER_FP)
		r = code_start(&c->code, &code_conf, e);
	if (r >= 0 && o->keep)
		r = keeper_start(&keeper_conf, &c->deliver.keeper, e);
	c->builder.keeper = c->deliver.keeper;
	if (r >= 0)
		r = session_check_pids(o, e);
	if (r >= 0)
		r = deliver_open(&c->deliver, e);
	if (r >= 0) {
		session_watch_reader(c);
		r = session_catch_signals(c, e);
	}
	if (r >= 0 && o->command)
		r = command_prepare(&c->command, o->command, !o->cli.output, &files, e);
	if (r >= 0)
		r = session_open_sources(c, e);
	if (r < 0)
		return r;
	c->conf.unprivileged = c->unprivileged;
	c->conf.hides_kernel = sampler_hides_kernel(c->sampler);
	privilege_drop(!c->deliver.conf.stream || o->cache,
		       session_heap(c) && heap_needs_admin(session_heap(c)));
	session_tell(c);
	/* not when the first sample asks: what new programs need would have to wait for it */
	if (!c->unprivileged || !c->conf.hides_kernel)
		kernel_load(&c->kernel);
	r = session_start_delivery(c, e);
	if (r >= 0)
		r = session_start(c, e);
	if (r >= 0)
		r = run(c, e);
	if (r >= 0 || r == -EPIPE)
		r = deliver_end(&c->deliver, e);
	if (r >= 0) {
		report_unwinding(&c->report, &c->builder.stops, &c->code.tables);
		report_end(&c->report);
		if (session_heap(c))
			heap_end(session_heap(c));
	}
	return r;
}

int capture_run(const struct capture_opts *o, struct err *e)
{
	struct session c = {
		.o = o,
		.pending = BUF_INIT(PENDING_MAX),
		.waiting = {BUF_INIT(PENDING_MAX), BUF_INIT(PENDING_MAX),
			    BUF_INIT(PENDING_MAX)},
		.epoll_fd = -1,
		.deliver = {.o = o, .signal_fd = -1},
		.side_ns = SESSION_NEVER,
		.code = {.tabler = {.fd = -1}},
		.command = {.go_fd = -1, .fail_fd = -1},
	};
	int r;

	procs_init(&c.procs);
	c.sources.cgroups = cgroups_new();
	c.sources.containers = containers_new(o->root);
	c.procs.env_names = o->labels.nenv ? (const char *)o->env_names.data : NULL;
	c.sources.env_names = c.procs.env_names;
	r = capture(&c, e);
	if (r == -EPIPE) /* the reader has enough */
		r = 0;
	deliver_release(&c.deliver);
	builder_release(&c.builder);
	stops_release(&c.builder.stops);
	procs_release(&c.procs);
	code_release(&c.code);
	events_free(c.events);
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
	buf_release(&c.waiting.sums);
	buf_release(&c.waiting.stacks);
	buf_release(&c.waiting.asleep);
	if (c.epoll_fd >= 0)
		close(c.epoll_fd);
	if (c.deliver.signal_fd >= 0)
		close(c.deliver.signal_fd);
	return r;
}
