/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own report on processes: which started, ended, ran another program, mapped code.
 * Comes through one ring per CPU and covers processes that are gone before anyone looks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/sym/elfnote.h"
#include "tools/capture/perfring.h"

enum side_kind {
	SIDE_MMAP,
	SIDE_COMM,
	SIDE_FORK,
	SIDE_EXIT,
	SIDE_CODE, /* code was added to the kernel */
};

struct side_record {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t seq;	  /* order of arrival, for equal times */
	enum side_kind kind;
	uint32_t tgid, tid;
	uint32_t parent_tgid;	     /* FORK, EXIT; equal to tgid: a thread started */
	bool exec;		     /* COMM: the name changed because of an exec */
	uint64_t start, len, offset; /* MMAP, bytes */
	struct build_id build_id;    /* MMAP: n = 0 if the kernel gave none */
	uint32_t major, minor;	     /* MMAP, only without a build id */
	uint64_t inode;
	char *name; /* MMAP: file, COMM: new name; else NULL */
	char *env; /* what `seen` read of the process's environment, see procread_env() */
};

struct sideband;

/*
 * Starts at once, for all processes or for what some threads do and start (NULL: all). -EACCES,
 * -EPERM when the kernel refuses.
 */
int sideband_open(const int *cpus, size_t ncpus, const struct thread_list *threads,
		  struct sideband **out, struct err *e);
void sideband_free(struct sideband *sb);

/* Add all rings to an epoll set, with `data` as theirs: readable as soon as a record is there. */
int sideband_epoll(struct sideband *sb, int epoll_fd, uint64_t data, struct err *e);

/* Take over what the rings hold; each new record is also shown to `seen` (may be NULL). */
void sideband_drain(struct sideband *sb, void (*seen)(void *ctx, struct side_record *r),
		    void *ctx);

/* Hand out, in order of time, and forget the records before `until_ns`. */
void sideband_take(struct sideband *sb, uint64_t until_ns,
		   void (*take)(void *ctx, const struct side_record *r), void *ctx);

bool sideband_has_more(const struct sideband *sb); /* that were drained and not taken */

uint64_t sideband_lost(const struct sideband *sb); /* records lost since the start */
