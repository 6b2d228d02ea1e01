/* SPDX-License-Identifier: Apache-2.0 */
/* From samples to one profile. */
#include "tools/capture/jit.h"
#include "tools/capture/kinds.h"
#include "tools/capture/python.h"
#include "tools/capture/tables.h"
#include "tools/capture/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/io/gz.h"
#include "lib/pprof/writer.h"
#include "tools/capture/clock.h"
#include "tools/capture/procread.h"

#define MESSAGE_MAX (UINT64_C(4) << 30)
#define PSEUDO_MAX 4

static struct profile *new_profile(const struct builder *b, enum event_kind kind)
{
	const struct kind *k = &kinds[kind];
	struct profile *p = profile_new(b->store);
	bool live = kind == KIND_ALLOC && b->conf->frees;
	size_t n = live ? ALLOC_TYPES_LIVE : k->ntypes, i;
	struct value_type types[4];

	for (i = 0; i < n; i++)
		types[i] = (struct value_type){
			.type = store_puts(b->store, k->types[i].type),
			.unit = store_puts(b->store, k->types[i].unit),
		};
	p->h.types = xmemdup(types, n * sizeof(*types));
	p->h.ntypes = n;
	p->h.period_type = types[k->main];
	p->h.default_type = types[live ? n - 1 : k->main].type;
	p->h.period = kind == KIND_CPU	   ? NS_PER_S / b->conf->rate_hz
		      : kind == KIND_ALLOC ? (int64_t)b->conf->alloc_bytes
					   : 1;
	return p;
}

void builder_begin(struct builder *b)
{
	size_t i;

	builder_release(b);
	b->epoch++;
	b->kept = b->dropped = 0;
	b->unwind = (struct unwind_counts){0};
	memset(b->events, 0, sizeof(b->events));
	b->store = store_new(STORE_EXACT);
	id_table_init(&b->by_hash);
	for (i = 0; i < KINDS; i++) {
		if (b->conf->kinds & KIND_BIT(i))
			b->profiles[i] = new_profile(b, i);
	}
}

void builder_release(struct builder *b)
{
	size_t i;

	buf_release(&b->late);
	for (i = 0; i < KINDS; i++) {
		profile_free(b->profiles[i]);
		b->profiles[i] = NULL;
	}
	if (b->store)
		id_table_release(&b->by_hash);
	store_free(b->store);
	b->store = NULL;
	free(b->places);
	b->places = NULL;
	b->nplaces = b->places_cap = 0;
}

static uint32_t pseudo_location(struct builder *b, const char *text)
{
	struct function f = {0};
	struct line line = {0};

	f.name = f.system_name = store_puts(b->store, text);
	line.function = store_function(b->store, &f);
	return store_location(b->store, ID_NONE, 0, false, &line, 1);
}

static uint32_t mapping_of(struct builder *b, const struct proc *p, struct vma *v)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct mapping row = {.start = v->start, .limit = v->end, .offset = v->offset};

	if (v->epoch == b->epoch)
		return v->mapping;
	build_id_hex(file_build_id(v->file, p->tgid, v), hex);
	row.file = store_puts(b->store, v->file->name);
	row.build_id = store_puts(b->store, hex);
	if (b->keeper)
		keeper_want(b->keeper, v->file, p->tgid, v->start, v->end);
	v->epoch = b->epoch;
	v->mapping = store_mapping(b->store, &row);
	return v->mapping;
}

struct stack {
	uint32_t
		frames[EVENT_KERNEL_MAX + EVENT_USER_MAX + EVENT_PYTHON_MAX + PSEUDO_MAX];
	uint32_t n;
	const char *file; /* where the user's part ends; NULL: not known */
	bool has_user, unnamed;
};

static void add_kernel(struct builder *b, const struct sample_event *ev, struct stack *st)
{
	uint32_t i = 0;

	/* an event is seen from within what we hung on to it */
	if (ev->h.kind != KIND_CPU) {
		while (i < ev->h.nkernel && i < EVENT_KERNEL_MAX &&
		       kernel_is_tracing(b->kernel, ev->data[i] - 1))
			i++;
	}
	/* the first is where the tick found the CPU, all others are return addresses */
	for (; i < ev->h.nkernel && i < EVENT_KERNEL_MAX; i++)
		st->frames[st->n++] = kernel_location(b->kernel, b->store, b->epoch,
						      ev->data[i] - (i > 0));
}

