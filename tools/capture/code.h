/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the BPF unwinder told of the code that processes run: asks for the tables of their files
 * at first sight, and says where each lies.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/ui/cli.h"
#include "tools/capture/procs.h"
#include "tools/capture/sampler.h"
#include "tools/capture/tablecache.h"
#include "tools/capture/tabler.h"
#include "tools/capture/tables.h"
#include "tools/capture/unwinder.h"

struct code_conf {
	const char *cache; /* directory; NULL: none */
	uint64_t cache_bytes;
	bool by_pid;	       /* only processes that are named */
	bool want_alloc;       /* where allocators are, too */
	const struct cli *cli; /* for notes */
};

struct code {
	struct code_conf conf;
	struct tabler tabler;
	struct unwinder unwinder;
	struct tables tables;
	struct tablecache *cache;
	struct procs *procs;
	const struct sampler *sampler;
	uint64_t known_ns; /* up to when procs knows everything */
	bool on, started;
	bool gone_said; /* that the child is gone */
	bool pythons;	/* the sampler was told of an interpreter, once */
};

/* Start the child; before anything that it is not to have is opened. */
int code_start(struct code *c, const struct code_conf *conf, struct err *e);

/* Once the programs are loaded. */
int code_open(struct code *c, struct procs *ps, const struct sampler *s, struct err *e);
void code_release(struct code *c);

/* Readable when there is something for code_update() to do; -1: never. */
int code_fd(const struct code *c);

/* Tell what changed; procs has all records up to known_ns. */
void code_update(struct code *c, uint64_t known_ns);

/* There are tables that were asked for and are not there yet. */
bool code_is_pending(const struct code *c);

/* Until all tables are there, but at most so long. */
void code_wait(struct code *c, uint64_t ns);

/* CPU time that we have used up to now, with the child. */
uint64_t code_cpu_ns(const struct code *c);

/* Sampling begins: from now on the sampler is not asked what it samples, as that disturbs it. */
void code_started(struct code *c);

/* The process is no more. */
void code_gone(struct code *c, uint32_t tgid);
