/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One profile, symbolized: a new profile in the same store, whose locations have lines where
 * the old ones had none and an object gave an answer.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "tools/symbolize/jitnames.h"
#include "tools/symbolize/objects.h"

struct coverage { /* by value of the default sample type: samples whose leaf has a name */
	double named, total;
};

struct rewrite_opts {
	struct jitnames *jit; /* for addresses in no file; NULL: those are left alone */
	bool force; /* mappings and locations that are symbolized already, too */
	bool return_addresses; /* callers' addresses are those behind their calls */
	bool no_anonymous; /* leave memory between pieces of a file alone, see pieces.h */
};

/* p is of a STORE_EXACT store. *out is p itself when nothing changed, else the caller's. */
int rewrite_profile(struct profile *p, struct objects *o, const struct rewrite_opts *opts,
		    struct profile **out, struct err *e);

void rewrite_coverage(const struct profile *p, struct coverage *c);
