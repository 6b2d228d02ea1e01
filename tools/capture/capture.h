/* SPDX-License-Identifier: Apache-2.0 */
/* A capture from start to end: sample, cut into intervals, write each as a profile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/ui/cli.h"
#include "tools/capture/choose.h"
#include "tools/capture/labels.h"
#include "tools/capture/programs.h"

struct capture_opts {
	struct cli cli; /* output: the pattern */
	unsigned int rate_hz;
	uint32_t kinds; /* of events, bits */
	int64_t min_wait_ns;
	uint64_t alloc_bytes; /* asked for between two samples */
	bool frees;	      /* also what is in use */
	bool force;	      /* whatever it costs those who are looked at */
	int64_t duration_ns;  /* 0: until told to stop */
	int64_t interval_ns;  /* 0: one for all */
	uint64_t count;	      /* of intervals; 0: no limit */
	uint32_t *pids;
	size_t npids, pids_cap;
	struct choice_conf choice;
	bool explain;	     /* who would be profiled, and nothing else */
	char **command;	     /* NULL-terminated; NULL: none */
	uint64_t ring_bytes; /* 0: by rate and CPUs */
	bool stats;
	bool anonymous_kernel;
	const char *root;     /* of the host, for what tells names of containers */
	struct buf env_names; /* for procread_env() */
	enum unwinder_form unwinder;
	const char *cache;	  /* directory; NULL: none */
	const char *keep;	  /* directory for copies of files; NULL: none */
	uint64_t keep_bytes;	  /* 0: 4 GiB */
	struct label_conf labels; /* node NULL: the host's name */
};

int capture_run(const struct capture_opts *o, struct err *e);
