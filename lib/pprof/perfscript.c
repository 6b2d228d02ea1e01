/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what `perf script` prints. */
#include "lib/pprof/perfscript.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/model.h"
#include "lib/pprof/span.h"
#include "lib/pprof/writer.h"

#define EVENTS_MAX 16
#define SNIFF_MAX 65536 /* comments of `perf script --header`, and a sample */
#define NS_PER_S INT64_C(1000000000)

/* The first line of a sample. */
struct head {
	struct span comm, event, rest; /* rest: a frame, or the fields of a tracepoint */
	int64_t pid, tid, time_ns;     /* pid 0: not told */
	int64_t period;		       /* -1: not told */
};

struct reader {
	struct profile *p;
	struct span events[EVENTS_MAX];
	size_t nevents;
	bool has_periods;
	int64_t first_ns, last_ns;
	/* the sample at work */
	struct head head;
	bool in_sample;
	uint32_t *frames;
	size_t nframes, frames_cap;
	struct line *lines; /* of functions inlined into the next frame */
	size_t nlines, lines_cap;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct span *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

/* Digits at the front: false if there are none, or too many. */
static bool take_number(struct span *s, int64_t *v)
{
	const char *begin = s->p;

	for (*v = 0; s->p < s->end && is_digit(*s->p); s->p++) {
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, *s->p - '0', v))
			return false;
	}
	return s->p > begin;
}

