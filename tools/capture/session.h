/* SPDX-License-Identifier: Apache-2.0 */
/* A capture that runs: what all its parts share. Private to capture.c, setup.c and intervals.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "tools/capture/build.h"
#include "tools/capture/capture.h"
#include "tools/capture/code.h"
#include "tools/capture/command.h"
#include "tools/capture/deliver.h"
#include "tools/capture/events.h"
#include "tools/capture/heap.h"
#include "tools/capture/host.h"
#include "tools/capture/kernel.h"
#include "tools/capture/procs.h"
#include "tools/capture/report.h"
#include "tools/capture/sampler.h"
#include "tools/capture/sideband.h"
#include "tools/capture/tasks.h"

#define SESSION_NEVER UINT64_MAX
#define SESSION_DRAIN_NS (NS_PER_S / 5) /* the ring is emptied this often */

/* What an event of epoll_fd is about. */
enum wake {
	WAKE_SIGNAL,
	WAKE_SIDE,
	WAKE_OUTPUT,
	WAKE_TABLE,
	WAKE_WRITER,
	WAKE_KEEPER,
	WAKE_SAMPLES,
	WAKE_EVENTS,
};

/*
 * Events beside the clock, of the running interval. Who still waits at its end does so in the
 * next as well, and what is in use stays so, where the stack is needed again.
 */
struct waiting {
	struct buf sums; /* struct event_sum, not yet in a profile */
	struct buf
		stacks; /* samples of KIND_OFFCPU, and of KIND_ALLOC if frees are traced */
	struct buf
		asleep; /* hashes of those who wait at the end, and of what is in use */
};

struct session {
	const struct capture_opts *o;
	struct host host;
	struct build_conf conf;
	bool unprivileged;	    /* sampled by perf events of */
	struct thread_list threads; /* these, and what they start */
	struct sampler *sampler;
	struct events *events; /* NULL: the clock alone */
	struct waiting waiting;
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
	uint64_t stop_ns;	   /* of the capture, or SESSION_NEVER */
	uint64_t drained_ns;
	uint64_t
		side_ns; /* when to look at records that were too fresh; SESSION_NEVER: none */
	int64_t utc_ns,
		step_ns;    /* offset of UTC; what it moved by before this interval */
	uint64_t side_lost; /* up to the last interval */
	uint64_t cpu_ns;    /* the same */
	uint64_t done;
	bool stop, late_said, writer_news;
};

static inline struct heap *session_heap(const struct session *c)
{
	return c->events ? events_heap(c->events) : NULL;
}

/*
 * setup.c: each is called once, in this order. 0 or negative errno.
 */
void session_set_up(struct session *c);
int session_choose_way(struct session *c, struct err *e);
int session_check_pids(const struct capture_opts *o, struct err *e);
void session_watch_reader(struct session *c);
int session_catch_signals(struct session *c, struct err *e);
int session_open_sources(struct session *c, struct err *e);
void session_tell(struct session *c); /* how it samples, and what it may not */
int session_start_delivery(struct session *c, struct err *e);
int session_start(struct session *c, struct err *e);

/*
 * intervals.c
 */

/* Of the side band and of the sampler. ctx: the session. */
void session_take_record(void *ctx, struct side_record *r);
void session_take_sample(void *ctx, const struct sample_event *ev, size_t size);
void session_take_sum(void *ctx, const struct event_sum *sum);

/* All records from before until_ns (CLOCK_MONOTONIC) have come. */
void session_apply_records(struct session *c, uint64_t until_ns);

void session_begin_profile(struct session *c);

/* The end of the interval that begins at that end. */
uint64_t session_next_end(const struct session *c, uint64_t end_ns);

/* Between cuts only what is surely complete is handled: what came before the last time. */
int session_tick(struct session *c, struct err *e);

/* Hand on the profile of what was up to end_ns, and begin the next. */
int session_end_interval(struct session *c, uint64_t end_ns, struct err *e);

/* Stop now, unless the interval has ended by itself meanwhile. */
int session_end_early(struct session *c, struct err *e);
