/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of rewriting share. Not for use outside rewrite*.c. */
#pragma once

#include "lib/sym/u64map.h"
#include "tools/symbolize/pieces.h"
#include "tools/symbolize/rewrite.h"

#define LINES_MAX 256 /* of a location: an index may lead on for long */
#define BY_JIT (SYM_NONE - 1)

struct rewrite {
	struct profile *p;
	struct store *st;
	struct objects *objects;
	struct jitnames *jit;
	bool force, changed, anonymous;
	struct pieces pieces; /* of files, if anonymous memory between them counts */
	size_t nmappings, nlocations; /* as read; the store grows while we work */
	/*
	 * A location may be looked up as it is, under its own number, and as a return address,
	 * under that + nlocations. `uses` is how many numbers there are; used: which are
	 * needed, NULL for all.
	 */
	size_t uses;
	bool *used;
	bool *ours;	      /* by mapping: to be symbolized */
	uint32_t *flags;      /* by mapping: to be set */
	uint32_t *mapping;    /* by mapping: new id */
	uint32_t *by_mapping; /* uses of locations in order of mapping */
	uint32_t *first;    /* by mapping: index of its first one there; n + 1 of them */
	uint32_t *location; /* by use: new id, ID_NONE until known */
	struct job *jobs;   /* by mapping */
	uint32_t *found;    /* by use: location in the job's object, BY_JIT or SYM_NONE */
	struct line *jit_line; /* by use, where `found` is BY_JIT */
};

/* The addresses of one mapping, and which locations they are of. */
struct job {
	size_t entry;
	uint64_t *vaddrs;
	uint32_t *which;
	struct sym_answer *answers;
	size_t n;
	bool kernel;
	struct u64map functions; /* of the object, in a file -> in the store */
};

static inline const struct location *location_of(const struct rewrite *w, uint32_t use)
{
	return &w->st->locations[use < w->nlocations ? use : use - w->nlocations];
}

/* How frame i of a stack is looked up. Code that the kernel interrupted is where it was. */
uint32_t use_of(const struct rewrite *w, const uint32_t *frames, uint32_t i);

/* rewrite_kernel.c: Is a mapping kernel code of a known build? */
bool is_kernel_code(const struct rewrite *w, uint32_t mapping);
/* What capture called the function of a location; NULL: nothing. */
const struct function *captured(const struct rewrite *w, uint32_t use);
/* Take back answer i of a kernel job if it is not of the code at hand. */
void check_kernel(struct rewrite *w, struct job *j, size_t i);
/* The function of a location's outermost line gets the name that it had. */
void keep_name(struct rewrite *w, uint32_t use, struct line *outer);

/*
 * rewrite_build.c: A string for the profile. Those of pprof are UTF-8, names of files and symbols
 * any bytes: one that is none becomes U+FFFD.
 */
uint32_t put_text(struct store *st, struct str s);
/* The profile with what was found; *out is w->p or the caller's. */
int rebuild(struct rewrite *w, struct profile **out, struct err *e);
