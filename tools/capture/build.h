/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From samples to the profiles of one interval, one for each kind of events: addresses become
 * locations, stacks and labels are interned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/alloc.h"
#include "bpf/event.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/idtable.h"
#include "lib/pprof/model.h"
#include "tools/capture/cgroups.h"
#include "tools/capture/events.h"
#include "tools/capture/keeper.h"
#include "tools/capture/kernel.h"
#include "tools/capture/labels.h"
#include "tools/capture/procs.h"
#include "tools/capture/sampler.h"
#include "tools/capture/stops.h"
#include "tools/capture/userstack.h"

struct build_conf {
	unsigned int rate_hz;
	unsigned int
		depth_limit; /* frames that the kernel follows, kernel and user each */
	size_t ncpus;
	bool unprivileged; /* by perf events; what they do not tell is not in the comments */
	bool hides_kernel;
	uint32_t kinds; /* of events, bits */
	uint64_t alloc_bytes;
	bool frees; /* of allocations, also what is in use */
	const char *cpu_model, *host;
	struct label_conf labels;
};

/* How the stacks of programs ended, in samples. */
struct unwind_counts {
	uint64_t by_stop[STOP_CAUSES];
	uint64_t by_fp;	 /* followed by the kernel: nobody knows */
	uint64_t copied; /* of all these, unwound from a copy */
};

/* Events of one hash, in this interval's terms. */
struct event_place {
	uint64_t hash;
	uint32_t stack, labels; /* labels ID_NONE: not chosen */
};

/* What became of the events of one kind. */
struct event_sums {
	uint64_t kept, dropped; /* in the profile, and of processes not chosen */
};

struct builder {
	const struct build_conf *conf;
	struct procs *procs;
	struct kernel *kernel;
	struct label_sources sources;
	struct keeper *keeper; /* of the files that stacks lead through; NULL: none */
	struct store *store;
	struct profile *profiles[KINDS]; /* NULL: not asked for */
	uint32_t epoch;			 /* number of this profile, from 1 */
	uint64_t kept, dropped; /* samples: in the profile, and of processes not chosen */
	struct unwind_counts unwind;
	struct event_place *places;
	size_t nplaces, places_cap;
	struct id_table by_hash; /* of places */
	struct event_sums events[KINDS];
	struct user_stack user; /* of the sample at hand */
	struct stops stops;	/* of all profiles */
	/*
	 * Samples in code that has no name yet: whoever makes code may write its names down
	 * late, by the buffer. They wait for some seconds, or for the end of the interval.
	 */
	struct buf late;
	uint64_t late_since_ns; /* the oldest of them */
	uint64_t
		settling_ns; /* since when no sample can wait for names any more; 0: each can */
};

#define BUILDER_LATE_MAX_BYTES (16u << 20)

/* What one interval was, beside its samples. */
struct interval_info {
	int64_t time_ns, duration_ns; /* UTC start, length */
	int64_t step_ns; /* the system's clock was set by this much; 0: was not */
	struct tick_counts ticks;
	struct event_totals events[KINDS];
	uint64_t side_lost; /* records about processes that were lost */
	uint64_t dropped;   /* intervals before this one that were not written */
	uint64_t cpu_ns;    /* that we used, with our child */
};

/* Begin the next interval. */
void builder_begin(struct builder *b);
void builder_release(struct builder *b);

int builder_add(struct builder *b, const struct sample_event *ev, struct err *e);

/* The stack of these events was added, in this interval. */
bool builder_knows(const struct builder *b, uint64_t hash);

/* Add up events whose stack was added before. */
int builder_add_sum(struct builder *b, const struct event_sum *sum, struct err *e);

/* Add those that waited, named or not. */
int builder_settle(struct builder *b, struct err *e);

/* Ticks that nothing accounts for; or events. */
int64_t builder_unexplained(const struct builder *b, const struct tick_counts *t);
int64_t builder_unexplained_events(const struct builder *b, enum event_kind kind,
				   const struct event_totals *t);

/* Finish the profile of a kind: the pprof message, compressed, appended to out. */
int builder_finish(struct builder *b, enum event_kind kind,
		   const struct interval_info *info, struct buf *out, struct err *e);
