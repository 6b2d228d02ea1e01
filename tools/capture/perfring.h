/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events and the rings that they write their records to, one for each CPU: the events of one
 * CPU, be it all of it or some threads on it, share a ring.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct thread_id {
	uint32_t tid, tgid;
};

/* Threads to follow, with all threads and processes that they will start. */
struct thread_list {
	struct thread_id *v;
	size_t n, cap;
};

/* Add all threads that a process has now. */
void threads_add_process(struct thread_list *l, uint32_t tgid);
void threads_release(struct thread_list *l);

struct perf_ring {
	int *fds; /* the first one's is the ring */
	size_t nfds, fds_cap;
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t size;	   /* bytes, a power of two */
	uint8_t *scratch;  /* one record that wraps round */
	uint64_t at, head; /* read up to here; and to be read */
};

struct perf_ring_conf {
	const int *cpus;
	size_t ncpus;
	const struct thread_list *threads; /* NULL: whoever runs on the CPUs */
	size_t bytes;			   /* of a ring, a power of two */
};

/* perf_event_open(2) without a group: the descriptor, or -1 and errno. */
int perf_open(struct perf_event_attr *attr, int pid, int cpu);

/*
 * A ring with this event on each CPU, or on each of the threads there: then the first descriptor
 * of a ring only holds it. Error codes are the kernel's; EACCES for a process that is not ours,
 * ESRCH when all threads have ended, ENOBUFS when this user may not lock so much memory: the
 * message says that, and less may do.
 */
int perf_rings_open(const struct perf_ring_conf *conf, const struct perf_event_attr *attr,
		    struct perf_ring **out, struct err *e);
void perf_rings_free(struct perf_ring *rings, size_t n);

/*
 * The next record that was there at the last perf_ring_look(), or NULL. Good until the next call,
 * or until perf_ring_done() gives the room of all of them back.
 */
void perf_ring_look(struct perf_ring *r);
const struct perf_event_header *perf_ring_next(struct perf_ring *r);
void perf_ring_done(struct perf_ring *r);
