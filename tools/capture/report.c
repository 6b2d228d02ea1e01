/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture tells its user on standard error. */
#include "tools/capture/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "lib/base/num.h"
#include "tools/capture/clock.h"

static uint64_t own_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void add_row(struct report *r, const struct builder *b,
		    const struct interval_info *info, uint64_t bytes)
{
	const struct tick_counts *t = &info->ticks;
	uint64_t cpu = own_cpu_ns();
	char start[NUM_TIME_MAX];

	if (!r->rows++)
		fprintf(stderr,
			"%-20s %9s %8s %8s %8s %8s %9s %10s %9s %9s %6s %8s %8s\n",
			"start", "seconds", "expected", "kept", "idle", "filtered",
			"lost_ring", "lost_timer", "lost_rec.", "unexpl.", "procs",
			"bytes", "cpu_ms");
	num_format_time(info->time_ns / NS_PER_S * NS_PER_S, start);
	fprintf(stderr,
		"%-20s %9.3f %8" PRId64 " %8" PRIu64 " %8" PRId64 " %8" PRId64
		" %9" PRId64 " %10" PRId64 " %9" PRId64 " %9" PRId64 " %6zu %8" PRIu64
		" %8.1f\n",
		start, (double)info->duration_ns / NS_PER_S, t->expected, b->kept,
		t->idle, t->filtered, t->lost_ring, t->lost_timer,
		t->lost_recursion + t->lost_error, builder_unexplained(b, t), b->procs->n,
		bytes, (double)(cpu - r->cpu_ns) / 1e6);
	r->cpu_ns = cpu;
}

void report_interval(struct report *r, const struct builder *b,
		     const struct interval_info *info, uint64_t bytes)
{
	const struct tick_counts *t = &info->ticks;
	uint64_t taken = b->kept + t->lost_ring;

	r->kept += b->kept;
	r->undecided += b->dropped;
	r->length_ns += info->duration_ns;
	if (t->lost_ring)
		cli_note(&r->opts->cli,
			 "lost %" PRId64 " of %" PRIu64
			 " samples (%.1f %%): ring too small, try --ring %" PRIu64 "K",
			 t->lost_ring, taken, 100.0 * t->lost_ring / taken,
			 r->ring_bytes * 4 / 1024);
	if (info->side_lost)
		cli_note(&r->opts->cli, "lost %" PRIu64 " records about processes",
			 info->side_lost);
	if (r->opts->stats)
		add_row(r, b, info, bytes);
}

void report_end(const struct report *r)
{
	const struct capture_opts *o = r->opts;
	double seconds = (double)r->length_ns / NS_PER_S;

	if (choice_by_labels(&o->choice))
		cli_info(&o->cli,
			 "%" PRIu64 " samples were taken before it was known that their "
			 "process is not asked for",
			 r->undecided);
	if (r->kept)
		return;
	if (o->npids == 1 && !o->command && !choice_by_labels(&o->choice))
		cli_note(&o->cli, "no samples: PID %u was not on a CPU in %.3g s",
			 o->pids[0], seconds);
	else if (o->choice.by_pid || choice_by_labels(&o->choice))
		cli_note(&o->cli,
			 "no samples: nothing that was asked for was on a CPU in %.3g s",
			 seconds);
	else
		cli_note(&o->cli, "no samples: every CPU was idle for %.3g s", seconds);
}
