/* SPDX-License-Identifier: Apache-2.0 */
/* From records and samples to the profile of each interval. */
#include "tools/capture/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture/clock.h"
#include "tools/capture/kinds.h"
#include "tools/capture/procread.h"

#define TABLES_NS (NS_PER_S / 5) /* to wait for tables at the end of an interval */
#define HOLD_NS (2 * NS_PER_S)	 /* a copied stack waits for its tables */
#define LATE_NS                                                                          \
	(5 * NS_PER_S) /* samples wait so long for names of code made at run time */
#define FORGET_NS (HOLD_NS + NS_PER_S) /* samples are never later than this */
#define HELD_MAX (UINT64_C(32) << 20)
#define STEP_NS NS_PER_S /* UTC is looked at anew when it moved this much */

void session_take_record(void *ctx, struct side_record *r)
{
	struct session *c = ctx;

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
	struct session *c = ctx;

	sampler_forget(c->sampler, tgid);
	code_gone(&c->code, tgid);
	if (session_heap(c))
		heap_gone(session_heap(c), tgid);
}

void session_take_sample(void *ctx, const struct sample_event *ev, size_t size)
{
	struct session *c = ctx;

	if (size >= sizeof(ev->h) && size == sample_event_size(&ev->h))
		buf_put(&c->pending, ev, size);
}

void session_take_sum(void *ctx, const struct event_sum *sum)
{
	struct session *c = ctx;

	/* these are of the next interval as well */
	if (sum->what != SUM_OF_EVENTS)
		buf_put(&c->waiting.asleep, &sum->hash, sizeof(sum->hash));
	if (sum->what != SUM_ASLEEP)
		buf_put(&c->waiting.sums, sum, sizeof(*sum));
}

static void drain(struct session *c)
{
	sampler_drain(c->sampler, session_take_sample, c);
	if (c->events)
		events_drain(c->events);
	sideband_drain(c->side, session_take_record, c);
}

static void apply_record(void *ctx, const struct side_record *r)
{
	struct session *c = ctx;
	const struct space *s;
	struct proc *p;

	procs_record(&c->procs, r);
	if (!c->deliver.keeper || r->kind != SIDE_MMAP)
		return;
	/* it may be gone before its first sample is looked at */
	p = procs_latest(&c->procs, r->tgid);
	s = p ? proc_last_space(p) : NULL;
	if (s && s->n && s->vmas[s->n - 1].from_ns == r->time_ns &&
	    s->vmas[s->n - 1].file &&
	    (p->is_named || !choice_by_pid_alone(&c->o->choice)))
		keeper_see(c->deliver.keeper, s->vmas[s->n - 1].file, r->tgid, r->start,
			   r->start + r->len);
}

void session_apply_records(struct session *c, uint64_t until_ns)
{
	sideband_take(c->side, until_ns, apply_record, c);
	code_update(&c->code, until_ns > c->code.known_ns ? until_ns : c->code.known_ns);
	if (session_heap(c))
		heap_update(session_heap(c), &c->procs);
}

/*
 * Into the profiles with what the events of the interval came to. Before it is over only those
 * whose stacks are there: of long ones there may be many.
 */
static int add_sums(struct session *c, bool all, struct err *e)
{
	struct buf *sums = &c->waiting.sums;
	struct event_sum sum;
	size_t at, kept = 0;
	int r = 0;

	for (at = 0; at < sums->len && r >= 0; at += sizeof(sum)) {
		memcpy(&sum, sums->data + at, sizeof(sum));
		if (sum.turn <= c->done &&
		    (all || builder_knows(&c->builder, sum.hash))) {
			r = builder_add_sum(&c->builder, &sum, e);
		} else {
			memmove(sums->data + kept, &sum, sizeof(sum));
			kept += sizeof(sum);
		}
	}
	sums->len = kept;
	return r;
}

/* The stack of a sample was copied because there was no table, and one may still come. */
static bool is_held(const struct session *c, const struct sample_head *h,
		    uint64_t until_ns)
{
	return h->ncopy && h->ktime + HOLD_NS > until_ns && c->pending.len < HELD_MAX &&
	       code_is_pending(&c->code);
}

