/* SPDX-License-Identifier: Apache-2.0 */
/* Which process had which code mapped where, at any time that a sample may still ask about. */
#include "tools/capture/procs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/jit.h"
#include "tools/capture/procread.h"
#include "tools/capture/python.h"
#include "tools/capture/tables.h"

#define VDSO_MAX_BYTES 8192 /* at least this much of it is mapped: two pages */

void procs_init(struct procs *ps)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	*ps = (struct procs){.nbuckets = 4096, .nfiles_buckets = 4096};
	ps->buckets = xcalloc(ps->nbuckets, sizeof(*ps->buckets));
	ps->files = xcalloc(ps->nfiles_buckets, sizeof(*ps->files));
	ps->tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	/* one image for all processes of our kind: ours */
	if (vdso)
		build_id_from_image(vdso, VDSO_MAX_BYTES, &ps->vdso_id);
}

/* --- files --------------------------------------------------------------------------------- */

static uint64_t file_hash(const struct code_file *like, const char *name)
{
	uint64_t h = hash_bytes(name, strlen(name));

	h = hash_u64(h, (uint64_t)like->major << 32 | like->minor);
	h = hash_u64(h, like->inode);
	return hash_u64(h, hash_bytes(like->build_id.data, like->build_id.n));
}

static bool same_build_id(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && !memcmp(a->data, b->data, a->n);
}

struct code_file *procs_file(struct procs *ps, const struct code_file *like,
			     const char *name)
{
	uint64_t h = file_hash(like, name);
	struct code_file **at = &ps->files[h & (ps->nfiles_buckets - 1)], *f;

	for (f = *at; f; f = f->next) {
		if (f->hash == h && f->inode == like->inode && !strcmp(f->name, name) &&
		    (like->inode || same_build_id(&f->build_id, &like->build_id))) {
			f->refs++;
			return f;
		}
	}
	f = xmalloc(sizeof(*f));
	*f = *like;
	f->name = xstrdup(name);
	f->hash = h;
	f->refs = 1;
	f->next = *at;
	*at = f;
	ps->nfiles++;
	return f;
}

void procs_file_put(struct procs *ps, struct code_file *f)
{
	struct code_file **at;

	if (!f || --f->refs)
		return;
	for (at = &ps->files[f->hash & (ps->nfiles_buckets - 1)]; *at != f;
	     at = &(*at)->next)
		;
	*at = f->next;
	ps->nfiles--;
	if (f->table)
		table_put(f->table);
	free(f->name);
	free(f);
}

const struct build_id *file_build_id(struct code_file *f, uint32_t tgid,
				     const struct vma *v)
{
	if (!f->id_known) {
		f->id_known = true;
		procread_build_id(f, tgid, v ? v->start : 0, v ? v->end : 0);
	}
	return &f->build_id;
}

/* --- processes ----------------------------------------------------------------------------- */

static struct proc **bucket(struct procs *ps, uint32_t tgid)
{
	return &ps->buckets[tgid & (ps->nbuckets - 1)];
}

/* New ones go in front, so the first of a number is the latest. */
struct proc *procs_latest(struct procs *ps, uint32_t tgid)
{
	struct proc *p;

	for (p = *bucket(ps, tgid); p && p->tgid != tgid; p = p->next)
		;
	return p;
}

struct proc *procs_add(struct procs *ps, uint32_t tgid, uint64_t born_ns)
{
	struct proc *p = procs_latest(ps, tgid), **at = bucket(ps, tgid);

	if (p && p->closed_ns > born_ns)
		p->closed_ns = born_ns;
	p = xcalloc(1, sizeof(*p));
	p->tgid = tgid;
	p->born_ns = born_ns;
	p->closed_ns = UINT64_MAX;
	p->next = *at;
	*at = p;
	ps->n++;
	return p;
}

