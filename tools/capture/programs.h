/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs: which form of the sampler this kernel takes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct cpu_bpf;
struct bpf_program;

enum unwinder_form {
	UNWINDER_AUTO, /* the first of the others that the kernel takes */
	UNWINDER_LOOP, /* tables, frames in a loop: bpf_loop(), Linux 5.17 */
	UNWINDER_TAIL, /* tables, frames in parts that call one another */
	UNWINDER_FP,   /* frame pointers, followed by the kernel */
};

struct programs_conf {
	enum unwinder_form form;
	bool by_pid, by_labels, inherits; /* as the sampler's */
	uint64_t period_ns, length_ns, ring_bytes;
	uint32_t ncpus; /* possible ones */
};

struct programs {
	struct programs_conf conf;
	struct cpu_bpf *skel;
	struct bpf_program *sampler;
	enum unwinder_form form;
	uint32_t steps; /* that the verifier took for its largest program; 0: not known */
	uint32_t nmappings;
};

extern const char
	*const unwinder_form_names[]; /* by enum unwinder_form, NULL at the end */

/* How many CPUs there may be. To be called first: it makes libbpf print nothing by itself. */
int programs_possible_cpus(struct err *e);

/* Load the programs. What the kernel refused on the way is not an error, if any form loads. */
int programs_load(const struct programs_conf *conf, struct programs *out, struct err *e);