/* Put the samples from before until_ns into the profile; at the end of an interval all of them. */
static int process(struct session *c, uint64_t until_ns, bool all, struct err *e)
{
	const struct sample_event *ev;
	size_t at, size, kept = 0;
	int r;

	if (c->pending.overflow || c->waiting.sums.overflow || c->waiting.asleep.overflow)
		return err_set(e, ENOMEM, "samples come faster than they can be handled");
	session_apply_records(c, until_ns);
	for (at = 0; at < c->pending.len; at += size) {
		ev = (const void *)(c->pending.data + at);
		size = sample_event_size(&ev->h);
		if (ev->h.ktime < until_ns && (all || !is_held(c, &ev->h, until_ns))) {
			if ((ev->h.kind == KIND_OFFCPU ||
			     (ev->h.kind == KIND_ALLOC && c->o->frees)) &&
			    !builder_knows(&c->builder, ev->h.hash))
				buf_put(&c->waiting.stacks, ev, size);
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
	r = add_sums(c, all, e);
	if (r < 0)
		return r;
	/* who waits for a name still is to be found */
	if (until_ns > FORGET_NS && !c->builder.late.len)
		procs_forget(&c->procs, until_ns - FORGET_NS, on_gone, c);
	return 0;
}

int session_tick(struct session *c, struct err *e)
{
	uint64_t now = monotonic_ns(), until = c->drained_ns;

	if (c->deliver.keeper)
		keeper_poll(c->deliver.keeper);
	drain(c);
	c->drained_ns = now;
	return process(c, until < c->end_ns ? until : c->end_ns, false, e);
}

static int64_t check_utc(struct session *c)
{
	int64_t now = utc_offset_ns(), moved = now - c->utc_ns;

	if (moved < STEP_NS && moved > -STEP_NS)
		return 0;
	c->utc_ns = now;
	return moved;
}

uint64_t session_next_end(const struct session *c, uint64_t end_ns)
{
	uint64_t next = c->o->interval_ns ? end_ns + c->o->interval_ns : SESSION_NEVER;

	return next < c->stop_ns ? next : c->stop_ns;
}

/* The counters of intervals that nobody reads begin to mix after some. */
static void check_late(struct session *c, uint64_t end_ns)
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
void session_begin_profile(struct session *c)
{
	builder_begin(&c->builder);
	chooser_reset(c->sources.chooser);
}

/* Look at all processes. What is told of them holds from then on. */
static int scan(struct session *c, struct err *e)
{
	int r = procs_scan(&c->procs, e);

	if (r >= 0)
		code_update(&c->code, monotonic_ns());
	return r;
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The stacks of those who still wait are as good as samples of the interval that begins. */
static void keep_asleep(struct session *c, uint64_t now_ns)
{
	struct waiting *w = &c->waiting;
	size_t n = w->asleep.len / sizeof(uint64_t), at, size;
	struct sample_event *ev;

	if (n)
		qsort(w->asleep.data, n, sizeof(uint64_t), compare_hashes);
	for (at = 0; at < w->stacks.len; at += size) {
		ev = (void *)(w->stacks.data + at);
		size = sample_event_size(&ev->h);
		if (!n || !bsearch(&ev->h.hash, w->asleep.data, n, sizeof(uint64_t),
				   compare_hashes))
			continue;
		ev->h.ktime = now_ns;
		buf_put(&c->pending, ev, size);
	}
	buf_clear(&w->stacks);
	buf_clear(&w->asleep);
}

/* All profiles of the interval, each by itself or one behind another. */
static int deliver(struct session *c, const struct interval_info *info, struct err *e)
{
	struct buf out = BUF_INIT(UINT64_C(4) << 30);
	struct interval_info one = *info;
	uint64_t bytes = 0;
	uint32_t left = c->conf.kinds;
	size_t i, before;
	int r = 0;

	for (i = 0; i < KINDS && r >= 0; i++) {
		if (!(left & KIND_BIT(i)))
			continue;
		left &= ~KIND_BIT(i);
		before = out.len;
		r = builder_finish(&c->builder, i, &one, &out, e);
		bytes += out.len - before;
		if (r < 0 || (left && !deliver_splits_types(&c->deliver)))
			continue;
		deliver_put(&c->deliver, &out, kinds[i].name, one.time_ns, one.dropped,
			    c->stop);
		one.dropped = 0;
	}
	buf_release(&out);
	if (r >= 0)
		report_interval(&c->report, &c->builder, info, bytes);
	return r;
}

/* What the sampler and the events counted up to end_ns. */
static int cut(struct session *c, uint64_t end_ns, struct interval_info *info,
	       struct err *e)
{
	int r = 0;

	sampler_cut(c->sampler, end_ns, &info->ticks);
	if (c->events)
		r = events_cut(c->events, end_ns, info->events, e);
	drain(c);
	c->drained_ns = monotonic_ns();
	return r;
}

int session_end_interval(struct session *c, uint64_t end_ns, struct err *e)
{
	struct interval_info info = {
		.time_ns = (int64_t)c->start_ns + c->utc_ns,
		.duration_ns = end_ns - c->start_ns,
		.step_ns = c->step_ns,
	};
	struct writer_counts counts;
	uint64_t lost;
	int r;

	check_late(c, end_ns);
	r = cut(c, end_ns, &info, e);
	if (r < 0)
		return r;
	lost = sideband_lost(c->side);
	info.side_lost = lost - c->side_lost;
	if (info.side_lost && scan(c, e) < 0)
		return -e->code;
	c->side_lost = lost;
	session_apply_records(c, end_ns);
	code_wait(&c->code, TABLES_NS);
	r = process(c, end_ns, true, e);
	keep_asleep(c, end_ns);
	info.ticks.filtered += (int64_t)c->builder.dropped;
	info.cpu_ns = code_cpu_ns(&c->code) - c->cpu_ns;
	c->cpu_ns += info.cpu_ns;
	info.dropped = writer_take_lost(c->deliver.writer);
	c->done++;
	if (end_ns >= c->stop_ns || (c->o->count && c->done >= c->o->count))
		c->stop = true;
	writer_counts(c->deliver.writer, &counts);
	c->report.dropped = counts.lost;
	if (r >= 0)
		r = deliver(c, &info, e);
	if (c->kernel.hidden && !c->kernel.warned) {
		c->kernel.warned = true;
		cli_note(&c->o->cli,
			 "kernel symbols are hidden (needs CAP_SYSLOG, or "
			 "kernel.kptr_restrict=0); kernel frames stay as addresses");
	}
	c->start_ns = end_ns;
	c->end_ns = session_next_end(c, end_ns);
	c->step_ns = check_utc(c);
	if (r >= 0 && !c->stop)
		session_begin_profile(c);
	if (c->deliver.keeper)
		keeper_poll(c->deliver.keeper);
	return r;
}

int session_end_early(struct session *c, struct err *e)
{
	uint64_t now = sampler_stop(c->sampler);

	if (c->events)
		events_stop(c->events, now);
	return session_end_interval(c, now < c->end_ns ? now : c->end_ns, e);
}
