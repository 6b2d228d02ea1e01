/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs now, and what would be done with it. */
#pragma once

#include "lib/base/err.h"
#include "tools/capture/labels.h"
#include "tools/capture/procs.h"

/* Decide on every process that is known, before it is ever sampled. */
void survey_decide(struct procs *ps, const struct label_conf *conf,
		   const struct label_sources *src);

/*
 * Print each process on standard output: whether it is profiled and why, its labels, and where
 * rules change these, what they become.
 */
int survey_explain(struct procs *ps, const struct label_conf *conf,
		   const struct label_sources *src, struct err *e);