/* What the kernel followed ends where it ends; only its length tells something. */
static enum unwind_stop judge_fp(const struct builder *b, const struct sample_head *h)
{
	if (h->stop == STOP_COMPLETE && h->nuser >= b->conf->depth_limit)
		return STOP_DEPTH;
	return h->stop;
}

/* Code that no file holds: named, if whoever made it wrote down what it is. */
static uint32_t made_location(struct builder *b, struct proc *p, const struct space *s,
			      const struct vma *v, uint64_t addr, uint64_t time_ns,
			      bool *unnamed)
{
	struct jit_frame f;
	struct function fn;
	struct line line;

	if (!v ||
	    !jit_find(p, s, addr, time_ns, b->settling_ns, &b->procs->names_bytes, &f)) {
		*unnamed |= v != NULL;
		return store_location(b->store, ID_NONE, addr, false, NULL, 0);
	}
	fn = (struct function){
		.name = store_puts(b->store, f.name),
		.system_name = store_puts(b->store, f.name),
		.file = store_puts(b->store, f.file),
		.start_line = f.start_line,
	};
	line = (struct line){.function = store_function(b->store, &fn), .line = f.line};
	return store_location(b->store, ID_NONE, addr, false, &line, 1);
}

/* The frames of an interpreter that came with a sample. */
struct python_walk {
	const __u64 *pairs; /* see struct sample_head */
	uint32_t n, at;
};

static uint32_t python_location(struct builder *b, const struct python_code *c,
				uint64_t instruction)
{
	struct function fn = {
		.name = store_puts(b->store, c->name),
		.system_name = store_puts(b->store, c->name),
		.file = store_puts(b->store, c->file),
		.start_line = c->first_line,
	};
	struct line line = {
		.function = store_function(b->store, &fn),
		.line = python_line(c, instruction),
	};

	return store_location(b->store, ID_NONE, 0, false, &line, 1);
}

/*
 * The functions that one call of the interpreter's own loop runs, in place of that. False: not
 * known, or not all of them.
 */
static bool add_python(struct builder *b, struct proc *p, struct python_walk *w,
		       struct stack *st)
{
	const struct python_code *c;
	uint32_t before = st->n;
	bool known = true;
	__u64 instruction;

	while (w->at < w->n) {
		c = known ? python_code(p, w->pairs[2 * w->at], &b->procs->names_bytes)
			  : NULL;
		instruction = w->pairs[2 * w->at++ + 1];
		if (c)
			st->frames[st->n++] =
				python_location(b, c, instruction & ~(__u64)1);
		else
			known = false;
		if (instruction & 1)
			break;
	}
	if (!known)
		st->n = before;
	return st->n > before;
}

/* The user's part. What goes wrong is told by a frame at the root. */
static void add_user(struct builder *b, struct proc *p, const struct sample_event *ev,
		     struct stack *st)
{
	struct space *s = proc_space(p, ev->h.ktime);
	struct user_stack *u = &b->user;
	struct python_walk w = {
		.pairs = &ev->data[ev->h.nkernel + ev->h.nuser +
				   ev->h.ncopy / sizeof(__u64)],
		.n = ev->h.npython < EVENT_PYTHON_MAX ? ev->h.npython : EVENT_PYTHON_MAX,
	};
	char text[256];
	struct vma *v = NULL;
	uint64_t addr;
	size_t i;

