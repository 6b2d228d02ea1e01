/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -f speedscope: the file format of www.speedscope.app (file-format-schema.json): frames shared
 * by all profiles, and per sample type a list of stacks, root first, with their weights.
 *
 * A weight must not be negative: a difference is its base and its new side.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/ui/escape.h"
#include "tools/render/report.h"

/* Whose samples: of a profile with negative values the two are told apart by sign. */
enum half { HALF_NEW, HALF_BASE };

struct speedscope {
	const struct report *r; /* what is being written */
	struct frames frames;
	struct weights weights;
	size_t first_frame; /* of this report, among all */
	uint32_t *rank;	    /* by frame id: place among the names */
	uint32_t *order;    /* of weights: by path */
	size_t nprofiles;
	struct buf *out;
	struct buf profiles;
};

static void put_string(struct buf *out, struct str s)
{
	buf_putc(out, '"');
	escape_json(out, s.p, s.n);
	buf_putc(out, '"');
}

/* --- frames ----------------------------------------------------------------------------- */

struct named {
	uint32_t frame;
	struct str name;
};

static int cmp_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = str_cmp(x->name, y->name);

	return c ? c : (x->frame > y->frame) - (x->frame < y->frame);
}

static void put_frame(struct speedscope *s, const struct named *n)
{
	const struct frame *f = &s->frames.v[n->frame];
	const struct store *st = s->r->p->store;

	buf_puts(s->out,
		 s->first_frame || s->rank[n->frame] ? ",\n{\"name\":" : "\n{\"name\":");
	put_string(s->out, n->name);
	if (f->where_file) {
		buf_puts(s->out, ",\"file\":");
		put_string(s->out, store_str(st, f->where_file));
		if (f->where_line > 0)
			buf_printf(s->out, ",\"line\":%" PRId64, f->where_line);
	}
	buf_putc(s->out, '}');
}

/* Make and write all frames of the report, in the order of their names. */
static void put_frames(struct speedscope *s)
{
	const struct profile *p = s->r->p;
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct arena arena = {0};
	struct named *v;
	uint32_t n, k, i;
	const uint32_t *locations;
	size_t w;

	for (w = 0; w < s->weights.n; w++) {
		locations = store_frames(p->store, s->weights.v[w].stack, &n);
		for (i = 0; i < n; i++)
			frames_of(&s->frames, locations[i], &k);
	}
	v = xcalloc(s->frames.n + 1, sizeof(*v));
	s->rank = xcalloc(s->frames.n + 1, sizeof(*s->rank));
	for (i = 0; i < s->frames.n; i++) {
		buf_clear(&b);
		frames_name(&s->frames, i, &b);
		v[i].frame = i;
		v[i].name.p = arena_bytes(&arena, b.data, b.len);
		v[i].name.n = (uint32_t)b.len;
	}
	qsort(v, s->frames.n, sizeof(*v), cmp_named);
	for (i = 0; i < s->frames.n; i++)
		s->rank[v[i].frame] = i;
	for (i = 0; i < s->frames.n; i++)
		put_frame(s, &v[i]);
	arena_release(&arena);
	free(v);
	buf_release(&b);
}

/* --- stacks ----------------------------------------------------------------------------- */

/* Steps through the frames of a stack, root first. */
struct path {
	struct frames *frames;
	const uint32_t *locations, *ids;
	uint32_t left, n, at;
};

static void path_begin(struct path *p, struct speedscope *s, uint32_t stack)
{
	*p = (struct path){.frames = &s->frames};
	p->locations = store_frames(s->r->p->store, stack, &p->left);
}

static bool path_next(struct path *p, uint32_t *frame)
{
	while (p->at == p->n) {
		if (!p->left)
			return false;
		p->ids = frames_of(p->frames, p->locations[--p->left], &p->n);
		p->at = 0;
	}
	*frame = p->ids[p->at++];
	return true;
}

static int cmp_weights(const void *a, const void *b, void *ctx)
{
	struct speedscope *s = ctx;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b, fx, fy;
	struct path x, y;

	path_begin(&x, s, s->weights.v[ia].stack);
	path_begin(&y, s, s->weights.v[ib].stack);
	/* most stacks share their callers: those need not be looked into */
	while (x.left && y.left && x.locations[x.left - 1] == y.locations[y.left - 1]) {
		x.left--;
		y.left--;
	}
	while (path_next(&x, &fx)) {
		if (!path_next(&y, &fy))
			return 1;
		if (fx != fy)
			return s->rank[fx] < s->rank[fy] ? -1 : 1;
	}
	return path_next(&y, &fy) ? -1 : (ia > ib) - (ia < ib);
}

static int64_t half_of(const struct weight *w, enum half half)
{
	return half == HALF_NEW ? w->plus : -w->minus;
}

