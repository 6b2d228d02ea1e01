/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All objects of a run, by file name and build id, with their answers: profiles of the same
 * programs, one after another, read debug information once. What is open at a time is bounded
 * in memory and in number; the object not used for longest is closed first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/intern.h"
#include "lib/sym/demangle.h"
#include "lib/sym/object.h"

struct name {			 /* of a function, ready for a profile */
	struct str name, system; /* name.p: NULL until asked for */
};

struct entry {
	const char *path, *build_id; /* as in the mapping */
	struct object *object;
	struct name *names; /* by function, as far as asked for */
	size_t nnames, names_cap;
	uint64_t used; /* when, for closing */
	bool busy;     /* a thread is at it */
	bool quiet;    /* not in the report: kernel code, for which there is no file */
	/* for the report: distinct addresses as they came, per profile */
	uint64_t anonymous; /* of them, in memory between pieces of the file */
	uint64_t addresses, named[SYM_NSOURCES], reasons[SYM_NREASONS], bare;
};

struct objects {
	struct sym_paths paths;
	struct module_files modules;
	enum demangle_mode mode;
	bool keep_clones;
	unsigned threads;   /* at least 1 */
	uint64_t max_bytes; /* in open files and decoded tables that are not worked on */
	bool last;	    /* no more profiles follow: what is done is closed */
	struct intern keys;
	struct entry *v; /* by key id - 1 */
	size_t n, cap;
	uint64_t clock;
	struct arena arena; /* names */
	struct buf scratch;
};

void objects_init(struct objects *o);
void objects_release(struct objects *o);

/* The entry for a mapping; the pointer is good until the next call. */
struct entry *objects_get(struct objects *o, const char *path, const char *build_id);

/* Addresses of one entry's file to answer. */
struct task {
	size_t entry; /* in objects.v */
	const uint64_t *vaddrs;
	size_t n;
	struct sym_answer *out; /* n */
};

/*
 * Answer all tasks on o->threads threads: large objects one by one, each on all of them, then the
 * others next to one another, those with most addresses first. The tasks of one object are done
 * in order, so that the answers do not depend on the number of threads. What is done is closed if
 * there is too much.
 */
void objects_resolve(struct objects *o, const struct task *v, size_t n);

/* Readable and system name of one of its functions; good as long as o. */
struct name objects_name(struct objects *o, struct entry *en, uint32_t function);