	user_stack_read(u, p, ev);
	st->has_user = u->n > 0;
	if (!u->n) /* between two programs */
		return;
	/* sampled, though it was not to be when it came: the unwinder is told of it now */
	if (ev->h.stop == STOP_NO_PROCESS && !p->is_told) {
		p->is_named = true;
		procs_changed(b->procs, p);
	}
	if (ev->h.flags & EVENT_BY_FP)
		u->stop = judge_fp(b, &ev->h);
	/* the allocator's function, where the probe is: who calls it is wanted */
	for (i = ev->h.kind == KIND_ALLOC && u->n > 1; i < u->n; i++) {
		addr = user_stack_addr(u, i, &ev->h);
		v = s ? space_find(s, addr, ev->h.ktime) : NULL;
		/* no code there: what led to it was no stack frame */
		if (!v && i > 0 && s && s->n) {
			u->stop = STOP_NO_MAPPING;
			break;
		}
		if (w.at < w.n && v && v->file &&
		    table_is_python_eval(v->file->table, v, addr) &&
		    add_python(b, p, &w, st))
			continue;
		if (v && !jit_is_code(v))
			st->frames[st->n++] = store_location(
				b->store, mapping_of(b, p, v), addr, false, NULL, 0);
		else
			st->frames[st->n++] = made_location(b, p, s, v, addr, ev->h.ktime,
							    &st->unnamed);
	}
	/* the native stack is cut short, but not this one */
	while (u->stop != STOP_COMPLETE && add_python(b, p, &w, st))
		;
	if (st->unnamed && !jit_is_told(p))
		st->frames[st->n++] = pseudo_location(b, "[jit: no map]");
	st->file = v && v->file ? v->file->name : NULL;
	if (user_stack_text(u->stop, st->file, text, sizeof(text)))
		st->frames[st->n++] = pseudo_location(b, text);
}

static void count_user(struct builder *b, const struct sample_event *ev,
		       const struct stack *st)
{
	const struct user_stack *u = &b->user;

	if (ev->h.flags & EVENT_BY_FP && u->stop == STOP_COMPLETE) {
		b->unwind.by_fp++;
	} else {
		b->unwind.by_stop[u->stop]++;
		stops_add(&b->stops, u->stop, st->file);
	}
	b->unwind.copied += u->copied;
}

static bool put_off(struct builder *b, const struct sample_event *ev)
{
	size_t n = sample_event_size(&ev->h);

	if (b->settling_ns || b->late.len + n > BUILDER_LATE_MAX_BYTES)
		return false;
	if (!b->late.len)
		b->late_since_ns = ev->h.ktime;
	return buf_put(&b->late, ev, n) == 0;
}

int builder_settle(struct builder *b, struct err *e)
{
	const struct sample_event *ev;
	size_t at;
	int r = 0;

	b->settling_ns = monotonic_ns();
	for (at = 0; at < b->late.len && r >= 0; at += sample_event_size(&ev->h)) {
		ev = (const void *)(b->late.data + at);
		r = builder_add(b, ev, e);
	}
	b->settling_ns = 0;
	buf_clear(&b->late);
	return r;
}

/* Where the events of a hash belong: what they came to is told later. */
static void add_place(struct builder *b, uint64_t hash, uint32_t stack, uint32_t labels)
{
	XGROW(b->places, b->nplaces, b->places_cap);
	id_table_put(&b->by_hash, hash, (uint32_t)b->nplaces);
	b->places[b->nplaces++] = (struct event_place){hash, stack, labels};
}

static const struct event_place *find_place(const struct builder *b, uint64_t hash)
{
	size_t s = id_table_first(&b->by_hash, hash);
	uint32_t id;

	for (; (id = id_table_at(&b->by_hash, hash, &s)) != ID_NONE; s++) {
		if (b->places[id].hash == hash)
			return &b->places[id];
	}
	return NULL;
}

bool builder_knows(const struct builder *b, uint64_t hash)
{
	return find_place(b, hash) != NULL;
}

/* To the profile of the kind, and to that of the time that passes. */
static int add_to(struct builder *b, enum event_kind kind, uint32_t stack,
		  uint32_t labels, const int64_t *values, struct err *e)
{
	int r = 0;

	if (b->profiles[kind])
		r = profile_add(b->profiles[kind], stack, labels, values, e);
	if (r >= 0 && b->profiles[KIND_WALL] && (kind == KIND_CPU || kind == KIND_OFFCPU))
		r = profile_add(b->profiles[KIND_WALL], stack, labels, &values[1], e);
	return r;
}

static int64_t rounded(uint64_t weight)
{
	return (int64_t)((weight + WEIGHT_ONE / 2) >> WEIGHT_BITS);
}

