/* SPDX-License-Identifier: Apache-2.0 */
/* Names and parents of threads. */
#include "tools/capture/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "tools/capture/procread.h"

static struct task **place(struct tasks *ts, uint32_t tid)
{
	struct task **at = &ts->buckets[tid % TASK_BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

static struct task *add(struct tasks *ts, uint32_t tid, uint32_t tgid)
{
	struct task **at = place(ts, tid), *t = *at, *leader;

	if (!t) {
		t = *at = xcalloc(1, sizeof(*t));
	} else { /* one whose end was not told */
		struct task *next = t->next;

		*t = (struct task){.next = next};
	}
	t->tid = tid;
	t->tgid = tgid;
	leader = tid == tgid ? NULL : *place(ts, tgid);
	if (leader)
		leader->nthreads++;
	return t;
}

static void drop(struct tasks *ts, uint32_t tid)
{
	struct task **at = place(ts, tid), *t = *at;

	if (!t)
		return;
	*at = t->next;
	free(t);
}

void tasks_release(struct tasks *ts)
{
	struct task *t, *next;
	size_t i;

	for (i = 0; i < TASK_BUCKETS; i++) {
		for (t = ts->buckets[i]; t; t = next) {
			next = t->next;
			free(t);
		}
		ts->buckets[i] = NULL;
	}
}

static void set_comm(struct task *t, const char *comm)
{
	size_t n = strnlen(comm, sizeof(t->comm) - 1);

	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, n);
}

void tasks_read(struct tasks *ts, uint32_t tid, uint32_t tgid)
{
	char name[32], comm[EVENT_COMM_LEN + 1] = "";
	struct task *t;

	if (tid != tgid && !*place(ts, tgid))
		tasks_read(ts, tgid, tgid);
	t = add(ts, tid, tgid);
	if (tid == tgid) {
		procread_identity(tgid, t->comm, &t->ppid);
		return;
	}
	snprintf(name, sizeof(name), "task/%u/comm", tid);
	if (procread_file(tgid, name, comm, sizeof(comm)) < 0)
		return;
	comm[strcspn(comm, "\n")] = 0;
	set_comm(t, comm);
}

void tasks_fork(struct tasks *ts, uint32_t tid, uint32_t tgid, uint32_t parent_tid,
		uint32_t parent_tgid)
{
	const struct task *parent;
	struct task *t;

	t = add(ts, tid, tgid);
	if (tid == tgid)
		t->ppid = parent_tgid;
	parent = *place(ts, parent_tid);
	if (parent)
		set_comm(t, parent->comm);
}

static struct task *find(struct tasks *ts, uint32_t tid, uint32_t tgid)
{
	if (!*place(ts, tid))
		tasks_read(ts, tid, tgid);
	return *place(ts, tid);
}

void tasks_comm(struct tasks *ts, uint32_t tid, uint32_t tgid, const char *comm)
{
	set_comm(find(ts, tid, tgid), comm);
}

/* A first thread that ends keeps the process's name for the others. */
void tasks_exit(struct tasks *ts, uint32_t tid, uint32_t tgid)
{
	struct task *leader;

	if (tid != tgid) {
		drop(ts, tid);
		leader = *place(ts, tgid);
		if (leader && leader->nthreads)
			leader->nthreads--;
	} else {
		leader = *place(ts, tgid);
		if (leader)
			leader->ended = true;
	}
	if (leader && leader->ended && !leader->nthreads)
		drop(ts, tgid);
}

void tasks_fill(struct tasks *ts, struct sample_head *h)
{
	const struct task *t = find(ts, h->tid, h->tgid), *leader;

	memcpy(h->comm, t->comm, sizeof(h->comm));
	leader = h->tid == h->tgid ? t : find(ts, h->tgid, h->tgid);
	memcpy(h->leader_comm, leader->comm, sizeof(h->leader_comm));
	h->ppid = leader->ppid;
}
