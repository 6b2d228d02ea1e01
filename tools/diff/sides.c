/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the two sides. */
#include "tools/diff/sides.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/source.h"
#include "lib/ui/input.h"
#include "tools/diff/convert.h"
#include "tools/diff/cumulative.h"
#include "tools/diff/overlap.h"

/* A file with less than this share of both sides says nothing about their being equal. */
#define BUILD_SHARE_MIN 0.01

static const char *const side_names[SIDES] = {"base", "new"};

/* What becomes of a message on its way to one side: its own selector, then the common query. */
struct intake {
	struct merger *merger;
	enum side side;
	struct query *own, *common; /* own: NULL without selectors */
	struct sample_hooks own_hooks, common_hooks;
	struct names *names;
	struct replicas *replicas;
	struct overlap *overlap; /* of both sides */
	const struct source *source;
	size_t taken, left_out;
	bool seen;     /* a profile */
	bool has_type; /* what -t asks for, in one of its profiles */
	bool chosen;   /* a sample of the message by the side's own selector */
	bool open;     /* its message is being read into a replicate */
};

static uint32_t take_labelset(void *ctx, struct store *st, uint32_t set)
{
	struct intake *in = ctx;

	if (in->own_hooks.labelset) {
		set = in->own_hooks.labelset(in->own_hooks.ctx, st, set);
		in->chosen |= set != SAMPLE_DROP;
	}
	if (set != SAMPLE_DROP && in->common_hooks.labelset)
		set = in->common_hooks.labelset(in->common_hooks.ctx, st, set);
	return set;
}

static uint32_t take_stack(void *ctx, struct store *st, uint32_t stack)
{
	const struct intake *in = ctx;

	if (in->common_hooks.stack)
		stack = in->common_hooks.stack(in->common_hooks.ctx, st, stack);
	return stack == SAMPLE_DROP || !in->names ? stack
						  : names_stack(in->names, st, stack);
}

static void take_sample(void *ctx, uint32_t stack, uint32_t labelset,
			const int64_t *values)
{
	const struct intake *in = ctx;

	replicas_add(in->replicas, stack, labelset, values);
	overlap_sample(in->overlap, stack, labelset, values);
}

static int take_header(void *ctx, struct store *st, struct header *h)
{
	struct intake *in = ctx;
	int column = query_type_index(in->common, st, h);

	in->seen = true;
	in->has_type |= column >= 0;
	if (!query_take(in->common, st, h) || (in->own && !query_take(in->own, st, h))) {
		in->left_out++;
		return 0;
	}
	in->taken++;
	in->open = true;
	/* what is taken may have another time and type by now */
	column = query_type_index(in->common, st, h);
	replicas_open(in->replicas, in->side, st, h, (size_t)column,
		      source_name(in->source));
	overlap_open(in->overlap, in->side, h, store_cstr(st, h->types[column].type));
	return 1;
}

/* Of one stream, a profile without a sample of a side says nothing about it: not its time. */
static bool is_of_side(void *ctx)
{
	const struct intake *in = ctx;

	return !in->own || in->chosen;
}

static int add_to_side(void *ctx, const uint8_t *msg, size_t n, struct err *e)
{
	struct intake *in = ctx;
	struct merge_opts o = {.take = take_header, .counts = is_of_side, .ctx = in};

	int r;

	in->chosen = in->open = false;
	o.hooks.ctx = in;
	o.hooks.labelset = take_labelset;
	o.hooks.stack = in->common_hooks.stack || in->names ? take_stack : NULL;
	o.hooks.sample = take_sample;
	r = merger_add_split(in->merger, in->side, &o, msg, n, e);
	if (in->open) {
		replicas_close(in->replicas, !r && is_of_side(in));
		overlap_close(in->overlap, !r && is_of_side(in));
	}
	return r;
}

static int add_to_both(void *ctx, const uint8_t *msg, size_t n, struct err *e)
{
	struct intake *in = ctx;
	int r = add_to_side(&in[SIDE_BASE], msg, n, e);

	return r ? r : add_to_side(&in[SIDE_NEW], msg, n, e);
}

/* What comes before a side: differences of counters, with --delta. */
struct inlet {
	struct cumulative *cumulative; /* NULL without */
	struct buf buf;
	enum side side;
	int (*add)(void *, const uint8_t *, size_t, struct err *);
	struct intake *in;
};

static int take_message(void *ctx, const uint8_t *msg, size_t n, struct err *e)
{
	struct inlet *let = ctx;
	int r = 0;

	if (let->cumulative)
		r = cumulative_step(let->cumulative, let->side, &msg, &n, &let->buf, e);
	return r || !n ? r : let->add(let->in, msg, n, e);
}

static int read_files(const struct sides_opts *o, const struct operands *files,
		      struct inlet *let, size_t nin, struct err *e)
{
	struct source *s = source_new(files->v, files->n, o->cli->max_size);
	size_t good, i;
	int r;

	let->buf = BUF_INIT(SIZE_MAX / 2);
	for (i = 0; i < nin; i++)
		let->in[i].source = s;
	r = input_read(o->cli, s, take_message, let, &good, e);
	buf_release(&let->buf);
	source_free(s);
	return r;
}

