/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the BPF unwinder told of the code that processes run. */
#include "tools/capture/code.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "tools/capture/clock.h"

#define WAIT_STEP_MS 20

/* What a file's nature is needs no word, nor that it is gone; that something is wrong does. */
static void tell_refusal(void *ctx, const struct table *t)
{
	struct code *c = ctx;
	bool gone = t->status == -EPIPE, again = gone && c->gone_said;

	/* every file that comes after that: one word is enough */
	c->gone_said |= gone;
	if (again || table_is_plain(t) || t->status == -ENOENT)
		cli_info(c->conf.cli, "no unwind table: %s: %s", t->like.name, t->why);
	else
		cli_note(c->conf.cli, "no unwind table: %s: %s", t->like.name, t->why);
}

uint64_t code_cpu_ns(const struct code *c)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + c->tables.cpu_ns;
}

int code_start(struct code *c, const struct code_conf *conf, struct err *e)
{
	c->conf = *conf;
	c->tabler.fd = -1;
	return tabler_start(&c->tabler, e);
}

int code_open(struct code *c, struct procs *ps, const struct sampler *s, struct err *e)
{
	struct unwind_maps maps;
	int r;

	c->procs = ps;
	c->sampler = s;
	if (sampler_form(s) == UNWINDER_FP) {
		tabler_stop(&c->tabler);
		return 0;
	}
	sampler_unwind_maps(s, &maps);
	r = unwinder_init(&c->unwinder, &maps, e);
	if (r >= 0 && c->conf.cache)
		r = tablecache_new(c->conf.cache, c->conf.cache_bytes, &c->cache, e);
	if (r < 0)
		return r;
	if (c->cache && !tablecache_is_writable(c->cache))
		cli_note(c->conf.cli, "--cache: %s: %s: no new tables are kept",
			 c->conf.cache, strerror(errno));
	tables_init(&c->tables, &c->tabler, &c->unwinder, c->cache);
	c->tables.want_alloc = c->conf.want_alloc;
	c->tables.tell = tell_refusal;
	c->tables.tell_ctx = c;
	c->on = true;
	return 0;
}

void code_release(struct code *c)
{
	tabler_stop(&c->tabler);
	if (c->on)
		tables_release(&c->tables);
	tablecache_free(c->cache);
	unwinder_release(&c->unwinder);
}

int code_fd(const struct code *c)
{
	return c->tabler.fd;
}

/* Where the frames of its interpreter are found, if it is one. */
static void tell_python(struct code *c, struct proc *p)
{
	struct space *s = proc_last_space(p);
	uint64_t runtime = 0;
	uint32_t pc;
	size_t i;

	for (i = 0; s && i < s->nlive && !runtime; i++) {
		const struct live *l = &s->live[i];
		const struct table *t = l->file ? l->file->table : NULL;

		if (t && t->python.version &&
		    table_pc(t, l->offset, l->end - l->start, &pc))
			runtime = l->start - pc + t->python.runtime;
	}
	c->pythons |= runtime != 0;
	if (runtime != p->python_runtime)
		sampler_tell_python(c->sampler, p->tgid, runtime);
	p->python_runtime = runtime;
}

static void tell(struct code *c, struct proc *p)
{
	tell_python(c, p);
	unwinder_tell(&c->unwinder, p, c->known_ns);
}

static void on_changed(void *ctx, struct proc *p)
{
	struct space *s = proc_last_space(p);
	struct code *c = ctx;
	struct live *l;
	size_t i;

	if (!c->on || p->kernel_thread || !s || (c->conf.by_pid && !p->is_named) ||
	    (!c->started && !sampler_samples(c->sampler, p->tgid)))
		return;
	for (i = 0; i < s->nlive; i++) {
		l = &s->live[i];
		if (l->file)
			tables_ask(&c->tables, l->file, p->tgid, l->start, l->end);
	}
	tell(c, p);
}

/* A process whose files had no table yet, or that shares an address space with one. */
static void on_tables(void *ctx, struct proc *p)
{
	struct space *s = proc_last_space(p);
	const struct code *c = ctx;

	if (p->is_told && s &&
	    (s->npending || (s->nmissed && c->tables.revived) || !s->run ||
	     s->run->first != p->told_first))
		tell(ctx, p);
}

static void tell_tables(struct code *c)
{
	procs_each(c->procs, on_tables, c);
	c->tables.revived = false;
}

void code_update(struct code *c, uint64_t known_ns)
{
	c->known_ns = known_ns;
	procs_take_changed(c->procs, on_changed, c);
	if (!c->on)
		return;
	if (tables_poll(&c->tables))
		tell_tables(c);
	tables_trim(&c->tables, known_ns);
}

bool code_is_pending(const struct code *c)
{
	return c->on && tables_pending(&c->tables);
}

void code_started(struct code *c)
{
	c->started = true;
}

void code_wait(struct code *c, uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns;
	struct pollfd pfd;

	while (c->on && tables_pending(&c->tables) && monotonic_ns() < end) {
		pfd = (struct pollfd){.fd = code_fd(c), .events = POLLIN};
		poll(&pfd, 1, WAIT_STEP_MS);
		tables_poll(&c->tables);
	}
	if (c->on)
		tell_tables(c);
}

void code_gone(struct code *c, uint32_t tgid)
{
	if (!c->on)
		return;
	unwinder_forget(&c->unwinder, tgid);
	if (c->pythons)
		sampler_tell_python(c->sampler, tgid, 0);
}
