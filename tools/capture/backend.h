/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind sampler.h: each member is the function sampler_NAME() there. */
#pragma once

#include "tools/capture/sampler.h"

struct sampler_ops {
	void (*free)(struct sampler *s);
	int (*start)(struct sampler *s, uint64_t first_ns, uint64_t stop_ns,
		     struct err *e);
	void (*drain)(struct sampler *s,
		      void (*take)(void *ctx, const struct sample_event *ev, size_t size),
		      void *ctx);
	void (*cut)(struct sampler *s, uint64_t end_ns, struct tick_counts *out);
	uint64_t (*stop)(struct sampler *s);
	int (*epoll)(struct sampler *s, int epoll_fd, uint64_t data,
		     struct err *e);		       /* NULL: never */
	bool (*hides_kernel)(const struct sampler *s); /* NULL: does not */
	/* All of these are there, or none. */
	void (*want)(struct sampler *s, uint32_t tgid);
	uint32_t (*wants)(const struct sampler *s, uint32_t tgid);
	void (*decide)(struct sampler *s, uint32_t tgid, const char *comm,
		       uint64_t cgroup_id, bool keep);
	void (*undecide)(struct sampler *s, uint32_t tgid);
	void (*decide_anew)(struct sampler *s, bool inherits);
	void (*forget)(struct sampler *s, uint32_t tgid);
	bool (*samples)(const struct sampler *s, uint32_t tgid);
	enum unwinder_form (*form)(const struct sampler *s);
	uint32_t (*steps)(const struct sampler *s);
	void (*unwind_maps)(const struct sampler *s, struct unwind_maps *out);
	int (*open_events)(struct sampler *s, struct events_conf *conf,
			   struct events **out, struct err *e);
	void (*tell_python)(const struct sampler *s, uint32_t tgid, uint64_t runtime);
};

/* The first member of each kind. */
struct sampler {
	const struct sampler_ops *ops;
};

int bpfsampler_open(const struct sampler_conf *conf, struct sampler **out, struct err *e);
int perfsampler_open(const struct sampler_conf *conf, struct sampler **out,
		     struct err *e);
