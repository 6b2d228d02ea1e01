/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of prof-merge, parsed and checked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/query/query.h"
#include "lib/ui/cli.h"
#include "tools/merge/list.h"
#include "tools/merge/scale.h"

/* FILEs after one --weight. */
struct group {
	struct operands files;
	int64_t times;
};

struct options {
	struct cli cli;
	struct query *query;
	struct group *groups; /* at least one; none of the first may have files */
	size_t ngroups;
	const char *files0_from; /* or NULL */
	struct operands minus;	 /* files whose counters are taken off */
	enum list_kind list;
	size_t jobs;					/* 0, 1: no threads */
	struct operands by, without, split_by, root_by; /* keys of labels */
	int64_t window_ns;				/* 0: one over all time */
	struct ratio factor;				/* num 0: none */
	enum scale_to scale_to;
	double trim;	     /* fraction of the total; 0: none */
	uint64_t max_stacks; /* 0: no limit */
	uint64_t expect;
	bool has_expect;
};

/* Exits on --help, --version and bad usage. */
void options_parse(struct options *o, int argc, char **argv);
void options_release(struct options *o);
