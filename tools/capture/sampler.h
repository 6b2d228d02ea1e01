/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side that takes samples: by BPF programs on the clocks of all CPUs, or, for who may not load
 * those, by perf events of some threads. Times are CLOCK_MONOTONIC in ns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "lib/base/err.h"
#include "tools/capture/events.h"
#include "tools/capture/perfring.h"
#include "tools/capture/programs.h"
#include "tools/capture/unwinder.h"

/* Bytes of an event in the ring. */
static inline size_t sample_event_size(const struct sample_head *h)
{
	return sizeof(*h) + ((size_t)h->nkernel + h->nuser) * sizeof(__u64) + h->ncopy +
	       (size_t)h->npython * 2 * sizeof(__u64);
}

struct sampler;

struct sampler_conf {
	const int *cpus; /* those online */
	size_t ncpus;
	unsigned int rate_hz;
	uint64_t length_ns;  /* of an interval */
	uint64_t ring_bytes; /* from sampler_ring_bytes() */
	bool by_pid;	/* only processes that sampler_want() named, and their children */
	bool by_labels; /* those that sampler_decide() keeps, and those not decided on */
	bool inherits;	/* children are decided on as their parents were */
	enum unwinder_form form;
	bool no_clock; /* nothing is sampled: only what events need is there */
	/* these threads and their children, by perf events; NULL: by BPF */
	const struct thread_list *threads;
};

/* Ticks of all CPUs in one interval. */
struct tick_counts {
	int64_t expected, sent, idle, filtered, lost_ring, lost_timer, lost_recursion,
		lost_error;
	int64_t hidden;	 /* most of them in the kernel, where we may not look */
	uint64_t run_ns; /* that the sampler took for those sent and lost in the ring */
};

/* The size of a ring with room for want_bytes: a power of two of at least a page. */
uint64_t sampler_ring_bytes(uint64_t want_bytes);

/*
 * Load everything and open the clocks, stopped. Messages say what is missing and how to get it.
 * Without BPF, all that is asked for is taken, and what is decided on changes nothing.
 */
int sampler_open(const struct sampler_conf *conf, struct sampler **out, struct err *e);
void sampler_free(struct sampler *s);

/* The process is one of those named by number. */
void sampler_want(struct sampler *s, uint32_t tgid);
/* What is known of it: enum want_flags. */
uint32_t sampler_wants(const struct sampler *s, uint32_t tgid);

/* Sample a process or not, until its name (EVENT_COMM_LEN bytes) or control group changes. */
void sampler_decide(struct sampler *s, uint32_t tgid, const char *comm,
		    uint64_t cgroup_id, bool keep);
/* It has changed in another way: it is to be decided on anew. Or all are. */
void sampler_undecide(struct sampler *s, uint32_t tgid);
void sampler_decide_anew(struct sampler *s, bool inherits);
/* It is gone. */
void sampler_forget(struct sampler *s, uint32_t tgid);

/* As far as is decided, samples of the process are taken. */
bool sampler_samples(const struct sampler *s, uint32_t tgid);

/* By perf events: the kernel's part of stacks, and of the time, is not for us to see. */
bool sampler_hides_kernel(const struct sampler *s);

/*
 * Which form was loaded, what the verifier took for it, and where it looks for tables. Without BPF
 * UNWINDER_AUTO, 0, and no descriptors: each sample has a copy of its stack.
 */
enum unwinder_form sampler_form(const struct sampler *s);
uint32_t sampler_steps(const struct sampler *s);
void sampler_unwind_maps(const struct sampler *s, struct unwind_maps *out);

/*
 * Events beside the clock, which share what the sampler knows: shared and npossible of conf are
 * filled in. They are the caller's, to free before the sampler. By BPF alone.
 */
int sampler_open_events(struct sampler *s, struct events_conf *conf, struct events **out,
			struct err *e);

/* Where a process has the state of its Python interpreter; 0: it has none. */
void sampler_tell_python(const struct sampler *s, uint32_t tgid, uint64_t runtime);

/*
 * Start the clocks. The first interval begins at first_ns, which is now; ticks at and after
 * stop_ns are not looked at.
 */
int sampler_start(struct sampler *s, uint64_t first_ns, uint64_t stop_ns, struct err *e);

/* Add to an epoll set, as `data`, what says that sampler_drain() should be called soon. */
int sampler_epoll(struct sampler *s, int epoll_fd, uint64_t data, struct err *e);

/* Hand out the samples that are in the ring now; ips: kernel's, then the user's. */
void sampler_drain(struct sampler *s,
		   void (*take)(void *ctx, const struct sample_event *ev, size_t size),
		   void *ctx);

/*
 * The counts of the interval that ended at end_ns, each in its turn; only the last one may end
 * early. After this, sampler_drain() gives every sample from before end_ns.
 */
void sampler_cut(struct sampler *s, uint64_t end_ns, struct tick_counts *out);

/* Stop the clocks; the time when all were stopped. */
uint64_t sampler_stop(struct sampler *s);
