/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the code that a process makes while it runs. */
#include "tools/capture/jit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/xalloc.h"
#include "lib/sym/jitmap.h"
#include "tools/capture/clock.h"
#include "tools/capture/procread.h"

#define LOOK_AGAIN_NS (NS_PER_S / 10) /* at files that may have grown */
#define PIECE_BYTES (1 << 20)	      /* read at a time; no line is that long */
#define RECORD_MAX_BYTES (16 << 20)   /* of a jitdump, which holds code */
#define LOOK_BYTES (64 << 20)	     /* at most in one look: sampling goes on meanwhile */
#define SOURCE_MAX_BYTES (512 << 20) /* of one file: whoever writes it may mean us harm */
#define DUMPS_MAX 4

struct source {
	char *name; /* in the process's root */
	bool dump;
	int fd; /* -1: not found yet */
	ino_t inode;
	off_t done;	/* bytes that were taken */
	bool broken;	/* nothing more can be read from it */
	size_t counted; /* bytes of memory that its map has */
	struct jitmap map;
};

struct jit {
	struct source sources[1 + DUMPS_MAX]; /* the perf map first */
	size_t n;
	uint64_t looked_ns;
	struct proc_owner owner;
	size_t *all_bytes; /* of the names of all processes */
	bool nested;	   /* it has another number for itself */
};

static void add_source(struct jit *j, char *name, bool dump)
{
	j->sources[j->n] = (struct source){.name = name, .dump = dump, .fd = -1};
	jitmap_init(&j->sources[j->n++].map);
}

static struct jit *jit_new(uint32_t tgid, size_t *all_bytes)
{
	struct jit *j = xcalloc(1, sizeof(*j));
	uint32_t inner = procread_inner_pid(tgid);

	j->nested = inner != tgid;
	j->all_bytes = all_bytes;
	add_source(j, xasprintf("/tmp/perf-%u.map", inner), false);
	return j;
}

void jit_free(struct jit *j)
{
	size_t i;

	if (!j)
		return;
	for (i = 0; i < j->n; i++) {
		free(j->sources[i].name);
		if (j->sources[i].fd >= 0)
			close(j->sources[i].fd);
		jitmap_release(&j->sources[i].map);
		*j->all_bytes -= j->sources[i].counted;
	}
	free(j);
}

/* A runtime maps its jitdump as code, so that we are told of it: ".../jit-PID.dump". */
static bool is_dump(const char *name)
{
	const char *base = strrchr(name, '/');
	size_t n;

	if (!base || strncmp(base, "/jit-", 5))
		return false;
	n = strspn(base + 5, "0123456789");
	return n && !strcmp(base + 5 + n, ".dump");
}

static void find_dumps(struct jit *j, const struct space *s)
{
	const char *name;
	size_t i, k;

	for (i = 0; s && i < s->n && j->n <= DUMPS_MAX; i++) {
		name = s->vmas[i].file ? s->vmas[i].file->name : "";
		if (!is_dump(name))
			continue;
		for (k = 0; k < j->n && strcmp(j->sources[k].name, name); k++)
			;
		if (k == j->n)
			add_source(j, xstrdup(name), true);
	}
}

/* What was read is void: the file was written anew, or another took its place. */
static void start_over(struct jit *j, struct source *src)
{
	*j->all_bytes -= src->counted;
	src->counted = 0;
	jitmap_release(&src->map);
	jitmap_init(&src->map);
	src->done = 0;
	src->broken = false;
}

/* Open it, or see whether it still is the one that is open. False: there is none. */
static bool look_for(struct jit *j, struct source *src, uint32_t tgid)
{
	struct stat st;
	int fd = procread_open_own(tgid, src->name, &j->owner, &st);

	if (fd < 0)
		return src->fd >= 0; /* the process may be gone; what is open stays */
	if (src->fd >= 0 && st.st_ino == src->inode) {
		close(fd);
		if (st.st_size < src->done)
			start_over(j, src);
		return true;
	}
	if (src->fd >= 0) {
		close(src->fd);
		start_over(j, src);
	}
	src->fd = fd;
	src->inode = st.st_ino;
	return true;
}

static int64_t take(struct source *src, const void *p, size_t n)
{
	struct err e;

	return src->dump ? jitmap_feed_dump(&src->map, p, n, &e)
			 : (int64_t)jitmap_feed_text(&src->map, p, n);
}

static void count_memory(struct jit *j, struct source *src)
{
	size_t n = jitmap_bytes(&src->map);

	*j->all_bytes += n - src->counted;
	src->counted = n;
}

static void read_on(struct jit *j, struct source *src)
{
	size_t size = PIECE_BYTES, max = src->dump ? RECORD_MAX_BYTES : PIECE_BYTES;
	off_t until = src->done + LOOK_BYTES;
	char *piece = xmalloc(size);
	int64_t used;
	ssize_t n;

	while (src->done < until) {
		n = pread(src->fd, piece, size, src->done);
		if (n <= 0)
			break;
		used = take(src, piece, n);
		if (used < 0) {
			src->broken = true;
			break;
		}
		src->done += used;
		count_memory(j, src);
		if (!used && (size_t)n < size)
			break; /* the rest is still to be written */
		if ((!used && size >= max) || src->map.full ||
		    *j->all_bytes >= NAMES_MAX_BYTES || src->done >= SOURCE_MAX_BYTES) {
			src->broken = true;
			break;
		}
		if (!used) {
			size *= 2;
			piece = xrealloc(piece, size);
		}
	}
	free(piece);
}

static void look_again(struct jit *j, const struct proc *p, const struct space *s)
{
	size_t i;

	j->looked_ns = monotonic_ns();
	/* once it is gone we see our own root, where that number is somebody else's */
	if (j->nested && procread_inner_pid(p->tgid) == p->tgid)
		return;
	find_dumps(j, s);
	for (i = 0; i < j->n; i++) {
		struct source *src = &j->sources[i];

		if (look_for(j, src, p->tgid) && !src->broken)
			read_on(j, src);
	}
}

static bool find(struct jit *j, uint64_t addr, uint64_t time_ns, struct jit_frame *out)
{
	const struct jit_code *c;
	const struct jit_line *l;
	size_t i;

	for (i = 0; i < j->n; i++) {
		c = jitmap_find(&j->sources[i].map, addr, time_ns);
		if (!c)
			continue;
		l = jitmap_line(&j->sources[i].map, c, addr);
		*out = (struct jit_frame){
			.name = c->name,
			.file = l ? l->file : c->file,
			.start_line = c->start_line,
			.line = l ? l->line : 0,
		};
		return true;
	}
	return false;
}

bool jit_find(struct proc *p, const struct space *s, uint64_t addr, uint64_t time_ns,
	      uint64_t since_ns, size_t *all_bytes, struct jit_frame *out)
{
	if (!p->jit)
		p->jit = jit_new(p->tgid, all_bytes);
	if (find(p->jit, addr, time_ns, out))
		return true;
	if (p->jit->looked_ns >= since_ns &&
	    monotonic_ns() - p->jit->looked_ns < LOOK_AGAIN_NS)
		return false;
	look_again(p->jit, p, s);
	return find(p->jit, addr, time_ns, out);
}

bool jit_is_code(const struct vma *v)
{
	return !v->file || is_dump(v->file->name);
}

bool jit_is_told(const struct proc *p)
{
	size_t i;

	for (i = 0; p->jit && i < p->jit->n; i++) {
		if (p->jit->sources[i].fd >= 0)
			return true;
	}
	return false;
}
