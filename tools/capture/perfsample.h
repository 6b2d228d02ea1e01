/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a sampling perf event, and what of them a sample is made of. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

/* Bytes of the stack that a record holds, a multiple of 8: a record has less than 64 KiB. */
#define PERF_STACK_LEAST (16 << 10)
#define PERF_STACK_MOST (60 << 10)

/* Fill in what a sample consists of, but for the bytes of its stack. Is it to have these? */
void perf_sample_ask(struct perf_event_attr *attr, bool kernel, bool cgroup);

/* The time of any record of such an event: CLOCK_MONOTONIC, ns; 0: has none. */
uint64_t perf_record_time(const struct perf_event_header *h);

/*
 * Make a PERF_RECORD_SAMPLE into a sample, without what it does not say: names and parent. room
 * must hold PERF_EVENT_MAX bytes. Returns its size; 0: it is damaged.
 */
#define PERF_EVENT_MAX                                                                   \
	(sizeof(struct sample_head) + (EVENT_KERNEL_MAX + 1) * sizeof(uint64_t) +        \
	 EVENT_COPY_PIECE + PERF_STACK_MOST)
size_t perf_sample_read(const struct perf_event_attr *attr,
			const struct perf_event_header *h, struct sample_event *room);
