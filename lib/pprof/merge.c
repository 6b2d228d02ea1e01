/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/pprof/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

#define COMMENT_PREFIX "profpipe: "

/* Comments of this form are numbers that add up; see profpipe-stream(5). */
static const char *const counters[] = {
	"expected",    "kept",	     "idle",   "filtered",   "brief",
	"unexplained", "merged",     "bpf_ns", "own_cpu_ns", "intervals_dropped",
	"alloc_calls", "alloc_bytes"};

struct counter {
	uint32_t key; /* string id */
	int64_t sum;
};

struct result {
	struct profile *p;
	int64_t window; /* number of the window; 0 without windows */
	uint32_t split;
	struct counter *counters;
	size_t ncounters, counters_cap;
	struct id_table counter_ids; /* by key */
	/* all other comments, each once */
	uint32_t *comments;
	size_t ncomments, comments_cap;
	struct id_table comment_ids;
};

struct merger {
	struct merge_opts o;
	struct store *st;
	struct reader *reader;
	struct result *results;
	size_t nresults, results_cap;
	struct id_table result_ids;
	struct profile **sorted;
	uint32_t merged_key;
};

struct merger *merger_new(const struct merge_opts *o)
{
	struct merger *m = xcalloc(1, sizeof(*m));

	m->o = *o;
	m->st = store_new(STORE_MERGED);
	m->reader = reader_new(m->st, o->max_size);
	if (o->headers_only)
		reader_headers_only(m->reader);
	m->merged_key = store_puts(m->st, "merged");
	id_table_init(&m->result_ids);
	return m;
}

void merger_free(struct merger *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->nresults; i++) {
		profile_free(m->results[i].p);
		free(m->results[i].counters);
		free(m->results[i].comments);
		id_table_release(&m->results[i].counter_ids);
		id_table_release(&m->results[i].comment_ids);
	}
	free(m->results);
	free(m->sorted);
	id_table_release(&m->result_ids);
	reader_free(m->reader);
	store_free(m->st);
	free(m);
}

struct store *merger_store(struct merger *m)
{
	return m->st;
}

bool header_same_type(const struct header *a, const struct header *b)
{
	size_t i;

	if (a->ntypes != b->ntypes || a->period_type.type != b->period_type.type ||
	    a->period_type.unit != b->period_type.unit ||
	    a->drop_frames != b->drop_frames || a->keep_frames != b->keep_frames)
		return false;
	for (i = 0; i < a->ntypes; i++) {
		if (a->types[i].type != b->types[i].type ||
		    a->types[i].unit != b->types[i].unit)
			return false;
	}
	return true;
}

static uint64_t result_hash(const struct header *h, int64_t window, uint32_t split)
{
	uint64_t x = hash_u64(hash_u64(split, window),
			      (uint64_t)h->period_type.type << 32 | h->period_type.unit);
	size_t i;

	x = hash_u64(x, (uint64_t)h->drop_frames << 32 | h->keep_frames);
	for (i = 0; i < h->ntypes; i++)
		x = hash_u64(x, (uint64_t)h->types[i].type << 32 | h->types[i].unit);
	return x;
}

static struct result *result_for(struct merger *m, const struct header *h, int64_t window,
				 uint32_t split)
{
	uint64_t x = result_hash(h, window, split);
	struct result *r;
	uint32_t id;
	size_t s;

	for (s = id_table_first(&m->result_ids, x);
	     (id = id_table_at(&m->result_ids, x, &s)) != ID_NONE; s++) {
		r = &m->results[id];
		if (r->window == window && r->split == split &&
		    header_same_type(&r->p->h, h))
			return r;
	}
	XGROW(m->results, m->nresults, m->results_cap);
	id = m->nresults++;
	r = &m->results[id];
	*r = (struct result){.p = profile_new(m->st), .window = window, .split = split};
	id_table_init(&r->counter_ids);
	id_table_init(&r->comment_ids);
	header_copy(&r->p->h, h);
	r->p->h.duration_ns = 0;
	r->p->h.ncomments = 0;
	id_table_put(&m->result_ids, x, id);
	return r;
}

static bool is_counter(const char *key, size_t n)
{
	size_t i;

	if ((n > 5 && !memcmp(key, "lost_", 5)) || (n > 7 && !memcmp(key, "stacks_", 7)))
		return true;
	for (i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		if (strlen(counters[i]) == n && !memcmp(counters[i], key, n))
			return true;
	}
	return false;
}

