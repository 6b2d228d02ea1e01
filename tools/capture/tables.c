/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind tables of all files that are mapped as code. */
#include "tools/capture/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "tools/capture/clock.h"
#include "tools/capture/procread.h"

#define IN_FLIGHT_MAX 8 /* files that the tabler has, or that lie before it */
#define UNUSED_NS                                                                        \
	(60 * NS_PER_S)		 /* a program that runs again and again keeps its table */
#define RETRY_NS (NS_PER_S / 10) /* between two tries to open a file */
#define PYTHON_KNOWN 0x030b	 /* the version whose frames the BPF program reads */
#define VDSO_BYTES 8192		 /* at least this much of it is mapped: two pages */

void tables_init(struct tables *ts, struct tabler *tabler, struct unwinder *u,
		 struct tablecache *cache)
{
	*ts = (struct tables){
		.tabler = tabler,
		.unwinder = u,
		.cache = cache,
		.nbuckets = 4096,
	};
	ts->buckets = xcalloc(ts->nbuckets, sizeof(*ts->buckets));
	ts->waiting_end = &ts->waiting;
}

static void give_rows(struct table *t)
{
	if (t->view.nrows)
		unwinder_give_rows(t->owner->unwinder, t->first, t->view.nrows);
	t->view.nrows = 0;
}

static bool take_rows(struct table *t, uint32_t n)
{
	struct unwinder *u = t->owner->unwinder;

	if (!unwinder_take_rows(u, n, &t->first))
		return false;
	t->view.rows = u->rows + t->first;
	t->view.nrows = n;
	return true;
}

static void table_free(struct table *t)
{
	struct tables *ts = t->owner;

	give_rows(t);
	ts->n--;
	free(t->like.name);
	free(t->alloc);
	free(t->why);
	free(t);
}

void tables_release(struct tables *ts)
{
	struct table *t, *next;
	size_t i;

	for (i = 0; i < ts->nbuckets; i++) {
		for (t = ts->buckets[i]; t; t = next) {
			next = t->next;
			table_free(t);
		}
	}
	free(ts->buckets);
	free(ts->sent);
	*ts = (struct tables){0};
}

void table_put(struct table *t)
{
	if (!--t->refs)
		t->unused_ns = monotonic_ns();
}

void tables_trim(struct tables *ts, uint64_t now_ns)
{
	struct table **at, *t;
	size_t i;

	for (i = 0; i < ts->nbuckets; i++) {
		for (at = &ts->buckets[i]; (t = *at);) {
			if (t->refs || t->kind == UNWIND_PENDING ||
			    now_ns < t->unused_ns + UNUSED_NS) {
				at = &t->next;
				continue;
			}
			*at = t->next;
			table_free(t);
		}
	}
}

/* A file that is what it is: of another kind, or made without unwind information. */
bool table_is_plain(const struct table *t)
{
	return t->status == -ENODATA || t->status == -ENOEXEC || t->status == -ENOTSUP;
}

void tables_each_refused(const struct tables *ts,
			 void (*take)(void *ctx, const struct table *t), void *ctx)
{
	const struct table *t;
	size_t i;

	for (i = 0; i < ts->nbuckets; i++) {
		for (t = ts->buckets[i]; t; t = t->next) {
			if (t->why && !table_is_plain(t))
				take(ctx, t);
		}
	}
}

/* --- results ------------------------------------------------------------------------------- */

static void decide(struct table *t, enum unwind_kind kind)
{
	t->kind = kind;
	t->owner->nchanged++;
}

static void refuse(struct table *t, int status, const char *why)
{
	struct tables *ts = t->owner;
	bool again = t->missed && status == -ENOENT;

	t->why = xstrdup(why);
	t->status = status;
	t->missed |= status == -ENOENT;
	if (again) {
		t->kind = UNWIND_REFUSED;
		return;
	}
	ts->refused++;
	decide(t, status == -ENOTSUP ? UNWIND_FOREIGN : UNWIND_REFUSED);
	if (ts->tell)
		ts->tell(ts->tell_ctx, t);
}

static bool read_rows(int fd, struct unwind_row *to, size_t n)
{
	size_t size = n * sizeof(*to), got = 0;
	ssize_t r;

	for (; got < size; got += r) {
		r = pread(fd, (char *)to + got, size - got, (off_t)got);
		if (r <= 0)
			return false;
	}
	return true;
}

