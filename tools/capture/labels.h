/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of a sample: who ran. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "tools/capture/cgroups.h"
#include "tools/capture/containers.h"
#include "tools/capture/labellist.h"
#include "tools/capture/procs.h"

/* Those that a sample has only when asked for. */
enum label_extra {
	LABEL_THREAD_NAME = 1 << 0,
	LABEL_THREAD_ID = 1 << 1,
	LABEL_PPID = 1 << 2,
	LABEL_CPU = 1 << 3,
	LABEL_CGROUP = 1 << 4,
	LABEL_POD_UID = 1 << 5,
	LABEL_KERNEL_RELEASE = 1 << 6,
	LABEL_IMAGE = 1 << 7,
};

struct label_pair {
	char *key; /* owned by whoever fills it in */
	const char *value;
};

#define LABELS_FIXED_MAX 64

struct label_conf {
	uint32_t extra; /* enum label_extra */
	const char *node;
	const char *kernel_release;
	struct label_pair fixed[LABELS_FIXED_MAX]; /* on every sample */
	size_t nfixed;
	struct label_pair
		env[LABELS_FIXED_MAX]; /* from the variable `value` of the process */
	size_t nenv;
};

/* Where labels come from, beside the process itself. */
struct label_sources {
	struct cgroups *cgroups;
	struct containers *containers;
	struct chooser *chooser; /* NULL: every process is profiled */
	const char *env_names;	 /* see procread_env(); NULL: none */
};

/* A process at one time. */
struct label_subject {
	struct proc *proc;
	const struct space *space; /* NULL: not known */
	const char *comm;	   /* of the thread-group leader, EVENT_COMM_LEN bytes */
	uint32_t ppid;
	const char *cgroup; /* path */
	uint64_t cgroup_id; /* in the v2 hierarchy */
};

/* Add the labels of a comma-separated list; unknown ones are named in e. */
int labels_choose(const char *list, uint32_t *extra, struct err *e);

/* All labels of a whole process; those that were not chosen are hidden. */
void labels_of_process(const struct label_conf *conf, const struct label_sources *src,
		       const struct label_subject *who, struct label_list *l);

/*
 * The label set of a sample of p, in the store of profile number `epoch`; ID_NONE if the process
 * is not to be profiled.
 */
uint32_t labels_of_sample(const struct label_conf *conf, const struct label_sources *src,
			  struct store *st, uint32_t epoch, struct proc *p,
			  const struct sample_head *h);
