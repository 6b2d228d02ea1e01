/* SPDX-License-Identifier: Apache-2.0 */
/* Names and parents of threads, kept up to date by the records of perf events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

struct task {
	struct task *next;
	uint32_t tid, tgid;
	uint32_t ppid;	   /* of the process; only with its first thread */
	uint32_t nthreads; /* others that it has; likewise */
	bool ended;
	char comm[EVENT_COMM_LEN];
};

#define TASK_BUCKETS 1024

struct tasks {
	struct task *buckets[TASK_BUCKETS];
};

void tasks_release(struct tasks *ts);

/* A thread as /proc has it now. */
void tasks_read(struct tasks *ts, uint32_t tid, uint32_t tgid);

/* What the records say, in order of time. */
void tasks_fork(struct tasks *ts, uint32_t tid, uint32_t tgid, uint32_t parent_tid,
		uint32_t parent_tgid);
void tasks_comm(struct tasks *ts, uint32_t tid, uint32_t tgid, const char *comm);
void tasks_exit(struct tasks *ts, uint32_t tid, uint32_t tgid);

/* Names and parent for a sample of h->tid. */
void tasks_fill(struct tasks *ts, struct sample_head *h);