void procs_changed(struct procs *ps, struct proc *p)
{
	if (p->is_changed)
		return;
	p->is_changed = true;
	XGROW(ps->changed, ps->nchanged, ps->changed_cap);
	ps->changed[ps->nchanged++] = p;
}

void procs_take_changed(struct procs *ps, void (*take)(void *ctx, struct proc *p),
			void *ctx)
{
	size_t i;

	for (i = 0; i < ps->nchanged; i++) {
		ps->changed[i]->is_changed = false;
		take(ctx, ps->changed[i]);
	}
	ps->nchanged = 0;
}

void procs_each(struct procs *ps, void (*take)(void *ctx, struct proc *p), void *ctx)
{
	struct proc *p;
	size_t i;

	for (i = 0; i < ps->nbuckets; i++) {
		for (p = ps->buckets[i]; p; p = p->next)
			take(ctx, p);
	}
}

static void proc_free(struct procs *ps, struct proc *p)
{
	size_t i;

	for (i = 0; i < p->nimages; i++)
		space_put(ps, p->images[i].space);
	free(p->images);
	free(p->told_cgroup);
	jit_free(p->jit);
	python_free(p->python);
	free(p);
	ps->n--;
}

void procs_release(struct procs *ps)
{
	struct proc *p, *next;
	size_t i;

	for (i = 0; i < ps->nbuckets; i++) {
		for (p = ps->buckets[i]; p; p = next) {
			next = p->next;
			proc_free(ps, p);
		}
	}
	free(ps->buckets);
	free(ps->files);
	free(ps->changed);
	*ps = (struct procs){0};
}

static void push_image(struct procs *ps, struct proc *p, struct space *s,
		       uint64_t from_ns)
{
	if (p->nimages)
		p->images[p->nimages - 1].until_ns = from_ns;
	XGROW(p->images, p->nimages, p->images_cap);
	p->images[p->nimages++] = (struct image){
		.from_ns = from_ns,
		.until_ns = UINT64_MAX,
		.space = s,
	};
	/* what was remembered of the one before */
	jit_free(p->jit);
	p->jit = NULL;
	python_free(p->python);
	p->python = NULL;
	p->labels.epoch = 0;
	procs_changed(ps, p);
}

struct space *proc_new_image(struct procs *ps, struct proc *p, uint64_t from_ns)
{
	struct space *s = space_new();

	push_image(ps, p, s, from_ns);
	return s;
}

/* The latest space, its own to change. */
struct space *proc_own_space(struct proc *p, struct procs *ps)
{
	struct image *im;
	struct space *s;

	if (!p->nimages)
		return proc_new_image(ps, p, p->born_ns);
	im = &p->images[p->nimages - 1];
	if (im->space->refs > 1) {
		s = space_copy(im->space);
		space_put(ps, im->space);
		im->space = s;
	}
	return im->space;
}

struct space *proc_last_space(struct proc *p)
{
	return p->nimages ? p->images[p->nimages - 1].space : NULL;
}

const struct image *proc_image(const struct proc *p, uint64_t time_ns)
{
	size_t i;

	for (i = p->nimages; i-- > 0;) {
		if (time_ns >= p->images[i].from_ns)
			return &p->images[i];
	}
	/* older than the first we know: nothing better than that */
	return p->nimages ? p->images : NULL;
}

struct space *proc_space(struct proc *p, uint64_t time_ns)
{
	const struct image *im = proc_image(p, time_ns);

	return im ? im->space : NULL;
}

struct space *proc_named_space(struct proc *p, const struct sample_head *h)
{
	const struct image *im = proc_image(p, h->ktime), *next = im + 1;

	if (!im)
		return NULL;
	if (h->flags & EVENT_IN_EXEC && next < p->images + p->nimages &&
	    strncmp(im->comm, h->leader_comm, EVENT_COMM_LEN) != 0 &&
	    !strncmp(next->comm, h->leader_comm, EVENT_COMM_LEN))
		return next->space;
	return im->space;
}

