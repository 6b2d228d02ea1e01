/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc and the files mapped by a process tell. Any single failure means "not known": the
 * process may be gone, or not ours to read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bpf/event.h"

struct code_file;
struct proc;
struct procs;

/* Start time, code mappings and executable of p, as of now. False if the process is not there
 * or is not the one that p stands for. */
bool procread_proc(struct procs *ps, struct proc *p);

/* Open the file itself, through the mapping [start, end) or its path: -errno. */
int procread_open(const struct code_file *f, uint32_t tgid, uint64_t start, uint64_t end);

/* Fill in f->build_id from the file itself, through the mapping [start, end) or its path. */
void procread_build_id(struct code_file *f, uint32_t tgid, uint64_t start, uint64_t end);

/* Name of the first thread, and the parent, as of now. False if the process is not there. */
bool procread_identity(uint32_t tgid, char comm[EVENT_COMM_LEN], uint32_t *ppid);

/* A small file below /proc/PID, NUL-terminated: its length or -errno. */
int procread_file(uint32_t tgid, const char *name, char *out, size_t size);

/*
 * Of the environment that the process's program was started with, the variables in `names` (their
 * names, each NUL-terminated, an empty one at the end): "NAME=VALUE" strings in the same form,
 * allocated. NULL: it has ended, or the kernel is still starting the program.
 */
char *procread_env(uint32_t tgid, const char *names);

char *procread_env_copy(const char *env);

/* The value of a variable in what procread_env() gave (may be NULL); NULL if it is not there. */
const char *procread_env_value(const char *env, const char *name);

/* The process that thread tid belongs to; 0: not known. */
uint32_t procread_tgid(uint32_t tid);

/* The number that the process has for itself, in the innermost of its PID namespaces. */
uint32_t procread_inner_pid(uint32_t tgid);

/* Whose a process is, or was when somebody looked. */
struct proc_owner {
	bool is_known;
	uid_t uid;
};

/*
 * Open a regular file by its name in the process's root, or in ours when that is gone. -1: is not
 * there, or belongs to somebody else than the process's owner, or us if that is not known; root's
 * will do if everybody may read it.
 */
int procread_open_own(uint32_t tgid, const char *name, struct proc_owner *owner,
		      struct stat *st);

/* The name is that of a file, not of memory shared or made at run time. */
bool code_name_is_file(const char *name);