int builder_add_sum(struct builder *b, const struct event_sum *sum, struct err *e)
{
	enum event_kind kind = sum->hash & KIND_MASK;
	const struct event_place *at = find_place(b, sum->hash);
	const int64_t n = kind == KIND_ALLOC ? rounded(sum->weight) : (int64_t)sum->n;
	const int64_t value = (int64_t)sum->value;
	const bool live = sum->what == SUM_LIVE;
	/* the last two only where blocks are followed */
	const int64_t values[4] = {live ? 0 : n, live ? 0 : value, live ? n : 0,
				   live ? value : 0};

	/* without its stack nothing explains it */
	if (kind >= KINDS || !at)
		return 0;
	if (at->labels == ID_NONE) {
		b->events[kind].dropped += sum->n;
		return 0;
	}
	b->events[kind].kept += sum->n;
	if (!n && !value)
		return 0;
	return add_to(b, kind, at->stack, at->labels, values, e);
}

int builder_add(struct builder *b, const struct sample_event *ev, struct err *e)
{
	struct proc *p = procs_of_sample(b->procs, &ev->h);
	bool is_cpu = ev->h.kind == KIND_CPU;
	struct stack st;
	uint32_t labels, stack;

	if (ev->h.kind >= KINDS || (!is_cpu && find_place(b, ev->h.hash)))
		return 0;
	labels = labels_of_sample(&b->conf->labels, &b->sources, b->store, b->epoch, p,
				  &ev->h);
	if (labels == ID_NONE) {
		if (is_cpu)
			b->dropped++;
		else
			add_place(b, ev->h.hash, 0, ID_NONE);
		return 0;
	}
	st.n = 0;
	st.has_user = st.unnamed = false;
	add_kernel(b, ev, &st);
	if (!(ev->h.flags & EVENT_NO_USER))
		add_user(b, p, ev, &st);
	if (st.unnamed && put_off(b, ev))
		return 0;
	stack = store_stack(b->store, st.frames, st.n);
	if (!is_cpu) {
		add_place(b, ev->h.hash, stack, labels);
		return 0;
	}
	if (st.has_user)
		count_user(b, ev, &st);
	b->kept++;
	return add_to(b, KIND_CPU, stack, labels,
		      (const int64_t[]){1, NS_PER_S / b->conf->rate_hz}, e);
}

int64_t builder_unexplained(const struct builder *b, const struct tick_counts *t)
{
	return t->expected - (int64_t)b->kept - t->idle - t->filtered - t->lost_ring -
	       t->lost_timer - t->lost_recursion - t->lost_error - t->hidden;
}

int64_t builder_unexplained_events(const struct builder *b, enum event_kind kind,
				   const struct event_totals *t)
{
	const struct event_sums *s = &b->events[kind];

	return t->seen - (int64_t)(s->kept + s->dropped) - t->filtered - t->brief -
	       t->lost_ring - t->lost_map - t->lost_nested;
}

static void add_unwind_comments(struct builder *b, struct profile *p)
{
	const struct unwind_counts *u = &b->unwind;
	char key[32];
	size_t i;

	for (i = 0; i < STOP_CAUSES; i++) {
		if (i && !u->by_stop[i])
			continue;
		snprintf(key, sizeof(key), "stacks_%s", unwind_stop_names[i]);
		profile_comment_kv(p, key, "%" PRIu64, u->by_stop[i]);
	}
	if (u->by_fp)
		profile_comment_kv(p, "stacks_by_fp", "%" PRIu64, u->by_fp);
	if (u->copied)
		profile_comment_kv(p, "stacks_copied", "%" PRIu64, u->copied);
}