static void put_samples(struct speedscope *s, enum half half)
{
	bool first = true, first_in_stack;
	struct path path;
	uint32_t frame;
	size_t i;

	for (i = 0; i < s->weights.n; i++) {
		const struct weight *w = &s->weights.v[s->order[i]];

		if (!half_of(w, half))
			continue;
		buf_puts(&s->profiles, first ? "\n[" : ",\n[");
		first = false;
		first_in_stack = true;
		path_begin(&path, s, w->stack);
		while (path_next(&path, &frame)) {
			buf_printf(&s->profiles, "%s%zu", first_in_stack ? "" : ",",
				   s->first_frame + s->rank[frame]);
			first_in_stack = false;
		}
		buf_putc(&s->profiles, ']');
	}
}

static int64_t put_weights(struct speedscope *s, enum half half)
{
	const char *comma = "";
	int64_t sum = 0, v;
	size_t i;

	for (i = 0; i < s->weights.n; i++) {
		v = half_of(&s->weights.v[s->order[i]], half);
		if (!v)
			continue;
		buf_printf(&s->profiles, "%s%" PRId64, comma, v);
		comma = ",";
		sum += v;
	}
	return sum;
}

/* The units that the format knows; all others are bare numbers. */
static const char *unit_of(const char *unit)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds",
					    "seconds", "bytes"};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(unit, known[i]))
			return known[i];
	}
	return "none";
}

static void put_half(struct speedscope *s, enum half half, const char *suffix)
{
	const struct store *st = s->r->p->store;
	const struct value_type *t = &s->r->p->h.types[s->r->column];
	struct str type = store_str(st, t->type);
	int64_t sum;

	buf_puts(&s->profiles, s->nprofiles++ ? ",\n" : "\n");
	buf_puts(&s->profiles, "{\"type\":\"sampled\",\"name\":\"");
	escape_json(&s->profiles, type.p, type.n);
	buf_printf(&s->profiles, "%s\",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		   suffix, unit_of(store_cstr(st, t->unit)));
	put_samples(s, half);
	buf_puts(&s->profiles, "],\n\"weights\":[");
	sum = put_weights(s, half);
	buf_printf(&s->profiles, "],\"endValue\":%" PRId64 "}", sum);
}

static void put_profiles(struct speedscope *s)
{
	size_t i;

	s->order = xcalloc(s->weights.n + 1, sizeof(*s->order));
	for (i = 0; i < s->weights.n; i++)
		s->order[i] = (uint32_t)i;
	qsort_r(s->order, s->weights.n, sizeof(*s->order), cmp_weights, s);
	if (s->weights.is_diff) {
		put_half(s, HALF_BASE, " (base)");
		put_half(s, HALF_NEW, " (new)");
	} else {
		put_half(s, HALF_NEW, "");
		if (s->weights.has_negative)
			put_half(s, HALF_BASE, " (negative values)");
	}
	free(s->order);
}

static int put_column(struct speedscope *s, const struct report *r, struct err *e)
{
	int ret;

	s->r = r;
	frames_init(&s->frames, r->p, r->o->granularity);
	ret = weights_init(&s->weights, r->q, r->p, r->column, e);
	if (!ret) {
		put_frames(s);
		put_profiles(s);
	}
	s->first_frame += s->frames.n;
	free(s->rank);
	s->rank = NULL;
	weights_release(&s->weights);
	frames_release(&s->frames);
	return ret;
}

/* The default type first; of several profile types the rest follow. */
static int put_report(struct speedscope *s, const struct report *r, struct err *e)
{
	struct report other = *r;
	int ret = put_column(s, r, e);
	size_t i;

	for (i = 0; i < r->p->h.ntypes && !ret && !query_has_type(r->q); i++) {
		other.column = i;
		if (i != r->column)
			ret = put_column(s, &other, e);
	}
	return ret;
}

int report_speedscope(const struct report *r, size_t n, struct buf *out, struct err *e)
{
	struct speedscope s = {.out = out, .profiles = BUF_INIT(SIZE_MAX / 2)};
	const char *title = r->o->title ? r->o->title : "profile";
	size_t i;
	int ret = 0;

	buf_puts(out,
		 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		 "\"exporter\":\"profpipe\",\"name\":");
	put_string(out, (struct str){title, (uint32_t)strlen(title)});
	buf_puts(out, ",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[");
	for (i = 0; i < n && !ret; i++)
		ret = put_report(&s, &r[i], e);
	buf_puts(out, "]},\n\"profiles\":[");
	buf_put(out, s.profiles.data, s.profiles.len);
	out->overflow |= s.profiles.overflow;
	buf_puts(out, "]}\n");
	buf_release(&s.profiles);
	return ret;
}
