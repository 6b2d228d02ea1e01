/* SPDX-License-Identifier: Apache-2.0 */
/* What a gate is made of: for its parser and its judge. */
#pragma once

#include "lib/query/regex.h"
#include "tools/diff/gate.h"

enum subject { ON_TOTAL, ON_REGRESSED, ON_NEW, ON_FLAT, ON_CUM, ON_LABEL };

struct gate {
	char *text;
	bool warn;
	enum subject subject;
	struct regex *re;	/* ON_FLAT, ON_CUM */
	char *key, *value;	/* ON_LABEL */
	char *text_of_label;	/* ON_LABEL: KEY=VALUE */
	size_t label;		/* ON_LABEL: which of the watched ones */
	double percent_of_base; /* fraction; with relative 0 */
	double relative;	/* xR, or 0 */
	double min_share;	/* fraction of the larger side's total */
};