/* "profpipe: KEY=NUMBER" of a counter: its key and number. */
static bool parse_counter(struct store *st, uint32_t comment, uint32_t *key,
			  int64_t *value)
{
	struct str s = store_str(st, comment);
	size_t prefix = strlen(COMMENT_PREFIX);
	const char *eq;
	char *end;

	if (s.n <= prefix || memcmp(s.p, COMMENT_PREFIX, prefix))
		return false;
	eq = memchr(s.p + prefix, '=', s.n - prefix);
	if (!eq || !is_counter(s.p + prefix, eq - (s.p + prefix)))
		return false;
	if (eq[1] != '-' && (eq[1] < '0' || eq[1] > '9'))
		return false;
	errno = 0;
	*value = strtoll(eq + 1, &end, 10);
	if (errno || end != s.p + s.n)
		return false;
	*key = intern_put(&st->strings, s.p + prefix, eq - (s.p + prefix));
	return true;
}

static int add_counter(const struct merger *m, struct result *r, uint32_t key,
		       int64_t value, struct err *e)
{
	uint64_t x = hash_u64(1, key);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&r->counter_ids, x);
	     (id = id_table_at(&r->counter_ids, x, &s)) != ID_NONE; s++) {
		if (r->counters[id].key != key)
			continue;
		if (__builtin_add_overflow(r->counters[id].sum, value,
					   &r->counters[id].sum))
			return err_set(e, EOVERFLOW,
				       "the sum of comment %s does not fit 64 bits",
				       store_cstr(m->st, key));
		return 0;
	}
	XGROW(r->counters, r->ncounters, r->counters_cap);
	r->counters[r->ncounters] = (struct counter){key, value};
	id_table_put(&r->counter_ids, x, r->ncounters++);
	return 0;
}

static void add_comment(struct result *r, uint32_t comment)
{
	uint64_t x = hash_u64(1, comment);
	uint32_t id;
	size_t s;

	for (s = id_table_first(&r->comment_ids, x);
	     (id = id_table_at(&r->comment_ids, x, &s)) != ID_NONE; s++) {
		if (r->comments[id] == comment)
			return;
	}
	XGROW(r->comments, r->ncomments, r->comments_cap);
	r->comments[r->ncomments] = comment;
	id_table_put(&r->comment_ids, x, r->ncomments++);
}

static int add_comments(struct merger *m, struct result *r, const struct header *h,
			int64_t times, struct err *e)
{
	bool counted = false;
	int64_t value;
	uint32_t key;
	size_t i;
	int ret;

	for (i = 0; i < h->ncomments; i++) {
		if (!parse_counter(m->st, h->comments[i], &key, &value)) {
			add_comment(r, h->comments[i]);
			continue;
		}
		counted |= key == m->merged_key;
		if (__builtin_mul_overflow(value, times, &value))
			return err_set(e, EOVERFLOW, "comment %s does not fit 64 bits",
				       store_cstr(m->st, key));
		ret = add_counter(m, r, key, value, e);
		if (ret < 0)
			return ret;
	}
	return counted ? 0 : add_counter(m, r, m->merged_key, times, e);
}

/* Of two texts the least in byte order that is not empty: no order of arrival shows. */
static uint32_t least_text(const struct store *st, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	return str_cmp(store_str(st, a), store_str(st, b)) <= 0 ? a : b;
}

static int add_header(struct merger *m, struct result *r, const struct header *in,
		      int64_t times, struct err *e)
{
	struct header *h = &r->p->h;
	int64_t duration_ns;

	if (in->time_ns && (!h->time_ns || in->time_ns < h->time_ns))
		h->time_ns = in->time_ns;
	if (__builtin_mul_overflow(in->duration_ns, times, &duration_ns) ||
	    __builtin_add_overflow(h->duration_ns, duration_ns, &h->duration_ns))
		return err_set(e, EOVERFLOW, "the sum of durations does not fit 64 bits");
	if (h->period != in->period)
		h->period = 0;
	h->default_type = least_text(m->st, h->default_type, in->default_type);
	h->doc_url = least_text(m->st, h->doc_url, in->doc_url);
	return add_comments(m, r, in, times, e);
}

static int64_t window_of(const struct merger *m, int64_t time_ns)
{
	int64_t w = m->o.window_ns;

	if (w <= 0)
		return 0;
	/* towards the past also before 1970 */
	return time_ns / w - (time_ns % w < 0);
}

/* The message that the reader has open. */
static int add_open(struct merger *m, uint32_t split, const struct merge_opts *o,
		    struct err *e)
{
	struct sample_hooks hooks = o->hooks;
	struct header h = *reader_header(m->reader);
	struct result *r;
	int ret;

