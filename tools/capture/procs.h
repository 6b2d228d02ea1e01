/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process had which code mapped where, at any time that a sample may still ask about.
 *
 * A process is a number (tgid) from its birth to its end; one number may be several processes in
 * turn. Its address space is made anew by each exec; spaces are shared with children until one
 * side changes. Times are CLOCK_MONOTONIC in ns; 0 stands for "since before we looked".
 * State comes from the side band and from reading /proc, in any order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "lib/base/err.h"
#include "lib/sym/elfnote.h"
#include "tools/capture/sideband.h"

/* A file that code comes from. Shared; lives as long as something points to it. */
struct code_file {
	struct code_file *next;
	size_t refs;
	char *name; /* in the process's root, without " (deleted)"; or "[vdso]", "[vsyscall]" */
	struct build_id build_id;
	bool id_known;	       /* the build id was found, or looked for in vain */
	uint32_t major, minor; /* from /proc, until the build id is known */
	uint64_t inode;
	uint64_t hash;
	struct table *table; /* NULL: not asked for yet */
};

struct vma {
	uint64_t start, end, offset;
	uint64_t from_ns;
	struct code_file *file; /* NULL: anonymous memory */
	uint32_t epoch,
		mapping; /* the profile builder's: mapping id in profile number `epoch` */
};

/* Code that is mapped now, as far as the records tell: what was unmapped stays. */
struct live {
	uint64_t start, end, offset;
	struct code_file *file; /* NULL: anonymous memory */
};

struct space {
	size_t refs;
	struct vma *vmas; /* by from_ns; of two that overlap the later one counts */
	size_t n, cap;
	struct live *live; /* by address, none over another */
	size_t nlive, live_cap;
	bool live_changed;	/* since the unwinder was told */
	struct unwind_run *run; /* what the unwinder was told; NULL: nothing */
	size_t npending;	/* mappings whose files have no table yet */
	size_t nmissed;		/* and whose files could not be opened */
	struct code_file *exe;	/* NULL: not known */
	char *env;		/* see procread_env(); NULL: not known */
	bool env_guessed;	/* it is that of the program before */
	bool exe_next;		/* just after an exec: the next file mapped is it */
};

struct image {
	uint64_t from_ns, until_ns;
	struct space *space;
	char comm[EVENT_COMM_LEN]; /* that its exec gave it; "": it was not seen */
};

/* What a profile builder remembers about a process: its label set in profile number `epoch`. */
struct label_cache {
	uint32_t epoch, labelset;
	uint64_t cgroup_id;
	const struct space *space;
	char comm[EVENT_COMM_LEN];
};

struct proc {
	struct proc *next;
	uint32_t tgid;
	uint64_t born_ns, closed_ns; /* closed_ns UINT64_MAX: not that we know */
	uint64_t scan_ns; /* /proc was read then: earlier records tell nothing new */
	uint64_t exit_ns; /* a thread ended last then, 0: none yet */
	uint64_t start_boottime; /* as in samples; 0 unknown */
	uint64_t start_ticks;	 /* the same as /proc tells it; 0 unknown */
	bool kernel_thread;
	struct image *images; /* oldest first */
	size_t nimages, images_cap;
	char *told_cgroup; /* as /proc tells it, "" none; the parent's until it is read */
	bool told_read;
	bool is_named;	 /* by number, or a child of one that is */
	bool is_changed; /* waits in procs.changed */
	bool is_told;	 /* the unwinder has an entry for it, with the run that begins */
	uint32_t told_first;	 /* here */
	uint64_t python_runtime; /* where the sampler was told that its interpreter is */
	struct python *python;	 /* the same of its interpreter; NULL: not looked at */
	struct jit *jit;	 /* names of code it made; NULL: not looked for */
	struct label_cache labels;
};

#define NAMES_MAX_BYTES (256u << 20) /* of all processes: who has them may mean us harm */

struct procs {
	struct proc **buckets;
	size_t nbuckets, n;
	struct code_file **files;
	size_t nfiles_buckets, nfiles;
	struct build_id vdso_id;
	long tick_ns; /* of /proc/PID/stat */
	const char *
		env_names; /* variables to read, as procread_env() takes them; NULL: none */
	struct proc **changed; /* whose code is not what it was when last taken */
	size_t nchanged, changed_cap;
	size_t names_bytes; /* that the names of code made at run time, and of scripts, take */
};

void procs_init(struct procs *ps);
void procs_release(struct procs *ps);

/* Apply a side-band record; they must come in order of time. */
void procs_record(struct procs *ps, const struct side_record *r);

/*
 * Read /proc for all processes: new ones are added, known ones brought up to date. What cannot be
 * read is left out.
 */
int procs_scan(struct procs *ps, struct err *e);

/* The process that a sample was taken in; made if it was unknown. */
struct proc *procs_of_sample(struct procs *ps, const struct sample_head *h);

/* What it had mapped then; NULL if nothing is known. */
struct space *proc_space(struct proc *p, uint64_t time_ns);
const struct image *proc_image(const struct proc *p, uint64_t time_ns);

/* The program that a sample is of by its name, which changes a moment before anyone is told. */
struct space *proc_named_space(struct proc *p, const struct sample_head *h);
struct space *proc_last_space(struct proc *p);

/* Hand out each process whose code mappings changed since the last call; or all of them. */
void procs_take_changed(struct procs *ps, void (*take)(void *ctx, struct proc *p),
			void *ctx);
void procs_each(struct procs *ps, void (*take)(void *ctx, struct proc *p), void *ctx);
struct vma *space_find(struct space *s, uint64_t addr, uint64_t time_ns);

/* The file's build id, read from the file if it came from /proc: n = 0 if it has none. */
const struct build_id *file_build_id(struct code_file *f, uint32_t tgid,
				     const struct vma *v);

/* Forget what no sample at or after `before_ns` can ask about. */
void procs_forget(struct procs *ps, uint64_t before_ns,
		  void (*gone)(void *ctx, uint32_t tgid), void *ctx);

/* Label sets are made anew: what they depend on has changed. */
void procs_forget_labels(struct procs *ps);

/* For procread.c: */
struct proc *procs_latest(struct procs *ps, uint32_t tgid);
struct proc *procs_add(struct procs *ps, uint32_t tgid, uint64_t born_ns);
void procs_changed(struct procs *ps, struct proc *p);
struct space *proc_new_image(struct procs *ps, struct proc *p, uint64_t from_ns);
struct space *proc_own_space(struct proc *p, struct procs *ps);
struct code_file *procs_file(struct procs *ps, const struct code_file *like,
			     const char *name);
void procs_file_put(struct procs *ps, struct code_file *f);
void space_add(struct procs *ps, struct space *s,
	       struct vma v); /* takes over v.file's ref */

/* For procs.c: */
struct space *space_new(void);
struct space *space_copy(const struct space *from);
void space_put(struct procs *ps, struct space *s);