static void on_reply(struct tables *ts, const struct tabler_reply *r, int fd)
{
	struct table *t;

	if (!r->id || r->id > ts->nsent || !ts->sent[r->id - 1])
		return;
	t = ts->sent[r->id - 1];
	ts->sent[r->id - 1] = NULL;
	ts->in_flight--;
	ts->cpu_ns += r->cpu_ns;
	t->is_go = r->alloc.is_go;
	if (r->alloc.n && r->alloc.n <= ALLOC_FUNCTIONS_MAX && !t->alloc)
		t->alloc = xmemdup(&r->alloc, sizeof(r->alloc));
	if (r->status) {
		refuse(t, r->status, r->text);
		return;
	}
	if (!r->nrows) {
		refuse(t, -ENODATA, "no unwind information");
		return;
	}
	if (!take_rows(t, r->nrows)) {
		ts->unwinder->full++;
		refuse(t, -ENOSPC, "no room for its unwind table");
		return;
	}
	if (!read_rows(fd, t->view.rows, r->nrows)) {
		give_rows(t);
		refuse(t, -EIO, "its unwind table cannot be read");
		return;
	}
	memcpy(t->view.segments, r->segments, sizeof(t->view.segments));
	t->view.nsegments = r->nsegments;
	if (r->python.version >> 16 == PYTHON_KNOWN)
		t->python = r->python;
	ts->made++;
	ts->revived |= t->missed;
	decide(t, UNWIND_TABLE);
	if (ts->cache && t->like.build_id.n)
		tablecache_put(ts->cache, &t->like.build_id, &t->view);
}

/* --- requests ------------------------------------------------------------------------------ */

/* Only these are looked into: python3.11, libpython3.11.so.1.0. */
static bool may_be_python(const struct code_file *f)
{
	const char *base = strrchr(f->name, '/');

	return base && (!strncmp(base, "/python3.11", 11) ||
			!strncmp(base, "/libpython3.11", 14));
}

/* The image that the kernel maps into every program, as a file. */
static int open_vdso(void)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd;

	if (!image)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, image, VDSO_BYTES) != VDSO_BYTES) {
		close(fd);
		return -EIO;
	}
	return fd < 0 ? -errno : fd;
}

static bool send(struct tables *ts, struct table *t)
{
	int fd = t->like.name[0] == '/'
			 ? procread_open(&t->like, t->tgid, t->start, t->end)
			 : open_vdso();
	struct tabler_request request;
	size_t i;
	bool sent;

	if (fd < 0) {
		refuse(t, -ENOENT, "it cannot be opened");
		return true;
	}
	for (i = 0; i < ts->nsent && ts->sent[i]; i++)
		;
	if (i == ts->nsent) {
		XGROW(ts->sent, ts->nsent, ts->sent_cap);
		ts->sent[ts->nsent++] = NULL;
	}
	request = (struct tabler_request){
		.id = i + 1, .python = may_be_python(&t->like), .alloc = ts->want_alloc};
	sent = tabler_send(ts->tabler, &request, fd);
	close(fd);
	if (sent) {
		ts->sent[i] = t;
		ts->in_flight++;
	}
	return sent;
}

static void send_waiting(struct tables *ts)
{
	struct table *t;

	while (ts->waiting && ts->in_flight < IN_FLIGHT_MAX) {
		t = ts->waiting;
		if (ts->tabler->fd < 0)
			refuse(t, -EPIPE, "the reader of files is gone");
		else if (!send(ts, t) && ts->in_flight)
			break;
		else if (t->kind == UNWIND_PENDING && !ts->in_flight)
			refuse(t, -EPIPE, "the reader of files is gone");
		ts->waiting = t->next_waiting;
	}
	if (!ts->waiting)
		ts->waiting_end = &ts->waiting;
}

size_t tables_poll(struct tables *ts)
{
	struct tabler_reply r;
	size_t i, n;
	int fd, got;

	while ((got = tabler_receive(ts->tabler, &r, &fd)) == 1) {
		on_reply(ts, &r, fd);
		if (fd >= 0)
			close(fd);
	}
	for (i = 0; got < 0 && i < ts->nsent; i++) {
		if (ts->sent[i])
			refuse(ts->sent[i], -EPIPE, "the reader of files is gone");
		ts->sent[i] = NULL;
	}
	if (got < 0)
		ts->in_flight = 0;
	send_waiting(ts);
	n = ts->nchanged;
	ts->nchanged = 0;
	return n;
}

bool tables_pending(const struct tables *ts)
{
	return ts->in_flight || ts->waiting;
}

static uint64_t hash_of(const struct code_file *f)
{
	if (f->build_id.n)
		return hash_bytes(f->build_id.data, f->build_id.n);
	return hash_u64(hash_u64(hash_bytes(f->name, strlen(f->name)),
				 (uint64_t)f->major << 32 | f->minor),
			f->inode);
}