	if (o->take && !o->take(o->ctx, m->st, &h))
		return 0;
	r = result_for(m, &h, window_of(m, h.time_ns), split);
	hooks.drop_zero = true;
	ret = reader_into(m->reader, r->p, &hooks, e);
	if (ret < 0 || (o->counts && !o->counts(o->ctx)))
		return ret;
	return add_header(m, r, &h, hooks.times > 1 ? hooks.times : 1, e);
}

int merger_add_split(struct merger *m, uint32_t split, const struct merge_opts *o,
		     const uint8_t *msg, size_t n, struct err *e)
{
	int ret = reader_open(m->reader, msg, n, e);

	return ret < 0 ? ret : add_open(m, split, o, e);
}

int merger_add_decoded(struct merger *m, uint32_t split, const struct merge_opts *o,
		       struct message *msg, struct err *e)
{
	reader_open_decoded(m->reader, msg);
	return add_open(m, split, o, e);
}

int merger_add(struct merger *m, const uint8_t *msg, size_t n, struct err *e)
{
	return merger_add_split(m, 0, &m->o, msg, n, e);
}

static int cmp_text(const struct store *st, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(store_str(st, a), store_str(st, b));
}

static int cmp_comment(const void *a, const void *b, void *st)
{
	return cmp_text(st, *(const uint32_t *)a, *(const uint32_t *)b);
}

static void finish_comments(struct merger *m, struct result *r)
{
	struct header *h = &r->p->h;
	size_t i;
	char *text;

	free(h->comments);
	h->comments = xmalloc((r->ncomments + r->ncounters + 1) * sizeof(*h->comments));
	if (r->ncomments)
		memcpy(h->comments, r->comments, r->ncomments * sizeof(*h->comments));
	h->ncomments = r->ncomments;
	for (i = 0; i < r->ncounters; i++) {
		text = xasprintf(COMMENT_PREFIX "%s=%" PRId64,
				 store_cstr(m->st, r->counters[i].key),
				 r->counters[i].sum);
		h->comments[h->ncomments++] = store_puts(m->st, text);
		free(text);
	}
	qsort_r(h->comments, h->ncomments, sizeof(*h->comments), cmp_comment, m->st);
}

static int cmp_header(const struct store *st, const struct header *a,
		      const struct header *b)
{
	int c = cmp_text(st, a->period_type.type, b->period_type.type);
	size_t i;

	if (!c)
		c = cmp_text(st, a->period_type.unit, b->period_type.unit);
	for (i = 0; !c && i < a->ntypes && i < b->ntypes; i++) {
		c = cmp_text(st, a->types[i].type, b->types[i].type);
		if (!c)
			c = cmp_text(st, a->types[i].unit, b->types[i].unit);
	}
	if (!c)
		c = (a->ntypes > b->ntypes) - (a->ntypes < b->ntypes);
	if (!c)
		c = cmp_text(st, a->drop_frames, b->drop_frames);
	return c ? c : cmp_text(st, a->keep_frames, b->keep_frames);
}

static int cmp_split(const struct store *st, const struct result *x,
		     const struct result *y)
{
	int c = cmp_header(st, &x->p->h, &y->p->h);

	return c ? c : (x->split > y->split) - (x->split < y->split);
}

static int cmp_result(const void *a, const void *b, void *st)
{
	const struct result *x = a, *y = b;
	int c = (x->p->h.time_ns > y->p->h.time_ns) - (x->p->h.time_ns < y->p->h.time_ns);

	return c ? c : cmp_split(st, x, y);
}

/* In a window, types come in a fixed order however their times differ. */
static int cmp_windowed(const void *a, const void *b, void *st)
{
	const struct result *x = a, *y = b;
	int c = (x->window > y->window) - (x->window < y->window);

	return c ? c : cmp_split(st, x, y);
}

struct profile **merger_results(struct merger *m, size_t *n)
{
	size_t i;

	/* the table of results speaks of places that are about to change */
	id_table_clear(&m->result_ids);
	if (m->nresults)
		qsort_r(m->results, m->nresults, sizeof(*m->results),
			m->o.window_ns > 0 ? cmp_windowed : cmp_result, m->st);
	free(m->sorted);
	m->sorted = xmalloc((m->nresults + 1) * sizeof(*m->sorted));
	for (i = 0; i < m->nresults; i++) {
		finish_comments(m, &m->results[i]);
		/* opposite values of different inputs may have come to nothing */
		profile_drop_zero(m->results[i].p);
		m->sorted[i] = m->results[i].p;
	}
	*n = m->nresults;
	return m->sorted;
}

uint32_t merger_split(const struct merger *m, size_t result)
{
	return m->results[result].split;
}
