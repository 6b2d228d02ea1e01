/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that choose a part of a stream, for merge, diff and render alike: -s, -t,
 * --since, --until, the stack filters, --granularity, --no-inlines.
 */
#pragma once

#include <argp.h>

#include "lib/query/query.h"
#include "lib/ui/cli.h"

/*
 * The child parsers of a program that reads profiles and chooses a part of them: its options
 * and those of cli.h. Bad values: one line, usage exit status.
 */
extern const struct argp_child queryopt_children[];

/* For ARGP_KEY_INIT of their parent: what they fill in. */
void queryopt_init(struct argp_state *state, struct query *q, struct cli *c);

/* When all went well: what the query has to say, and which of its parts nothing fits. */
void queryopt_notes(const struct cli *c, struct query *q);
