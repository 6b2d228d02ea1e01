/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a sampling perf event: perf_event_open(2) has their layout. */
#include "tools/capture/perfsample.h"

#include <asm/perf_regs.h>
#include <string.h>
#include <time.h>

/* In the order in which the record has them: that of their numbers. */
#if defined(__x86_64__)
enum reg { REG_CX, REG_FP, REG_SP, REG_PC, REGS };
#define REGS_MASK                                                                        \
	(1ull << PERF_REG_X86_CX | 1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP |   \
	 1ull << PERF_REG_X86_IP)
#elif defined(__aarch64__)
enum reg { REG_FP, REG_LR, REG_SP, REG_PC, REGS };
#define REGS_MASK                                                                        \
	(1ull << PERF_REG_ARM64_X29 | 1ull << PERF_REG_ARM64_LR |                        \
	 1ull << PERF_REG_ARM64_SP | 1ull << PERF_REG_ARM64_PC)
#endif

#define TRAILER_WORDS 3 /* of other records: pid and tid, time, cpu */

void perf_sample_ask(struct perf_event_attr *attr, bool kernel, bool cgroup)
{
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			    (kernel ? PERF_SAMPLE_CALLCHAIN : 0) |
			    (cgroup ? PERF_SAMPLE_CGROUP : 0);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->sample_regs_user = REGS_MASK;
	attr->sample_stack_user = PERF_STACK_LEAST;
	attr->exclude_kernel = !kernel;
	attr->exclude_callchain_user = 1;
}

uint64_t perf_record_time(const struct perf_event_header *h)
{
	const uint64_t *words = (const void *)(h + 1);
	size_t n = (h->size - sizeof(*h)) / sizeof(*words);

	if (h->type == PERF_RECORD_SAMPLE)
		return n > 1 ? words[1] : 0;
	return n >= TRAILER_WORDS ? words[n - 2] : 0;
}

/* The words of a record, taken one after another. */
struct words {
	const uint64_t *at, *end;
	bool bad;
};

static const uint64_t *take(struct words *w, uint64_t n)
{
	const uint64_t *p = w->at;

	if (w->bad || n > (uint64_t)(w->end - w->at)) {
		w->bad = true;
		return NULL;
	}
	w->at += n;
	return p;
}

static uint64_t take_one(struct words *w)
{
	const uint64_t *p = take(w, 1);

	return p ? *p : 0;
}

/* The kernel's part: marks of whose addresses follow lie between them. */
static void read_chain(struct words *w, struct sample_event *ev)
{
	uint64_t n = take_one(w), i;
	const uint64_t *ip = take(w, n);

	for (i = 0; ip && i < n && ev->h.nkernel < EVENT_KERNEL_MAX; i++) {
		if (ip[i] < PERF_CONTEXT_MAX)
			ev->data[ev->h.nkernel++] = ip[i];
	}
}

static bool in_syscall(const struct perf_event_header *h, const uint64_t *regs)
{
	if ((h->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
		return false;
#if defined(__x86_64__)
	/* the instruction leaves the address behind it there */
	return regs[REG_CX] == regs[REG_PC];
#else
	(void)regs;
	return true; /* more often than by a fault or an interrupt */
#endif
}

static void read_regs(struct words *w, const struct perf_event_header *h,
		      struct sample_event *ev)
{
	uint64_t abi = take_one(w);
	const uint64_t *regs;

	if (abi == PERF_SAMPLE_REGS_ABI_NONE) {
		ev->h.flags |= EVENT_NO_USER;
		return;
	}
	regs = take(w, REGS);
	if (!regs)
		return;
	ev->data[ev->h.nkernel] = regs[REG_PC] | EVENT_EXACT;
	ev->h.nuser = 1;
	if (abi != PERF_SAMPLE_REGS_ABI_64) {
		ev->h.stop = STOP_FOREIGN;
		return;
	}
	ev->h.flags |= EVENT_LEAF | EVENT_HAS_FP;
	if (in_syscall(h, regs))
		ev->h.flags |= EVENT_IN_SYSCALL;
	ev->h.next_pc = regs[REG_PC];
	ev->h.next_sp = regs[REG_SP];
	ev->h.next_fp = regs[REG_FP];
#if defined(__aarch64__)
	ev->h.flags |= EVENT_HAS_LR;
	ev->h.next_lr = regs[REG_LR];
#endif
}

/* The copy begins at sp; ours at the piece that sp is in. What is below sp is nobody's. */
static void read_stack(struct words *w, struct sample_event *ev)
{
	uint8_t *to = (uint8_t *)&ev->data[ev->h.nkernel + ev->h.nuser];
	size_t below = ev->h.next_sp & (EVENT_COPY_PIECE - 1);
	uint64_t size = take_one(w), n;
	const uint64_t *from;

	if (!size)
		return;
	from = take(w, size / sizeof(*from));
	n = take_one(w);
	if (w->bad || n > size || n > PERF_STACK_MOST || ev->h.stop == STOP_FOREIGN ||
	    ev->h.flags & EVENT_NO_USER)
		return;
	memset(to, 0xff, below);
	memcpy(to + below, from, n);
	/* as a whole number of words, like all that follows it */
	ev->h.ncopy = n ? (below + n) & ~(size_t)7 : 0;
}

size_t perf_sample_read(const struct perf_event_attr *attr,
			const struct perf_event_header *h, struct sample_event *room)
{
	struct words w = {.at = (const void *)(h + 1)};
	struct sample_event *ev = room;
	uint64_t word;

	w.end = w.at + (h->size - sizeof(*h)) / sizeof(*w.at);
	memset(&ev->h, 0, sizeof(ev->h));
	word = take_one(&w);
	ev->h.tgid = (uint32_t)word;
	ev->h.tid = word >> 32;
	ev->h.ktime = take_one(&w);
	ev->h.cpu = (uint32_t)take_one(&w);
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		read_chain(&w, ev);
	read_regs(&w, h, ev);
	read_stack(&w, ev);
	if (attr->sample_type & PERF_SAMPLE_CGROUP)
		ev->h.cgroup_id = take_one(&w);
	/* unwound from the copy as soon as it is known which code it has */
	if (ev->h.nuser && ev->h.stop != STOP_FOREIGN)
		ev->h.stop = ev->h.ncopy ? STOP_NO_PROCESS : STOP_FAULT;
	if (w.bad)
		return 0;
	return sizeof(ev->h) + ((size_t)ev->h.nkernel + ev->h.nuser) * sizeof(uint64_t) +
	       ev->h.ncopy;
}
