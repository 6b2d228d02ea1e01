/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that choose a part of a stream, for merge, diff and render alike: -s, -t,
 * --since, --until, the stack filters, --granularity, --no-inlines.
 */
#pragma once

#include <argp.h>

#include "lib/query/query.h"
#include "lib/ui/cli.h"

/* Child parser; its input is a struct query *. Bad values: one line, usage exit status. */
extern const struct argp queryopt_argp;

/* When all went well: what the query has to say, and which of its parts nothing fits. */
void queryopt_notes(const struct cli *c, struct query *q);
