/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Naming a sample type: by name, by index, or as Parca does:
 * NAME:SAMPLE_TYPE:SAMPLE_UNIT:PERIOD_TYPE:PERIOD_UNIT[:delta]. Inside lib/query only.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/pprof/model.h"

struct type_spec {
	char *text;	/* as given; NULL = none */
	char *parts[6]; /* into `copy`: [1] is the name alone when it is no Parca type */
	char *copy;
	size_t nparts, index;
	bool by_index;
};

int type_spec_parse(struct type_spec *t, const char *text, struct err *e);
void type_spec_release(struct type_spec *t);

/* Index of the column, or -1. */
int type_spec_find(const struct type_spec *t, const struct store *st,
		   const struct header *h);
