/* SPDX-License-Identifier: Apache-2.0 */
/* The side that takes samples: which of the two it is. */
#include <unistd.h>

#include "tools/capture/backend.h"

uint64_t sampler_ring_bytes(uint64_t want_bytes)
{
	uint64_t n = sysconf(_SC_PAGESIZE);

	while (n < want_bytes)
		n <<= 1;
	return n;
}

int sampler_open(const struct sampler_conf *conf, struct sampler **out, struct err *e)
{
	return conf->threads ? perfsampler_open(conf, out, e)
			     : bpfsampler_open(conf, out, e);
}

void sampler_free(struct sampler *s)
{
	if (s)
		s->ops->free(s);
}

int sampler_start(struct sampler *s, uint64_t first_ns, uint64_t stop_ns, struct err *e)
{
	return s->ops->start(s, first_ns, stop_ns, e);
}

void sampler_drain(struct sampler *s,
		   void (*take)(void *ctx, const struct sample_event *ev, size_t size),
		   void *ctx)
{
	s->ops->drain(s, take, ctx);
}

void sampler_cut(struct sampler *s, uint64_t end_ns, struct tick_counts *out)
{
	s->ops->cut(s, end_ns, out);
}

uint64_t sampler_stop(struct sampler *s)
{
	return s->ops->stop(s);
}

int sampler_epoll(struct sampler *s, int epoll_fd, uint64_t data, struct err *e)
{
	return s->ops->epoll ? s->ops->epoll(s, epoll_fd, data, e) : 0;
}

bool sampler_hides_kernel(const struct sampler *s)
{
	return s->ops->hides_kernel && s->ops->hides_kernel(s);
}

/* --- what BPF alone can do ----------------------------------------------------------------- */

void sampler_want(struct sampler *s, uint32_t tgid)
{
	if (s->ops->want)
		s->ops->want(s, tgid);
}

uint32_t sampler_wants(const struct sampler *s, uint32_t tgid)
{
	return s->ops->wants ? s->ops->wants(s, tgid) : WANT_PID;
}

void sampler_decide(struct sampler *s, uint32_t tgid, const char *comm,
		    uint64_t cgroup_id, bool keep)
{
	if (s->ops->decide)
		s->ops->decide(s, tgid, comm, cgroup_id, keep);
}

void sampler_undecide(struct sampler *s, uint32_t tgid)
{
	if (s->ops->undecide)
		s->ops->undecide(s, tgid);
}

void sampler_decide_anew(struct sampler *s, bool inherits)
{
	if (s->ops->decide_anew)
		s->ops->decide_anew(s, inherits);
}

void sampler_forget(struct sampler *s, uint32_t tgid)
{
	if (s->ops->forget)
		s->ops->forget(s, tgid);
}

bool sampler_samples(const struct sampler *s, uint32_t tgid)
{
	return !s->ops->samples || s->ops->samples(s, tgid);
}

enum unwinder_form sampler_form(const struct sampler *s)
{
	return s->ops->form ? s->ops->form(s) : UNWINDER_AUTO;
}

uint32_t sampler_steps(const struct sampler *s)
{
	return s->ops->steps ? s->ops->steps(s) : 0;
}

void sampler_unwind_maps(const struct sampler *s, struct unwind_maps *out)
{
	if (s->ops->unwind_maps)
		s->ops->unwind_maps(s, out);
	else
		*out = (struct unwind_maps){-1, -1, -1, 0};
}

int sampler_open_events(struct sampler *s, struct events_conf *conf, struct events **out,
			struct err *e)
{
	return s->ops->open_events(s, conf, out, e);
}

void sampler_tell_python(const struct sampler *s, uint32_t tgid, uint64_t runtime)
{
	if (s->ops->tell_python)
		s->ops->tell_python(s, tgid, runtime);
}
