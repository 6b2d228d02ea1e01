/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs: which form of the sampler this kernel takes. */
#include "tools/capture/programs.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cpu.skel.h"
#include "tools/capture/privilege.h"

#define MAPPINGS (1 << 17) /* of all processes: 4 MiB */

const char *const unwinder_form_names[] = {"auto", "loop", "tail", "fp", NULL};

static int quiet_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static void choose_programs(struct cpu_bpf *skel, const struct programs_conf *conf,
			    enum unwinder_form form, struct programs *out)
{
	struct bpf_program *tail = skel->progs.sample_tail;

	bpf_program__set_autoload(skel->progs.on_fork, conf->by_pid || conf->by_labels);
	bpf_program__set_autoload(skel->progs.change_want,
				  conf->by_pid || conf->by_labels);
	bpf_program__set_autoload(skel->progs.change_python, form != UNWINDER_FP);
	bpf_program__set_autoload(skel->progs.sample_loop, form == UNWINDER_LOOP);
	bpf_program__set_autoload(tail, form == UNWINDER_TAIL);
	bpf_program__set_autoload(skel->progs.sample_part, form == UNWINDER_TAIL);
	bpf_program__set_autoload(skel->progs.sample_fp, form == UNWINDER_FP);
	out->sampler = form == UNWINDER_LOOP   ? skel->progs.sample_loop
		       : form == UNWINDER_TAIL ? tail
					       : skel->progs.sample_fp;
}

static void size_maps(struct cpu_bpf *skel, const struct programs_conf *conf,
		      enum unwinder_form form, struct programs *out)
{
	bpf_map__set_max_entries(skel->maps.counts, conf->ncpus);
	bpf_map__set_max_entries(skel->maps.ring, conf->ring_bytes);
	if (!conf->by_pid && !conf->by_labels)
		bpf_map__set_max_entries(skel->maps.want, 1);
	out->nmappings = form == UNWINDER_FP ? 0 : MAPPINGS;
	if (out->nmappings) {
		bpf_map__set_max_entries(skel->maps.mappings, out->nmappings);
	} else {
		bpf_map__set_max_entries(skel->maps.procs, 1);
		bpf_map__set_max_entries(skel->maps.copied, 1);
	}
}

/* The largest of those that sample. */
static uint32_t verifier_steps(const struct cpu_bpf *skel)
{
	struct bpf_program *p;
	uint32_t most = 0;

	bpf_object__for_each_program(p, skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		if (bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size) &&
		    info.verified_insns > most)
			most = info.verified_insns;
	}
	return most;
}

static int connect_parts(struct cpu_bpf *skel)
{
	int fd = bpf_program__fd(skel->progs.sample_part);
	uint32_t zero = 0;

	return bpf_map_update_elem(bpf_map__fd(skel->maps.parts), &zero, &fd, BPF_ANY);
}

/* 0, or negative errno as the kernel gives it. */
static int try_form(const struct programs_conf *conf, enum unwinder_form form,
		    struct programs *out)
{
	struct cpu_bpf *skel = cpu_bpf__open();
	int r;

	if (!skel)
		return -errno;
	skel->rodata->by_pid = conf->by_pid;
	skel->rodata->by_labels = conf->by_labels;
	skel->bss->inherits = conf->inherits;
	skel->rodata->period_ns = conf->period_ns;
	skel->rodata->length_ns = conf->length_ns;
	choose_programs(skel, conf, form, out);
	size_maps(skel, conf, form, out);
	r = cpu_bpf__load(skel);
	if (r >= 0 && form == UNWINDER_TAIL)
		r = connect_parts(skel);
	if (r < 0) {
		cpu_bpf__destroy(skel);
		return r;
	}
	out->skel = skel;
	out->form = form;
	out->steps = verifier_steps(skel);
	return 0;
}

int programs_possible_cpus(struct err *e)
{
	int n;

	libbpf_set_print(quiet_libbpf);
	n = libbpf_num_possible_cpus();
	return n < 0 ? err_errno(e, -n, "cannot count the CPUs") : n;
}

int programs_load(const struct programs_conf *conf, struct programs *out, struct err *e)
{
	enum unwinder_form form = conf->form, last = form;
	int r;

	*out = (struct programs){.conf = *conf};
	if (form == UNWINDER_AUTO) {
		form = UNWINDER_LOOP;
		last = UNWINDER_FP;
	}
	do {
		r = try_form(conf, form, out);
	} while (r < 0 && form++ < last);
	return r < 0 ? privilege_explain_load(-r, e) : 0;
}
