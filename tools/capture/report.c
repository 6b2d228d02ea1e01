/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture tells its user on standard error. */
#include "tools/capture/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/num.h"
#include "tools/capture/clock.h"
#include "tools/capture/kinds.h"

#define TICKS_FEW 20 /* of single ones nothing is said */

/* Part of whole, in percent; of nothing, all. */
static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static void add_row(struct report *r, const struct builder *b,
		    const struct interval_info *info, uint64_t bytes)
{
	const struct tick_counts *t = &info->ticks;
	const struct unwind_counts *u = &b->unwind;
	uint64_t stacks = 0, taken = b->kept + t->lost_ring;
	char start[NUM_TIME_MAX];
	size_t i;

	if (!r->rows++)
		fprintf(stderr,
			"%-20s %9s %8s %8s %8s %8s %9s %10s %9s %9s %6s %8s %8s %9s "
			"%6s %7s\n",
			"start", "seconds", "expected", "kept", "idle", "filtered",
			"lost_ring", "lost_timer", "lost_rec.", "unexpl.", "procs",
			"bytes", "cpu_ms", "complete", "bpf_us", "dropped");
	for (i = 0; i < STOP_CAUSES; i++)
		stacks += u->by_stop[i];
	num_format_time(info->time_ns / NS_PER_S * NS_PER_S, start);
	fprintf(stderr,
		"%-20s %9.3f %8" PRId64 " %8" PRIu64 " %8" PRId64 " %8" PRId64
		" %9" PRId64 " %10" PRId64 " %9" PRId64 " %9" PRId64 " %6zu %8" PRIu64
		" %8.1f %7.1f %% %6.1f %7" PRIu64 "\n",
		start, (double)info->duration_ns / NS_PER_S, t->expected, b->kept,
		t->idle, t->filtered, t->lost_ring, t->lost_timer,
		t->lost_recursion + t->lost_error, builder_unexplained(b, t), b->procs->n,
		bytes, (double)info->cpu_ns / 1e6,
		percent(u->by_stop[STOP_COMPLETE], stacks),
		taken ? (double)t->run_ns / 1e3 / (double)taken : 0.0,
		r->dropped - r->dropped_shown);
	r->dropped_shown = r->dropped;
}

static void tell_events(struct report *r, const struct builder *b,
			const struct interval_info *info)
{
	const struct event_totals *t;
	int64_t lost;
	size_t i;

	for (i = KIND_CPU + 1; i < KINDS; i++) {
		if (!(kinds_sources(r->opts->kinds) & KIND_BIT(i)))
			continue;
		t = &info->events[i];
		lost = t->lost_ring + t->lost_map + t->lost_nested;
		r->events_kept += b->events[i].kept;
		if (r->opts->stats)
			fprintf(stderr,
				"%s: %" PRId64 " expected, %" PRIu64 " kept, %" PRId64
				" filtered, %" PRId64 " brief, %" PRId64 " lost, %" PRId64
				" unexplained, %.2f us each\n",
				kinds[i].name, t->seen, b->events[i].kept,
				t->filtered + (int64_t)b->events[i].dropped, t->brief,
				lost, builder_unexplained_events(b, i, t),
				t->seen ? (double)t->run_ns / 1e3 / (double)t->seen
					: 0.0);
		if (lost > t->lost_nested)
			cli_note(&r->opts->cli,
				 "%s: lost %" PRId64 " of %" PRId64
				 " events: no room, try --ring %" PRIu64 "K",
				 kinds[i].name, lost, t->seen,
				 r->event_ring_bytes * 4 / 1024);
	}
}

void report_interval(struct report *r, const struct builder *b,
		     const struct interval_info *info, uint64_t bytes)
{
	const struct tick_counts *t = &info->ticks;
	uint64_t taken = b->kept + t->lost_ring;

	r->kept += b->kept;
	r->undecided += b->dropped;
	r->expected += t->expected;
	r->unexplained += builder_unexplained(b, t);
	r->recursion += t->lost_recursion;
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
	if (r->opts->stats && kinds_sources(r->opts->kinds) & KIND_BIT(KIND_CPU))
		add_row(r, b, info, bytes);
	tell_events(r, b, info);
}

static void tell_refused(void *ctx, const struct table *t)
{
	const struct report *r = ctx;

	cli_note(&r->opts->cli, "no unwind table: %s: %s", t->like.name, t->why);
}

/* What is wrong with stacks and with files, a line for each. */
void report_unwinding(const struct report *r, struct stops *s, const struct tables *ts)
{
	size_t i;

	if (!r->opts->stats)
		return;
	stops_sort(s);
	for (i = 0; i < s->n; i++)
		cli_note(&r->opts->cli,
			 "stacks cut short: %" PRIu64 " of %" PRIu64 ": %s%s%s",
			 s->rows[i].n, s->all, unwind_stop_names[s->rows[i].stop],
			 *s->rows[i].file ? ": " : "", s->rows[i].file);
	tables_each_refused(ts, tell_refused, (void *)r);
	if (ts->unwinder && ts->unwinder->full)
		cli_note(&r->opts->cli, "the unwinder had no room %" PRIu64 " times",
			 ts->unwinder->full);
}

static bool is_much(const struct report *r, int64_t ticks)
{
	return ticks > TICKS_FEW && ticks > r->expected / 100;
}

void report_end(const struct report *r)
{
	const struct capture_opts *o = r->opts;
	double seconds = (double)r->length_ns / NS_PER_S;

	if (is_much(r, r->recursion))
		cli_note(&o->cli,
			 "%" PRId64 " of %" PRId64 " ticks gave no sample: other BPF "
			 "programs of the tracing kind run here, and the kernel drops "
			 "samples while they do",
			 r->recursion, r->expected);
	if (is_much(r, r->unexplained))
		cli_note(&o->cli,
			 "%" PRId64 " of %" PRId64 " ticks are not accounted for%s",
			 r->unexplained, r->expected,
			 r->unprivileged ? ": the timer was late, or processes ended "
					   "before their first one"
					 : "");
	if (choice_by_labels(&o->choice))
		cli_info(&o->cli,
			 "%" PRIu64 " samples were taken before it was known that their "
			 "process is not asked for",
			 r->undecided);
	if (r->kept || r->events_kept)
		return;
	if (!(kinds_sources(o->kinds) & KIND_BIT(KIND_CPU))) {
		cli_note(&o->cli, "no events in %.3g s", seconds);
		return;
	}
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
