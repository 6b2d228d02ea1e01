/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events beside the clock, added up by BPF programs (bpf/events.bpf.c). Stacks come first, as
 * samples of their kind; what the events of a stack came to follows when the interval is over.
 * Times are CLOCK_MONOTONIC in ns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "lib/base/err.h"

struct cli;
struct cpu_bpf;
struct events;
struct heap;

/* Who gets stacks, as samples, and what the events of each came to. */
struct event_sinks {
	void (*take)(void *ctx, const struct sample_event *ev, size_t size);
	void (*sum)(void *ctx, const struct event_sum *sum);
	void *ctx;
};

struct events_conf {
	uint32_t kinds; /* bits, without that of KIND_CPU */
	const int *cpus;
	size_t ncpus, npossible;
	uint64_t length_ns, ring_bytes, min_wait_ns, alloc_bytes;
	bool by_pid, by_labels, inherits; /* as the sampler's */
	bool by_thread, by_cpu;		  /* labels that tell these apart */
	bool nothing_runs;		  /* yet, that is named by number */
	bool frees, force;     /* of allocations: what is in use; whatever it costs */
	const struct cli *cli; /* for notes */
	struct event_sinks to;
	const struct cpu_bpf *shared; /* whose maps of processes and choices these are */
};

/* Of one kind in one interval, of all CPUs. */
struct event_totals {
	int64_t seen, filtered, brief, lost_ring, lost_map, lost_nested, lost_live;
	uint64_t calls, bytes, run_ns;
};

/* Load and attach everything; nothing is counted before events_start(). */
int events_open(const struct events_conf *conf, struct events **out, struct err *e);
void events_free(struct events *ev); /* NULL is fine */

/* As sampler_start(). */
void events_start(struct events *ev, uint64_t first_ns, uint64_t stop_ns);
void events_stop(struct events *ev, uint64_t stop_ns);

/* Choices are made anew: see sampler_decide_anew(). */
void events_decide_anew(struct events *ev, bool inherits);

/* Those that make allocations events; NULL: not asked for. */
struct heap *events_heap(const struct events *ev);

/* Readable when events_drain() should be called soon. */
int events_fd(const struct events *ev);

void events_drain(struct events *ev);

/*
 * Hand out all of the interval that ended at end_ns, each in its turn, with its counts by kind.
 */
int events_cut(struct events *ev, uint64_t end_ns, struct event_totals totals[KINDS],
	       struct err *e);
