/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that is captured. */
#pragma once

#include <stddef.h>

#include "lib/base/err.h"

struct host {
	char *name, *kernel_release, *cpu_model;
	int *cpus; /* numbers of those online */
	size_t ncpus, cpus_cap;
	unsigned int max_stack; /* frames that the kernel follows */
};

int host_init(struct host *h, struct err *e);
void host_release(struct host *h);