static bool take_char(struct span *s, char c)
{
	if (s->p >= s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* "57137.720534:" in micro- or nanoseconds. */
static bool take_time(struct span *s, int64_t *ns)
{
	int64_t whole, part, unit = NS_PER_S;
	const char *begin;

	if (!take_number(s, &whole) || !take_char(s, '.'))
		return false;
	begin = s->p;
	if (!take_number(s, &part) || s->p - begin > 9 || !take_char(s, ':'))
		return false;
	for (; begin < s->p - 1; begin++)
		unit /= 10;
	return !__builtin_mul_overflow(whole, NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, part * unit, ns);
}

/* "310/311 [001] 57137.720534:    1001001 cpu-clock:" and what follows. */
static bool take_fields(struct span s, struct head *h)
{
	int64_t cpu;

	if (!take_number(&s, &h->tid))
		return false;
	h->pid = 0;
	if (take_char(&s, '/')) {
		h->pid = h->tid;
		if (!take_number(&s, &h->tid))
			return false;
	}
	if (s.p >= s.end || !is_blank(*s.p))
		return false;
	skip_blanks(&s);
	if (take_char(&s, '[')) {
		if (!take_number(&s, &cpu) || !take_char(&s, ']'))
			return false;
		skip_blanks(&s);
	}
	if (!take_time(&s, &h->time_ns))
		return false;
	skip_blanks(&s);
	h->event = s;
	h->period = -1;
	if (take_number(&s, &h->period) && s.p < s.end && is_blank(*s.p)) {
		skip_blanks(&s);
		h->event.p = s.p;
	} else {
		s.p = h->event.p;
		h->period = -1;
	}
	while (s.p < s.end && !is_blank(*s.p))
		s.p++;
	h->event.end = s.p;
	if (span_len(h->event) < 2 || h->event.end[-1] != ':')
		return false;
	h->event.end--;
	skip_blanks(&s);
	h->rest = s;
	return true;
}

/* "cpu-clock:ppp": how it was to be counted is no part of its name. */
static void cut_modifiers(struct span *event)
{
	const char *p = event->end;

	while (p > event->p && strchr("ukhGHpPSDIWeb", p[-1]))
		p--;
	if (p > event->p + 1 && p < event->end && p[-1] == ':')
		event->end = p - 1;
}

/* The name of a process may have blanks and digits in it: the first place where all fits. */
static bool take_head(struct span line, struct head *h)
{
	const char *p;

	skip_blanks(&line);
	for (p = line.p + 1; p < line.end; p++) {
		if (!is_digit(*p) || !is_blank(p[-1]) ||
		    !take_fields((struct span){p, line.end}, h))
			continue;
		h->comm = (struct span){line.p, p - 1};
		while (h->comm.end > h->comm.p && is_blank(h->comm.end[-1]))
			h->comm.end--;
		cut_modifiers(&h->event);
		return h->comm.end > h->comm.p;
	}
	return false;
}

bool perfscript_sniff(const uint8_t *p, size_t n)
{
	size_t most = n < SNIFF_MAX ? n : SNIFF_MAX;
	struct span text = {(const char *)p, (const char *)p + most}, line;
	struct head h;
	const char *c;
	size_t no = 0;

	while (span_full_line(&text, &line, &no)) {
		for (c = line.p; c < line.end; c++) {
			if ((uint8_t)*c < 0x20 && *c != '\t')
				return false;
		}
		if (*line.p != '#')
			return take_head(line, &h);
	}
	return false;
}

/* " (FILE)" taken off the end; parentheses in it are in pairs. */
static bool take_file(struct span *s, struct span *file)
{
	const char *p = s->end;
	int depth = 0;

	if (p == s->p || p[-1] != ')')
		return false;
	do {
		p--;
		depth += *p == ')' ? 1 : *p == '(' ? -1 : 0;
	} while (depth && p > s->p);
	if (depth || p == s->p || !is_blank(p[-1]))
		return false;
	*file = (struct span){p + 1, s->end - 1};
	s->end = p - 1;
	while (s->end > s->p && is_blank(s->end[-1]))
		s->end--;
	return true;
}

static void cut_offset(struct span *name)
{
	const char *p = name->end;

	while (p > name->p && ((*(p - 1) >= 'a' && *(p - 1) <= 'f') || is_digit(p[-1])))
		p--;
	if (p < name->end && p - name->p > 3 && !memcmp(p - 3, "+0x", 3))
		name->end = p - 3;
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool span_is(struct span s, const char *text)
{
	return span_len(s) == strlen(text) && !memcmp(s.p, text, span_len(s));
}

/* "2f69 _dl_map_object_deps+0xcf9 (/usr/lib/ld.so)", or "… NAME (inlined)". */
static bool put_frame(struct reader *r, struct span s)
{
	struct store *st = r->p->store;
	struct mapping m = {0};
	struct function f = {0};
	struct span file;
	const char *begin;

	skip_blanks(&s);
	for (begin = s.p; s.p < s.end && is_hex(*s.p); s.p++)
		;
	if (s.p == begin || s.p >= s.end || !is_blank(*s.p) || !take_file(&s, &file))
		return false;
	skip_blanks(&s);
	cut_offset(&s);
	f.name = intern_put(&st->strings, s.p, span_len(s));
	XGROW(r->lines, r->nlines, r->lines_cap);
	r->lines[r->nlines++] = (struct line){.function = store_function(st, &f)};
	if (span_is(file, "inlined"))
		return true;
	m.file = intern_put(&st->strings, file.p, span_len(file));
	m.flags = MAPPING_HAS_FUNCTIONS | MAPPING_HAS_INLINE_FRAMES;
	XGROW(r->frames, r->nframes, r->frames_cap);
	r->frames[r->nframes++] = store_location(st, store_mapping(st, &m), 0, false,
						 r->lines, (uint32_t)r->nlines);
	r->nlines = 0;
	return true;
}

static size_t find_event(const struct reader *r, struct span event)
{
	size_t i;

	for (i = 0; i < r->nevents; i++) {
		if (span_len(r->events[i]) == span_len(event) &&
		    !memcmp(r->events[i].p, event.p, span_len(event)))
			break;
	}
	return i;
}

/* Which events there are, and whether all samples tell what they stand for. */
static int survey(struct reader *r, struct span text, struct err *e)
{
	struct span line;
	struct head h;
	size_t no = 0;

	r->has_periods = true;
	while (span_full_line(&text, &line, &no)) {
		if (!take_head(line, &h))
			continue;
		r->has_periods &= h.period >= 0;
		if (find_event(r, h.event) < r->nevents)
			continue;
		if (r->nevents == EVENTS_MAX)
			return err_set(e, EBADMSG,
				       "line %zu: more than %d kinds of events", no,
				       EVENTS_MAX);
		r->events[r->nevents++] = h.event;
	}
	return 0;
}

static void set_types(struct reader *r)
{
	struct store *st = r->p->store;
	struct header *h = &r->p->h;
	bool one = r->nevents == 1;
	size_t i;

	h->types = xcalloc(r->nevents + 1, sizeof(*h->types));
	if (one)
		h->types[h->ntypes++] =
			(struct value_type){.type = store_puts(st, "samples"),
					    .unit = store_puts(st, "count")};
	for (i = 0; i < r->nevents && (!one || r->has_periods); i++) {
		bool clock = r->has_periods && (span_is(r->events[i], "cpu-clock") ||
						span_is(r->events[i], "task-clock"));
		struct value_type *t = &h->types[h->ntypes++];

		t->type = clock ? store_puts(st, "cpu")
				: intern_put(&st->strings, r->events[i].p,
					     span_len(r->events[i]));
		t->unit = store_puts(st, clock ? "nanoseconds" : "count");
	}
	h->default_type = h->types[h->ntypes - 1].type;
}

static uint32_t put_labels(struct store *st, const struct head *h)
{
	struct label labels[3] = {{.key = store_puts(st, "comm")}};
	size_t n = 1;

	labels[0].str = intern_put(&st->strings, h->comm.p, span_len(h->comm));
	if (h->pid)
		labels[n++] = (struct label){
			.key = store_puts(st, "pid"), .numeric = true, .num = h->pid};
	if (h->tid)
		labels[n++] = (struct label){.key = store_puts(st, "thread_id"),
					     .numeric = true,
					     .num = h->tid};
	return store_labelset(st, labels, (uint32_t)n);
}

static int end_sample(struct reader *r, struct err *e)
{
	struct store *st = r->p->store;
	int64_t values[EVENTS_MAX + 1] = {0};
	int64_t gain = r->has_periods ? r->head.period : 1;

	if (!r->in_sample)
		return 0;
	r->in_sample = false;
	if (r->nevents == 1) {
		values[0] = 1;
		values[1] = gain;
	} else {
		values[find_event(r, r->head.event)] = gain;
	}
	if (r->nlines) /* inlined into nothing */
		r->nlines = 0;
	return profile_add(r->p, store_stack(st, r->frames, (uint32_t)r->nframes),
			   put_labels(st, &r->head), values, e);
}

static void begin_sample(struct reader *r, const struct head *h)
{
	r->head = *h;
	r->in_sample = true;
	r->nframes = r->nlines = 0;
	if (h->time_ns < r->first_ns)
		r->first_ns = h->time_ns;
	if (h->time_ns > r->last_ns)
		r->last_ns = h->time_ns;
	if (h->rest.p < h->rest.end)
		put_frame(r, h->rest); /* or the fields of a tracepoint */
}

static int read_lines(struct reader *r, struct span text, struct err *e)
{
	struct span line;
	struct head h;
	size_t no = 0;
	int ret = 0;

	while (!ret && span_line(&text, &line, &no)) {
		if (line.p == line.end) {
			ret = end_sample(r, e);
		} else if (*line.p == '#' && !r->in_sample) {
			continue;
		} else if (take_head(line, &h)) {
			ret = end_sample(r, e);
			begin_sample(r, &h);
		} else if (!r->in_sample || !is_blank(*line.p)) {
			ret = err_set(e, EBADMSG, "line %zu: not what perf script prints",
				      no);
		} else if (!put_frame(r, line)) {
			/* "  file.c:12", of -F +srcline: a line of the frame before */
			continue;
		}
	}
	return ret ? ret : end_sample(r, e);
}

int perfscript_message(const uint8_t *p, size_t n, struct buf *msg, struct err *e)
{
	struct span text = {(const char *)p, (const char *)p + n};
	struct store *st = store_new(STORE_EXACT);
	struct reader r = {.p = profile_new(st), .first_ns = INT64_MAX};
	int ret;

	buf_clear(msg);
	ret = survey(&r, text, e);
	if (!ret && !r.nevents)
		ret = err_set(e, EBADMSG, "no sample in what perf script printed");
	if (!ret) {
		set_types(&r);
		ret = read_lines(&r, text, e);
	}
	if (!ret) {
		r.p->h.duration_ns = r.last_ns > r.first_ns ? r.last_ns - r.first_ns : 0;
		ret = profile_encode(r.p, msg, e);
	}
	free(r.frames);
	free(r.lines);
	profile_free(r.p);
	store_free(st);
	return ret;
}