/* "cpu/nanoseconds by wall/nanoseconds" of a profile. */
static void put_type(struct buf *b, const struct store *st, const struct header *h)
{
	size_t i;

	for (i = 0; i < h->ntypes; i++)
		buf_printf(b, "%s%s/%s", i ? "," : "", store_cstr(st, h->types[i].type),
			   store_cstr(st, h->types[i].unit));
	if (h->period_type.type)
		buf_printf(b, " per %s/%s", store_cstr(st, h->period_type.type),
			   store_cstr(st, h->period_type.unit));
	if (h->drop_frames)
		buf_printf(b, " dropping %s", store_cstr(st, h->drop_frames));
	if (h->keep_frames)
		buf_printf(b, " keeping %s", store_cstr(st, h->keep_frames));
}

/* For each mapping, the sum of the first value over all stacks it is in; and of all stacks. */
static double *sums_of(const struct profile *p, double *total)
{
	const struct store *st = p->store;
	double *sum = xcalloc(st->nmappings + 1, sizeof(*sum));
	size_t *seen = xcalloc(st->nmappings + 1, sizeof(*seen)), i;
	const uint32_t *locations;
	uint32_t n, k, mapping;
	double value;

	*total = 0;
	for (i = 0; i < p->nsamples; i++) {
		value = fabs((double)profile_values(p, i)[0]);
		*total += value;
		locations = store_frames(st, p->samples[i].stack, &n);
		for (k = 0; k < n; k++) {
			mapping = st->locations[locations[k]].mapping;
			if (mapping == ID_NONE || seen[mapping] == i + 1)
				continue;
			seen[mapping] = i + 1;
			sum[mapping] += value;
		}
	}
	free(seen);
	return sum;
}

bool pair_same_build(const struct pair *pair)
{
	const struct profile *p = pair->side[SIDE_BASE];
	double *sum[SIDES], total[SIDES];
	bool same = true, any = false;
	const struct mapping *m;
	uint32_t i;

	sum[SIDE_BASE] = sums_of(p, &total[SIDE_BASE]);
	sum[SIDE_NEW] = sums_of(pair->side[SIDE_NEW], &total[SIDE_NEW]);
	for (i = 0; i < p->store->nmappings && same; i++) {
		if (sum[SIDE_BASE][i] <= total[SIDE_BASE] * BUILD_SHARE_MIN &&
		    sum[SIDE_NEW][i] <= total[SIDE_NEW] * BUILD_SHARE_MIN)
			continue;
		m = &p->store->mappings[i];
		if (store_is_kernel_mapping(p->store, m))
			continue;
		same = m->build_id && sum[SIDE_BASE][i] > 0 && sum[SIDE_NEW][i] > 0;
		any = true;
	}
	free(sum[SIDE_BASE]);
	free(sum[SIDE_NEW]);
	return same && any;
}

static size_t profiles_in(const struct profile *p)
{
	static const char merged[] = "profpipe: merged=";
	size_t i;

	for (i = 0; i < p->h.ncomments; i++) {
		const char *text = store_cstr(p->store, p->h.comments[i]);

		if (!strncmp(text, merged, sizeof(merged) - 1))
			return strtoull(text + sizeof(merged) - 1, NULL, 10);
	}
	return 1;
}

static int no_common_type(struct merger *m, struct profile **v, size_t n, struct err *e)
{
	struct buf text[SIDES] = {BUF_INIT(400), BUF_INIT(400)};
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		struct buf *b = &text[merger_split(m, i)];

		if (b->len)
			buf_puts(b, "; ");
		put_type(b, v[i]->store, &v[i]->h);
	}
	r = err_set(e, EINVAL, "no profile type in common: base has %s; new has %s",
		    buf_str(&text[SIDE_BASE]), buf_str(&text[SIDE_NEW]));
	buf_release(&text[SIDE_BASE]);
	buf_release(&text[SIDE_NEW]);
	return r;
}

void lonely_text(const struct lonely *l, struct buf *b)
{
	buf_printf(b, "only in %s, not compared: ", side_names[l->side]);
	put_type(b, l->p->store, &l->p->h);
}

static void add_lonely(struct sides *s, const struct sides_opts *o,
		       const struct profile *p, enum side side)
{
	struct buf b = BUF_INIT(400);

	s->lonely[s->nlonely] = (struct lonely){side, p};
	lonely_text(&s->lonely[s->nlonely++], &b);
	cli_note(o->cli, "%s", buf_str(&b));
	buf_release(&b);
}

static bool same_type(const struct profile *a, const struct profile *b)
{
	return header_same_type(&a->h, &b->h);
}

