/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events and the ring that they write their records to. */
#include "tools/capture/perfring.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/num.h"
#include "lib/base/xalloc.h"

void threads_add_process(struct thread_list *l, uint32_t tgid)
{
	struct dirent *d;
	char path[32];
	uint64_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (num_parse_u64(d->d_name, &tid) < 0)
			continue;
		XGROW(l->v, l->n, l->cap);
		l->v[l->n++] = (struct thread_id){(uint32_t)tid, tgid};
	}
	if (dir)
		closedir(dir);
}

void threads_release(struct thread_list *l)
{
	free(l->v);
	*l = (struct thread_list){0};
}

int perf_open(struct perf_event_attr *attr, int pid, int cpu)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int add_event(struct perf_ring *r, struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = perf_open(attr, pid, cpu);

	if (fd < 0)
		return -errno;
	XGROW(r->fds, r->nfds, r->fds_cap);
	r->fds[r->nfds++] = fd;
	return 0;
}

static int map_ring(struct perf_ring *r, size_t bytes)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page_size + bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       r->fds[0], 0);

	/* the kernel means that this user has too much locked memory */
	if (p == MAP_FAILED)
		return errno == EPERM ? -ENOBUFS : -errno;
	r->page = p;
	r->data = (uint8_t *)p + page_size;
	r->size = bytes;
	r->scratch = xmalloc(UINT16_MAX + 1);
	return 0;
}

static int follow(struct perf_ring *r, struct perf_event_attr *attr, int cpu,
		  const struct thread_list *threads, struct err *e)
{
	size_t i;
	int code;

	attr->inherit = 1;
	for (i = 0; i < threads->n; i++) {
		code = add_event(r, attr, (int)threads->v[i].tid, cpu);
		if (code == -ESRCH) /* ended meanwhile */
			continue;
		if (code == -EACCES || code == -EPERM)
			return err_set(e, EACCES,
				       "process %u is not yours, or keeps its secrets: "
				       "run as root or with CAP_BPF and CAP_PERFMON",
				       threads->v[i].tgid);
		if (code < 0)
			return err_errno(e, -code, "perf event of thread %u on CPU %d",
					 threads->v[i].tid, cpu);
		if (ioctl(r->fds[r->nfds - 1], PERF_EVENT_IOC_SET_OUTPUT, r->fds[0]) < 0)
			return err_errno(e, errno, "perf event into the ring of CPU %d",
					 cpu);
	}
	return r->nfds > 1 ? 0 : err_set(e, ESRCH, "the process has ended");
}

static int open_ring(struct perf_ring *r, const struct perf_event_attr *attr, int cpu,
		     const struct thread_list *threads, size_t bytes, struct err *e)
{
	struct perf_event_attr own = *attr;
	int code;

	if (threads) {
		/* threads end, and their events say so for ever: we hold the ring ourselves */
		own.type = PERF_TYPE_SOFTWARE;
		own.config = PERF_COUNT_SW_DUMMY;
		own.disabled = 1;
	}
	code = add_event(r, &own, threads ? 0 : -1, cpu);
	if (code < 0)
		return err_errno(e, -code, "perf event on CPU %d", cpu);
	code = map_ring(r, bytes);
	if (code < 0)
		return err_errno(e, -code, "ring for perf events on CPU %d", cpu);
	own = *attr;
	return threads ? follow(r, &own, cpu, threads, e) : 0;
}

static void release_ring(struct perf_ring *r)
{
	size_t i;

	if (r->page)
		munmap(r->page, sysconf(_SC_PAGESIZE) + r->size);
	for (i = 0; i < r->nfds; i++)
		close(r->fds[i]);
	free(r->fds);
	free(r->scratch);
	*r = (struct perf_ring){0};
}

void perf_rings_free(struct perf_ring *rings, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		release_ring(&rings[i]);
	free(rings);
}

int perf_rings_open(const struct perf_ring_conf *conf, const struct perf_event_attr *attr,
		    struct perf_ring **out, struct err *e)
{
	struct perf_ring *rings = xcalloc(conf->ncpus, sizeof(*rings));
	size_t i;
	int r = 0;

	for (i = 0; i < conf->ncpus && !r; i++)
		r = open_ring(&rings[i], attr, conf->cpus[i], conf->threads, conf->bytes,
			      e);
	if (!r) {
		*out = rings;
		return 0;
	}
	perf_rings_free(rings, conf->ncpus);
	if (r == -ENOBUFS)
		return err_set(e, ENOBUFS,
			       "not enough locked memory for the rings of perf events: "
			       "raise ulimit -l or kernel.perf_event_mlock_kb");
	return r;
}

void perf_ring_look(struct perf_ring *r)
{
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	r->at = r->page->data_tail;
}

const struct perf_event_header *perf_ring_next(struct perf_ring *r)
{
	size_t off = r->at & (r->size - 1), first = r->size - off;
	struct perf_event_header h;

	if (r->at >= r->head)
		return NULL;
	/* records are 8-byte aligned: a header never wraps */
	memcpy(&h, r->data + off, sizeof(h));
	if (h.size < sizeof(h))
		return NULL;
	r->at += h.size;
	if (h.size <= first)
		return (const void *)(r->data + off);
	memcpy(r->scratch, r->data + off, first);
	memcpy(r->scratch + first, r->data, h.size - first);
	return (const void *)r->scratch;
}

void perf_ring_done(struct perf_ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->head, __ATOMIC_RELEASE);
}