static bool is_same(const struct code_file *a, const struct code_file *b)
{
	if (a->build_id.n || b->build_id.n)
		return a->build_id.n == b->build_id.n &&
		       !memcmp(a->build_id.data, b->build_id.data, a->build_id.n);
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       !strcmp(a->name, b->name);
}

/* tgid has it mapped at [start, end). */
static void request(struct tables *ts, struct table *t, uint32_t tgid, uint64_t start,
		    uint64_t end)
{
	t->tgid = tgid;
	t->start = start;
	t->end = end;
	t->asked_ns = monotonic_ns();
	t->next_waiting = NULL;
	*ts->waiting_end = t;
	ts->waiting_end = &t->next_waiting;
	send_waiting(ts);
}

/* Who had it mapped may have been gone, and with it the only way to the file: here is another. */
static void retry(struct tables *ts, struct table *t, uint32_t tgid, uint64_t start,
		  uint64_t end)
{
	if (t->status != -ENOENT || monotonic_ns() - t->asked_ns < RETRY_NS)
		return;
	free(t->why);
	t->why = NULL;
	t->status = 0;
	t->kind = UNWIND_PENDING;
	request(ts, t, tgid, start, end);
}

static bool from_cache(struct tables *ts, struct table *t)
{
	struct cached_table c;

	/* the cache does not tell where an interpreter's frames are, nor of allocators */
	if (!ts->cache || !t->like.build_id.n || may_be_python(&t->like) ||
	    ts->want_alloc || !tablecache_open(ts->cache, &t->like.build_id, &c))
		return false;
	if (take_rows(t, c.nrows) && tablecache_read(&c, t->view.rows)) {
		memcpy(t->view.segments, c.segments, sizeof(t->view.segments));
		t->view.nsegments = c.nsegments;
		ts->cached++;
		decide(t, UNWIND_TABLE);
	} else {
		give_rows(t);
	}
	tablecache_close(&c);
	return t->kind == UNWIND_TABLE;
}

void tables_ask(struct tables *ts, struct code_file *f, uint32_t tgid, uint64_t start,
		uint64_t end)
{
	struct vma at = {.start = start, .end = end};
	struct table **bucket, *t;
	uint64_t hash;

	if (f->table) {
		retry(ts, f->table, tgid, start, end);
		return;
	}
	file_build_id(f, tgid, &at);
	hash = hash_of(f);
	bucket = &ts->buckets[hash & (ts->nbuckets - 1)];
	for (t = *bucket; t && (t->hash != hash || !is_same(&t->like, f)); t = t->next)
		;
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		t->owner = ts;
		t->hash = hash;
		t->like = *f;
		t->like.name = xstrdup(f->name);
		t->kind = UNWIND_PENDING;
		t->next = *bucket;
		*bucket = t;
		ts->n++;
		if (f->name[0] != '/' && strcmp(f->name, "[vdso]") != 0) {
			refuse(t, -ENODATA, "no unwind information");
		} else if (!from_cache(ts, t)) {
			request(ts, t, tgid, start, end);
		}
	} else {
		retry(ts, t, tgid, start, end);
	}
	t->refs++;
	f->table = t;
}

bool table_pc(const struct table *t, uint64_t offset, uint64_t size, uint32_t *pc)
{
	const struct unwind_segment *s, *best = NULL;
	uint64_t most = 0, low, high, end, at;
	size_t i;

	if (__builtin_add_overflow(offset, size, &end))
		return false;
	/* two segments may share a page of the file: the one that fills the mapping is meant */
	for (i = 0; i < t->view.nsegments; i++) {
		s = &t->view.segments[i];
		if (__builtin_add_overflow(s->offset, s->size, &high))
			continue;
		low = s->offset > offset ? s->offset : offset;
		high = high < end ? high : end;
		if (low < high && high - low > most) {
			most = high - low;
			best = s;
		}
	}
	if (!best)
		return false;
	at = best->pc + offset - best->offset;
	/* the first page of a segment may hold the end of what lies before it */
	if (at > UINT32_MAX || size > UINT32_MAX - at)
		return false;
	*pc = at;
	return true;
}

bool table_is_python_eval(const struct table *t, const struct vma *v, uint64_t addr)
{
	uint32_t pc;

	if (!t || !t->python.version || !table_pc(t, v->offset, v->end - v->start, &pc))
		return false;
	pc += (uint32_t)(addr - v->start);
	return pc >= t->python.eval && pc - t->python.eval < t->python.eval_size;
}