/* What became of the ticks of the clock. */
static void add_tick_comments(struct builder *b, const struct interval_info *info)
{
	struct profile *p = b->profiles[KIND_CPU];
	const struct tick_counts *t = &info->ticks;

	profile_comment_kv(p, "event", "cpu-clock");
	profile_comment_kv(p, "rate", "%u", b->conf->rate_hz);
	profile_comment_kv(p, "expected", "%" PRId64, t->expected);
	profile_comment_kv(p, "kept", "%" PRIu64, b->kept);
	if (b->conf->unprivileged)
		profile_comment_kv(p, "mode", "unprivileged");
	profile_comment_kv(p, "idle", "%" PRId64, t->idle);
	profile_comment_kv(p, "filtered", "%" PRId64, t->filtered);
	profile_comment_kv(p, "lost_ring", "%" PRId64, t->lost_ring);
	profile_comment_kv(p, "lost_timer", "%" PRId64, t->lost_timer);
	profile_comment_kv(p, "lost_recursion", "%" PRId64, t->lost_recursion);
	if (b->conf->hides_kernel)
		profile_comment_kv(p, "lost_kernel", "%" PRId64, t->hidden);
	if (t->lost_error)
		profile_comment_kv(p, "lost_error", "%" PRId64, t->lost_error);
	profile_comment_kv(p, "unexplained", "%" PRId64, builder_unexplained(b, t));
	add_unwind_comments(b, p);
	if (!b->conf->unprivileged)
		profile_comment_kv(p, "bpf_ns", "%" PRIu64, t->run_ns);
}

static void add_event_comments(struct builder *b, enum event_kind kind,
			       const struct event_totals *t)
{
	struct profile *p = b->profiles[kind];
	const struct event_sums *s = &b->events[kind];

	profile_comment_kv(p, "event", "%s", kinds[kind].name);
	if (kind == KIND_WALL)
		return;
	profile_comment_kv(p, "expected", "%" PRId64, t->seen);
	profile_comment_kv(p, "kept", "%" PRIu64, s->kept);
	profile_comment_kv(p, "filtered", "%" PRId64, t->filtered + (int64_t)s->dropped);
	if (kind == KIND_ALLOC) {
		profile_comment_kv(p, "alloc_calls", "%" PRIu64, t->calls);
		profile_comment_kv(p, "alloc_bytes", "%" PRIu64, t->bytes);
		if (b->conf->frees)
			profile_comment_kv(p, "lost_live", "%" PRId64, t->lost_live);
	}
	if (kind == KIND_OFFCPU)
		profile_comment_kv(p, "brief", "%" PRId64, t->brief);
	profile_comment_kv(p, "lost_ring", "%" PRId64, t->lost_ring);
	profile_comment_kv(p, "lost_map", "%" PRId64, t->lost_map);
	profile_comment_kv(p, "lost_nested", "%" PRId64, t->lost_nested);
	profile_comment_kv(p, "unexplained", "%" PRId64,
			   builder_unexplained_events(b, kind, t));
	profile_comment_kv(p, "bpf_ns", "%" PRIu64, t->run_ns);
}

static void add_comments(struct builder *b, struct profile *p,
			 const struct interval_info *info)
{
	profile_comment_kv(p, "producer", "prof-capture %s", PROFPIPE_VERSION);
	profile_comment_kv(p, "schema", "1");
	profile_comment_kv(p, "host", "%s", b->conf->host);
	profile_comment_kv(p, "kernel", "%s", b->conf->labels.kernel_release);
	profile_comment_kv(p, "cpu", "%s", b->conf->cpu_model);
	profile_comment_kv(p, "cpus", "%zu", b->conf->ncpus);
	profile_comment_kv(p, "merged", "1");
	profile_comment_kv(p, "own_cpu_ns", "%" PRIu64, info->cpu_ns);
	if (info->side_lost)
		profile_comment_kv(p, "process_records_lost", "%" PRIu64,
				   info->side_lost);
	if (info->dropped)
		profile_comment_kv(p, "intervals_dropped", "%" PRIu64, info->dropped);
	if (info->step_ns)
		profile_comment_kv(p, "clock_step", "%+.3fs",
				   (double)info->step_ns / NS_PER_S);
}

int builder_finish(struct builder *b, enum event_kind kind,
		   const struct interval_info *info, struct buf *out, struct err *e)
{
	struct buf message = BUF_INIT(MESSAGE_MAX);
	struct profile *p = b->profiles[kind];
	int r;

	p->h.time_ns = info->time_ns;
	p->h.duration_ns = info->duration_ns;
	add_comments(b, p, info);
	if (kind == KIND_CPU)
		add_tick_comments(b, info);
	else
		add_event_comments(b, kind, &info->events[kind]);
	r = profile_encode(p, &message, e);
	if (r >= 0)
		r = gz_compress(message.data, message.len, out, e);
	buf_release(&message);
	return r;
}