/* --- side band ----------------------------------------------------------------------------- */

static void on_fork(struct procs *ps, const struct side_record *r)
{
	struct proc *p = procs_latest(ps, r->tgid), *parent;

	if (r->tgid == r->parent_tgid || (p && p->scan_ns >= r->time_ns))
		return;
	p = procs_add(ps, r->tgid, r->time_ns);
	parent = procs_latest(ps, r->parent_tgid);
	if (!parent)
		return;
	p->kernel_thread = parent->kernel_thread;
	p->is_named = parent->is_named;
	if (parent->nimages) {
		struct space *s = parent->images[parent->nimages - 1].space;

		s->refs++;
		push_image(ps, p, s, r->time_ns);
	}
	if (parent->told_cgroup)
		p->told_cgroup = xstrdup(parent->told_cgroup);
}

/* The process a record is about; one that nobody told us of is read now. */
static struct proc *proc_of_record(struct procs *ps, const struct side_record *r)
{
	struct proc *p = procs_latest(ps, r->tgid);

	if (!p) {
		p = procs_add(ps, r->tgid, 0);
		procread_proc(ps, p);
	}
	return p;
}

static void on_exec(struct procs *ps, const struct side_record *r)
{
	struct proc *p = proc_of_record(ps, r);
	const char *before;
	struct space *s;

	if (p->scan_ns >= r->time_ns)
		return;
	p->kernel_thread = false;
	p->told_read =
		false; /* a container's first program is moved to its place before */
	before = p->nimages ? p->images[p->nimages - 1].space->env : NULL;
	s = proc_new_image(ps, p, r->time_ns);
	s->exe_next = true;
	snprintf(p->images[p->nimages - 1].comm, EVENT_COMM_LEN, "%s", r->name);
	/* who was gone before we looked most likely kept what it had */
	if (ps->env_names) {
		s->env = procread_env_copy(r->env ? r->env : before);
		s->env_guessed = !r->env;
	}
}

static void strip_deleted(char *name)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(name), dn = sizeof(deleted) - 1;

	if (n > dn && !strcmp(name + n - dn, deleted))
		name[n - dn] = 0;
}

bool code_name_is_file(const char *name)
{
	return *name == '/' && strncmp(name, "//", 2) && strncmp(name, "/memfd:", 7) &&
	       strncmp(name, "/SYSV", 5) && strcmp(name, "/dev/zero");
}

static void on_mmap(struct procs *ps, const struct side_record *r)
{
	struct code_file like = {.id_known = true};
	struct proc *p = proc_of_record(ps, r);
	struct code_file *f = NULL;
	struct space *s;

	if (p->scan_ns >= r->time_ns)
		return;
	s = proc_own_space(p, ps);
	strip_deleted(r->name);
	if (code_name_is_file(r->name)) {
		like.build_id = r->build_id;
		if (!r->build_id.n) {
			like.id_known = false;
			like.major = r->major;
			like.minor = r->minor;
			like.inode = r->inode;
		}
		f = procs_file(ps, &like, r->name);
	} else if (!strcmp(r->name, "[vdso]")) {
		like.build_id = ps->vdso_id;
		f = procs_file(ps, &like, r->name);
	}
	if (s->exe_next && f && *f->name == '/') {
		s->exe_next = false;
		s->exe = f;
		f->refs++;
	}
	space_add(ps, s,
		  (struct vma){
			  .start = r->start,
			  .end = r->start + r->len < r->start ? UINT64_MAX
							      : r->start + r->len,
			  .offset = r->offset,
			  .from_ns = r->time_ns,
			  .file = f,
		  });
	procs_changed(ps, p);
}

