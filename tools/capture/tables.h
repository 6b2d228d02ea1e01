/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind tables of all files that are mapped as code, each made once, at first sight: from the
 * cache, or by the tabler. Their rows lie where the BPF unwinder reads them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/sym/elfnote.h"
#include "lib/sym/unwindtab.h"
#include "tools/capture/procs.h"
#include "tools/capture/tablecache.h"
#include "tools/capture/tabler.h"
#include "tools/capture/unwinder.h"

struct table {
	struct table *next, *next_waiting;
	struct tables *owner;
	size_t refs;	    /* code files */
	uint64_t unused_ns; /* since when it has none */
	uint64_t hash;
	struct code_file like; /* which file: name, build id, inode; for opening it */
	uint32_t tgid;	       /* who has it mapped, where */
	uint64_t start, end;
	uint64_t asked_ns;
	bool missed; /* it could not be opened, at least once */
	/* PENDING, then one of the others, for good: but what was missed is tried again */
	enum unwind_kind kind;
	uint32_t first;		     /* row */
	struct unwind_table view;    /* rows and segments; rows are the unwinder's */
	struct python_places python; /* version 0: no interpreter that we know */
	struct alloc_places *alloc;  /* NULL: no allocator, or nobody asked */
	bool is_go;
	char *why;  /* it is refused; NULL: it is not */
	int status; /* negative errno: the same */
};

struct tables {
	struct tabler *tabler;
	struct unwinder *unwinder;
	struct tablecache *cache; /* NULL: none */
	bool want_alloc;	  /* ask for allocators, which no cache has */
	struct table **buckets;
	size_t nbuckets, n;
	struct table *waiting, **waiting_end; /* to be sent */
	struct table **sent;		      /* by id - 1; NULL: free */
	size_t nsent, sent_cap, in_flight;
	size_t nchanged; /* tables known since the last tables_poll() */
	uint64_t cpu_ns; /* that the tabler has used */
	bool revived; /* a file that was missed has its table now; for who knows of it */
	uint64_t made, cached, refused;
	void (*tell)(void *ctx, const struct table *t); /* of each refusal */
	void *tell_ctx;
};

void tables_init(struct tables *ts, struct tabler *tabler, struct unwinder *u,
		 struct tablecache *cache);
void tables_release(struct tables *ts);

/* Make f->table be there; its kind may be PENDING. [start, end): where tgid has f mapped. */
void tables_ask(struct tables *ts, struct code_file *f, uint32_t tgid, uint64_t start,
		uint64_t end);

/* Take answers and send what waits. How many tables became known since the last call. */
size_t tables_poll(struct tables *ts);
bool tables_pending(const struct tables *ts);

/* Forget what no file has used for a while. */
void tables_trim(struct tables *ts, uint64_t now_ns);

/* A file that is what it is: of another kind, or made without unwind information. */
bool table_is_plain(const struct table *t);

/* Those without a table, whose files should have one. */
void tables_each_refused(const struct tables *ts,
			 void (*take)(void *ctx, const struct table *t), void *ctx);

/* addr, in a mapping of the file that begins at start, is where the interpreter runs its code. */
bool table_is_python_eval(const struct table *t, const struct vma *v, uint64_t addr);

/* Where the rows of a mapping begin: the pc of the byte at file offset; false: no segment. */
bool table_pc(const struct table *t, uint64_t offset, uint64_t size, uint32_t *pc);

void table_put(struct table *t);
