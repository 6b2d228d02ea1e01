/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile is of, for headings: one program, or what one machine did. */
#pragma once

#include "tools/render/report.h"

/* Texts of the profile's store; each is empty when not known or not one. */
struct subject {
	struct str file;     /* base name of the program */
	struct str build_id; /* of that program */
	struct str host;     /* the machine, only where there is no one program */
};

/*
 * Where samples say which program they are of (label `executable`, else `comm`), it is the one
 * with more than half of the value that the stack filters leave: the heaviest mapping of a whole
 * machine is a library that all programs share, and would be no name for it. Where they do not
 * say, it is the file of `main_mapping` (or ID_NONE), as in google/pprof.
 */
struct subject subject_of(const struct report *r, uint32_t main_mapping);