void procs_record(struct procs *ps, const struct side_record *r)
{
	struct proc *p;

	switch (r->kind) {
	case SIDE_FORK:
		on_fork(ps, r);
		break;
	case SIDE_COMM:
		if (r->exec)
			on_exec(ps, r);
		break;
	case SIDE_MMAP:
		on_mmap(ps, r);
		break;
	case SIDE_EXIT:
		p = procs_latest(ps, r->tgid);
		if (p && p->born_ns <= r->time_ns)
			p->exit_ns = r->time_ns;
		break;
	case SIDE_CODE:
		break;
	}
}

/* --- samples ------------------------------------------------------------------------------- */

/* True unless the start times that we know of say that this is another process. */
static bool is_same_start(const struct procs *ps, const struct proc *p,
			  uint64_t start_boottime)
{
	if (!start_boottime) /* perf events do not say */
		return true;
	if (p->start_boottime)
		return p->start_boottime == start_boottime;
	return !p->start_ticks || p->start_ticks == start_boottime / ps->tick_ns;
}

/* When a task that started at this CLOCK_BOOTTIME was born on our clock, at most limit_ns. */
static uint64_t birth_ns(uint64_t start_boottime, uint64_t limit_ns)
{
	uint64_t asleep = clock_ns(CLOCK_BOOTTIME) - monotonic_ns();
	uint64_t born = start_boottime - asleep;

	return born < limit_ns ? born : limit_ns;
}

struct proc *procs_of_sample(struct procs *ps, const struct sample_head *h)
{
	struct proc *p;

	for (p = *bucket(ps, h->tgid); p; p = p->next) {
		if (p->tgid == h->tgid && p->born_ns <= h->ktime &&
		    is_same_start(ps, p, h->start_boottime))
			break;
	}
	if (!p) {
		/* a record was lost, or the process could not be read when we looked */
		p = procs_add(ps, h->tgid,
			      h->start_boottime ? birth_ns(h->start_boottime, h->ktime)
						: h->ktime);
		p->start_ticks = h->start_boottime / ps->tick_ns;
		/* so may the record of its end; procs_forget() looks whether it is there */
		p->exit_ns = h->ktime;
		if (!(h->flags & EVENT_NO_USER))
			procread_proc(ps, p);
	}
	p->start_boottime = h->start_boottime;
	return p;
}

/* --- forgetting ---------------------------------------------------------------------------- */

void procs_forget_labels(struct procs *ps)
{
	struct proc *p;
	size_t i;

	for (i = 0; i < ps->nbuckets; i++) {
		for (p = ps->buckets[i]; p; p = p->next)
			p->labels.epoch = 0;
	}
}

static void forget_images(struct procs *ps, struct proc *p, uint64_t before_ns)
{
	size_t i = 0, n;

	while (i + 1 < p->nimages && p->images[i].until_ns < before_ns)
		space_put(ps, p->images[i++].space);
	if (!i)
		return;
	n = p->nimages -= i;
	p->labels.epoch = 0; /* may point to a space that is no more */
	memmove(p->images, p->images + i, n * sizeof(*p->images));
}

void procs_forget(struct procs *ps, uint64_t before_ns,
		  void (*gone)(void *ctx, uint32_t tgid), void *ctx)
{
	struct proc **at, *p;
	uint32_t tgid;
	size_t i;

	for (i = 0; i < ps->nbuckets; i++) {
		for (at = &ps->buckets[i]; (p = *at);) {
			if (p->is_changed) {
				at = &p->next;
				continue;
			}
			/* the last thread's end is the process's, once no number is left */
			if (p->exit_ns && p->exit_ns < before_ns &&
			    p->closed_ns == UINT64_MAX && kill(p->tgid, 0) < 0 &&
			    errno == ESRCH)
				p->closed_ns = p->exit_ns;
			forget_images(ps, p, before_ns);
			if (p->closed_ns >= before_ns) {
				at = &p->next;
				continue;
			}
			*at = p->next;
			tgid = p->tgid;
			proc_free(ps, p);
			if (!procs_latest(ps, tgid))
				gone(ctx, tgid);
		}
	}
}
