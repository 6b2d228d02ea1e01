/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own report on processes: perf side-band records, merged over CPUs. */
#include "tools/capture/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/base/xalloc.h"

#define RING_BYTES (512 << 10)
#define RING_LEAST (64 << 10) /* where not more may be locked */
#define TRAILER_BYTES 24      /* sample_id: pid and tid, time, cpu */

struct sideband {
	struct perf_ring *rings;
	size_t nrings;
	struct side_record *pending;
	size_t n, cap;
	uint64_t seq, lost;
};

int sideband_open(const int *cpus, size_t ncpus, const struct thread_list *threads,
		  struct sideband **out, struct err *e)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = !threads,
		.build_id = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
		.exclude_kernel = threads != NULL,
	};
	struct perf_ring_conf conf = {
		.cpus = cpus,
		.ncpus = ncpus,
		.threads = threads,
		.bytes = RING_BYTES,
	};
	struct sideband *sb = xcalloc(1, sizeof(*sb));
	int r;

	do {
		r = perf_rings_open(&conf, &attr, &sb->rings, e);
		conf.bytes /= 2;
	} while (r == -ENOBUFS && conf.bytes >= RING_LEAST);
	if (r < 0) {
		free(sb);
		return r;
	}
	sb->nrings = ncpus;
	*out = sb;
	return 0;
}

static void release_record(struct side_record *r)
{
	free(r->name);
	free(r->env);
}

void sideband_free(struct sideband *sb)
{
	size_t i;

	if (!sb)
		return;
	perf_rings_free(sb->rings, sb->nrings);
	for (i = 0; i < sb->n; i++)
		release_record(&sb->pending[i]);
	free(sb->pending);
	free(sb);
}

int sideband_epoll(struct sideband *sb, int epoll_fd, uint64_t data, struct err *e)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = data};
	size_t i;

	for (i = 0; i < sb->nrings; i++) {
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, sb->rings[i].fds[0], &ev) < 0)
			return err_errno(e, errno, "epoll");
	}
	return 0;
}

struct mmap2_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		};
		struct {
			uint8_t build_id_size, reserved[3], build_id[20];
		};
	};
	uint32_t prot, flags;
	char filename[];
};

struct comm_body {
	uint32_t pid, tid;
	char comm[];
};

struct task_body {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

static bool parse_mmap(const struct perf_event_header *h, const struct mmap2_body *b,
		       size_t n, struct side_record *r)
{
	if (n <= sizeof(*b) || !(b->prot & PROT_EXEC) || !b->len)
		return false;
	*r = (struct side_record){
		.kind = SIDE_MMAP,
		.tgid = b->pid,
		.tid = b->tid,
		.start = b->addr,
		.len = b->len,
		.offset = b->pgoff,
	};
	if (h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		r->build_id.n =
			b->build_id_size <= sizeof(b->build_id) ? b->build_id_size : 0;
		memcpy(r->build_id.data, b->build_id, r->build_id.n);
	} else {
		r->major = b->maj;
		r->minor = b->min;
		r->inode = b->ino;
	}
	r->name = xstrndup(b->filename, n - sizeof(*b));
	return true;
}

/* One record of `size` bytes with its header: true, or false if it is of no use to us. */
static bool parse(struct sideband *sb, const struct perf_event_header *h,
		  struct side_record *r)
{
	const uint8_t *p = (const uint8_t *)h;
	const void *body = h + 1;
	const struct comm_body *comm = body;
	const struct task_body *task = body;
	size_t n;

	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(*h) + 16) {
		uint64_t lost;

		memcpy(&lost, p + sizeof(*h) + 8, sizeof(lost));
		sb->lost += lost;
		return false;
	}
	if (h->size < sizeof(*h) + TRAILER_BYTES)
		return false;
	n = h->size - sizeof(*h) - TRAILER_BYTES;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		if (!parse_mmap(h, body, n, r))
			return false;
		break;
	case PERF_RECORD_COMM:
		if (n <= sizeof(*comm))
			return false;
		*r = (struct side_record){
			.kind = SIDE_COMM,
			.tgid = comm->pid,
			.tid = comm->tid,
			.exec = h->misc & PERF_RECORD_MISC_COMM_EXEC,
			.name = xstrndup(comm->comm, n - sizeof(*comm)),
		};
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (n < sizeof(*task))
			return false;
		*r = (struct side_record){
			.kind = h->type == PERF_RECORD_FORK ? SIDE_FORK : SIDE_EXIT,
			.tgid = task->pid,
			.tid = task->tid,
			.parent_tgid = task->ppid,
		};
		break;
	case PERF_RECORD_KSYMBOL:
		*r = (struct side_record){.kind = SIDE_CODE};
		break;
	default:
		return false;
	}
	memcpy(&r->time_ns, p + h->size - 16, sizeof(r->time_ns));
	return true;
}

static void drain_ring(struct sideband *sb, struct perf_ring *ring,
		       void (*seen)(void *ctx, struct side_record *r), void *ctx)
{
	const struct perf_event_header *h;
	struct side_record r;

	perf_ring_look(ring);
	while ((h = perf_ring_next(ring))) {
		if (!parse(sb, h, &r))
			continue;
		r.seq = sb->seq++;
		if (seen)
			seen(ctx, &r);
		XGROW(sb->pending, sb->n, sb->cap);
		sb->pending[sb->n++] = r;
	}
	perf_ring_done(ring);
}

void sideband_drain(struct sideband *sb, void (*seen)(void *ctx, struct side_record *r),
		    void *ctx)
{
	size_t i;

	for (i = 0; i < sb->nrings; i++)
		drain_ring(sb, &sb->rings[i], seen, ctx);
}

static int cmp_records(const void *pa, const void *pb)
{
	const struct side_record *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

void sideband_take(struct sideband *sb, uint64_t until_ns,
		   void (*take)(void *ctx, const struct side_record *r), void *ctx)
{
	size_t i;

	if (sb->n)
		qsort(sb->pending, sb->n, sizeof(*sb->pending), cmp_records);
	for (i = 0; i < sb->n && sb->pending[i].time_ns < until_ns; i++) {
		take(ctx, &sb->pending[i]);
		release_record(&sb->pending[i]);
	}
	sb->n -= i;
	if (i)
		memmove(sb->pending, sb->pending + i, sb->n * sizeof(*sb->pending));
}

bool sideband_has_more(const struct sideband *sb)
{
	return sb->n;
}

uint64_t sideband_lost(const struct sideband *sb)
{
	return sb->lost;
}