/* Partners for what has none yet. */
static void find_partners(struct sides *s, struct profile **v, size_t n, bool *paired,
			  bool (*fits)(const struct profile *, const struct profile *))
{
	struct pair *p;
	size_t i, k;

	for (i = 0; i < n; i++) {
		if (paired[i] || merger_split(s->merger, i) != SIDE_BASE)
			continue;
		for (k = 0; k < n; k++) {
			if (!paired[k] && merger_split(s->merger, k) == SIDE_NEW &&
			    fits(v[i], v[k]))
				break;
		}
		if (k == n)
			continue;
		p = &s->pairs[s->npairs++];
		p->side[SIDE_BASE] = v[i];
		p->side[SIDE_NEW] = v[k];
		p->profiles[SIDE_BASE] = profiles_in(v[i]);
		p->profiles[SIDE_NEW] = profiles_in(v[k]);
		paired[i] = paired[k] = true;
	}
}

/*
 * Results of one type stand together only by accident: look for each base one's partner, first
 * for those of the same units.
 */
static int pair_up(struct sides *s, const struct sides_opts *o, struct err *e)
{
	size_t n, i, alike;
	struct profile **v = merger_results(s->merger, &n);
	bool *paired = xcalloc(n, sizeof(*paired));
	int r = 0;

	s->pairs = xcalloc(n, sizeof(*s->pairs));
	s->lonely = xcalloc(n, sizeof(*s->lonely));
	find_partners(s, v, n, paired, same_type);
	alike = s->npairs;
	find_partners(s, v, n, paired, convert_fits);
	for (i = alike; i < s->npairs && !r; i++)
		r = convert_units(&s->pairs[i], o->replicas, e);
	for (i = 0; i < n && s->npairs; i++) {
		if (!paired[i])
			add_lonely(s, o, v[i], merger_split(s->merger, i));
	}
	free(paired);
	if (!r && !s->npairs)
		r = no_common_type(s->merger, v, n, e);
	return r;
}

static int check_taken(const struct sides_opts *o, const struct intake *in, struct err *e)
{
	int side;

	for (side = 0; side < SIDES; side++) {
		if (in[side].taken)
			continue;
		if (o->delta && !in[side].seen)
			return err_set(e, ENODATA,
				       "%s has one profile of each type: --delta takes "
				       "differences",
				       side_names[side]);
		if (!in[side].has_type)
			return err_set(e, ENODATA, "%s has no profile of type %s",
				       side_names[side], query_type_text(o->query));
		return err_set(e, ENODATA, "%s has no profile in the time asked for",
			       side_names[side]);
	}
	return 0;
}

static int set_up(struct sides *s, const struct sides_opts *o, struct intake *in,
		  struct overlap *overlap, struct err *e)
{
	int side, r;

	for (side = 0; side < SIDES; side++) {
		in[side] = (struct intake){.merger = s->merger,
					   .side = side,
					   .common = o->query,
					   .names = o->names,
					   .replicas = o->replicas,
					   .overlap = overlap};
		in[side].common_hooks = query_hooks(o->query);
		if (!o->selectors[side])
			continue;
		s->query[side] = in[side].own = query_new();
		r = query_add_selector(in[side].own, o->selectors[side], e);
		if (!r && query_has_type(in[side].own))
			r = err_set(e, EINVAL, "a type is for both sides: say it by -t");
		if (r < 0)
			return err_prefix(e, "--%s-select", side_names[side]);
		in[side].own_hooks = query_hooks(in[side].own);
	}
	return 0;
}

static int read_sides(const struct sides_opts *o, struct intake *in, struct err *e)
{
	struct inlet let = {.cumulative = o->delta ? cumulative_new() : NULL};
	int side, r = 0;

	if (o->selectors[SIDE_BASE]) {
		let.add = add_to_both;
		let.in = in;
		r = read_files(o, &o->stream, &let, SIDES, e);
	}
	for (side = 0; side < SIDES && !r && !o->selectors[SIDE_BASE]; side++) {
		let.add = add_to_side;
		let.side = side;
		let.in = &in[side];
		r = read_files(o, &o->files[side], &let, 1, e);
		if (r == -ENODATA)
			err_prefix(e, "%s", side_names[side]);
	}
	cumulative_free(let.cumulative);
	return r;
}

int sides_read(struct sides *s, const struct sides_opts *o, struct err *e)
{
	struct merge_opts mo = {.max_size = o->cli->max_size};
	struct overlap *overlap = overlap_new();
	struct intake in[SIDES] = {0};
	int r;

	*s = (struct sides){0};
	s->merger = merger_new(&mo);
	r = set_up(s, o, in, overlap, e);
	if (!r)
		r = read_sides(o, in, e);
	if (!r)
		r = query_status(o->query, e);
	if (!r)
		r = check_taken(o, in, e);
	if (!r)
		r = pair_up(s, o, e);
	if (!r)
		r = overlap_check(overlap, o->cli, o->self, e);
	s->left_out[SIDE_BASE] = in[SIDE_BASE].left_out;
	s->left_out[SIDE_NEW] = in[SIDE_NEW].left_out;
	overlap_free(overlap);
	return r;
}

void sides_release(struct sides *s)
{
	int side;

	free(s->pairs);
	free(s->lonely);
	merger_free(s->merger);
	for (side = 0; side < SIDES; side++)
		query_free(s->query[side]);
	*s = (struct sides){0};
}
