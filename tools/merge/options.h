/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of prof-merge, parsed and checked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/query/query.h"
#include "lib/ui/cli.h"

struct options {
	struct cli cli;
	struct query *query;
	struct operands files;
	struct operands by, without, split_by, root_by; /* keys of labels */
	int64_t window_ns;				/* 0: one over all time */
	uint64_t expect;
	bool has_expect;
};

/* Exits on --help, --version and bad usage. */
void options_parse(struct options *o, int argc, char **argv);
void options_release(struct options *o);
