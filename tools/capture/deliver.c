/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves a capture: profiles and copies of files. */
#include "tools/capture/deliver.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/output.h"
#include "tools/capture/clock.h"
#include "tools/capture/outname.h"

#define PATIENCE_MS 2000 /* before we say what we wait for */
/* A terminal, a shell and timeout(1) may each hand on the same signal: not twice the wish. */
#define SAME_WISH_NS (NS_PER_S / 2)

/* Two profiles; as many as come in a fifth of a second, where they are shorter. */
static unsigned int room_for(int64_t interval_ns, unsigned int files)
{
	int64_t n = interval_ns > 0 ? NS_PER_S / 5 / interval_ns * files : 0;

	return n < 2 * files		? 2 * files
	       : n < WRITER_PENDING_MAX ? (unsigned int)n
					: WRITER_PENDING_MAX;
}

int deliver_open(struct deliver *d, struct err *e)
{
	const char *pattern = d->o->cli.output;
	uint64_t count = d->o->count;

	d->conf = (struct writer_conf){
		.pattern = pattern,
		.room = room_for(d->o->interval_ns, 1),
		.goes_on = d->o->interval_ns,
	};
	if (outname_is_stream(pattern))
		return output_open(pattern, true, &d->conf.stream, e);
	if (deliver_splits_types(d))
		d->conf.room = room_for(d->o->interval_ns,
					(unsigned int)__builtin_popcount(d->o->kinds));
	if (!d->o->interval_ns)
		count = 1;
	else if (d->o->duration_ns) {
		uint64_t n =
			(d->o->duration_ns + d->o->interval_ns - 1) / d->o->interval_ns;

		count = count && count < n ? count : n;
	}
	return outname_check(pattern, clock_ns(CLOCK_REALTIME), d->o->interval_ns, count,
			     e);
}

int deliver_start(struct deliver *d, struct err *e)
{
	return writer_start(&d->conf, &d->writer, e);
}

bool deliver_splits_types(const struct deliver *d)
{
	return !d->conf.stream && strstr(d->conf.pattern, OUTNAME_TYPE);
}

void deliver_put(struct deliver *d, struct buf *profile, const char *type,
		 int64_t time_ns, uint64_t told, bool last)
{
	bool fits = writer_put(d->writer, profile, type, time_ns, told, last);

	if (!fits && !d->slow_said)
		cli_note(&d->o->cli,
			 "profiles are not taken as fast as they come: intervals are "
			 "dropped, and counted in the next that is not");
	d->slow_said = !fits;
}

int deliver_check(struct deliver *d, struct err *e)
{
	int r = writer_check(d->writer, e);

	if (r > 0)
		cli_note(&d->o->cli, "%s: dropping intervals until it can be", e->msg);
	return r < 0 ? r : 0;
}

/* Whoever says it again, after some time, does not want to wait. */
static void check_patience(struct deliver *d)
{
	struct signalfd_siginfo si;
	uint64_t now = monotonic_ns();
	sigset_t set;

	while (read(d->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGCHLD ||
		    (si.ssi_signo == SIGHUP && d->o->choice.rules_file))
			continue;
		if (!d->signal_ns)
			d->signal_ns = now;
		if (now - d->signal_ns < SAME_WISH_NS)
			continue;
		sigemptyset(&set);
		sigaddset(&set, (int)si.ssi_signo);
		signal((int)si.ssi_signo, SIG_DFL);
		raise((int)si.ssi_signo);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
}

/* Until all profiles are written, or cannot be. */
static void await_writer(struct deliver *d)
{
	struct pollfd fds[2] = {
		{.fd = writer_fd(d->writer), .events = POLLIN},
		{.fd = d->signal_fd, .events = POLLIN},
	};
	bool said = false;
	struct err e;

	while (!writer_is_done(d->writer)) {
		if (!poll(fds, 2, PATIENCE_MS) && !said) {
			cli_note(&d->o->cli,
				 "waiting until the last profiles are taken; interrupt "
				 "to give them up");
			said = true;
		}
		check_patience(d);
		if (deliver_check(d, &e) < 0)
			break;
	}
}

static void await_keeper(struct deliver *d)
{
	struct pollfd fds[2] = {{.events = POLLIN},
				{.fd = d->signal_fd, .events = POLLIN}};
	bool said = false;

	for (keeper_poll(d->keeper); !keeper_is_done(d->keeper); keeper_poll(d->keeper)) {
		fds[0].fd = keeper_fd(d->keeper);
		if (!poll(fds, 2, PATIENCE_MS) && !said) {
			cli_note(&d->o->cli,
				 "waiting until the last files are kept; interrupt to "
				 "give them up");
			said = true;
		}
		check_patience(d);
	}
	keeper_tell(d->keeper);
}

int deliver_end(struct deliver *d, struct err *e)
{
	struct writer_counts n;
	int r;

	await_writer(d);
	r = deliver_check(d, e);
	if (r >= 0)
		r = writer_finish(d->writer, e);
	/* that nobody reads the profiles any more does not mean that nobody has them */
	if (d->keeper && (r >= 0 || r == -EPIPE))
		await_keeper(d);
	if (r < 0)
		return r;
	writer_counts(d->writer, &n);
	if (n.lost)
		cli_note(&d->o->cli, "%" PRIu64 " of %" PRIu64 " intervals are not there",
			 n.lost, n.lost + n.written);
	return n.written ? 0 : writer_why(d->writer, e);
}

void deliver_release(struct deliver *d)
{
	if (d->writer)
		await_writer(d);
	else
		output_abort(d->conf.stream);
	writer_free(d->writer);
	keeper_free(d->keeper);
}
