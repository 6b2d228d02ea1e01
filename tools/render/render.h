/* SPDX-License-Identifier: Apache-2.0 */
/* From a stream of profiles to one document, or profile by profile to text. */
#pragma once

#include "lib/ui/cli.h"
#include "tools/render/report.h"

struct render_format;

struct render_opts {
	struct cli cli;
	struct query *q;		    /* as the options say */
	struct operands files, by, root_by; /* the latter two: keys of labels */
	struct operands sources;	    /* directories */
	const struct render_format *format; /* -f, or NULL */
	bool all_frames;
	bool follow;	    /* a document of each profile, as it comes */
	bool noted_unnamed; /* that functions have no names */
	struct report_opts report;
};

const struct render_format *render_format_by_name(const char *name);

int render(struct render_opts *o, struct err *e);
