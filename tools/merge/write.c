/* SPDX-License-Identifier: Apache-2.0 */
/* Writing results. */
#include "tools/merge/write.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/io/output.h"
#include "lib/pprof/writer.h"
#include "lib/query/rooted.h"
#include "tools/merge/minus.h"
#include "tools/merge/outname.h"
#include "tools/merge/read.h"
#include "tools/merge/scale.h"
#include "tools/merge/split.h"
#include "tools/merge/trim.h"

/* A profile to be written, and where to. */
struct piece {
	char *name; /* of the file; NULL: there is one output */
	size_t result, part;
	size_t no; /* order within a file */
};

struct writing {
	const struct options *o;
	struct profile **results;
	struct split *splits; /* of each result; NULL without --split-by */
	size_t n;
	struct piece *pieces;
	size_t npieces, pieces_cap;
};

/* What is done to each profile that is written. */
static int shape(const struct options *o, struct profile *p, struct err *e)
{
	int r = 0;

	if (o->trim > 0 || o->max_stacks)
		r = trim(p, o->trim, o->max_stacks, e);
	if (!r && (o->factor.num || o->scale_to != SCALE_TO_SUM))
		r = scale(p, o->factor, o->scale_to, e);
	return r;
}

static int write_piece(const struct writing *w, const struct piece *piece,
		       struct output *out, struct err *e)
{
	struct profile *p =
		w->splits ? split_profile(&w->splits[piece->result], piece->part)
			  : w->results[piece->result];
	int r = w->splits ? shape(w->o, p, e) : 0;

	if (!r)
		r = profile_write(p, out, e);
	if (w->splits)
		profile_free(p);
	return r;
}

/* Pieces i.. of one name into one output; nothing is left of it on failure. */
static int write_file(const struct writing *w, size_t i, size_t end, const char *path,
		      struct err *e)
{
	struct output *out;
	int r = output_open(path, true, &out, e);

	if (r < 0)
		return r;
	for (; i < end && !r; i++)
		r = write_piece(w, &w->pieces[i], out, e);
	if (!r)
		return output_commit(out, e);
	output_abort(out);
	return r;
}

static const char *type_name(const struct profile *p)
{
	return store_cstr(p->store, p->h.types[profile_default_type(p)].type);
}

static char *name_of(const struct writing *w, const struct split *s, size_t part,
		     struct err *e)
{
	const struct profile *p = s->p;
	struct str *values = xcalloc(s->nkeys, sizeof(*values));
	struct buf name = BUF_INIT(PATH_MAX - 1);
	struct outname parts = {.keys = w->o->split_by.v,
				.nkeys = s->nkeys,
				.values = values,
				.type = type_name(p),
				.time_ns = p->h.time_ns};
	char *result = NULL;
	size_t k;

	for (k = 0; k < s->nkeys; k++)
		values[k] = store_str(p->store, s->parts[part].values[k]);
	outname_make(&name, w->o->cli.output, &parts);
	if (name.overflow)
		err_set(e, ENAMETOOLONG, "--split-by: the name of a file is too long");
	else
		result = xstrdup(buf_str(&name));
	buf_release(&name);
	free(values);
	return result;
}

static int list_pieces(struct writing *w, struct err *e)
{
	bool named = w->splits && outname_is_pattern(w->o->cli.output);
	size_t i, k, parts;
	struct piece *p;

	for (i = 0; i < w->n; i++) {
		parts = w->splits ? w->splits[i].nparts : 1;
		for (k = 0; k < parts; k++) {
			XGROW(w->pieces, w->npieces, w->pieces_cap);
			p = &w->pieces[w->npieces];
			*p = (struct piece){.result = i, .part = k, .no = w->npieces};
			w->npieces++;
			if (named && !(p->name = name_of(w, &w->splits[i], k, e)))
				return -e->code;
		}
	}
	return 0;
}

static int cmp_piece(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->no > y->no) - (x->no < y->no);
}

/* Pieces of one file must be of the same values: "{a}{b}" makes one name of x, yz and xy, z. */
static int check_same(const struct writing *w, const struct piece *a,
		      const struct piece *b, struct err *e)
{
	const struct split_part *x = &w->splits[a->result].parts[a->part];
	const struct split_part *y = &w->splits[b->result].parts[b->part];

	if (!memcmp(x->values, y->values, w->splits->nkeys * sizeof(*x->values)))
		return 0;
	return err_set(e, EEXIST, "--output: different values would both go to %s",
		       a->name);
}

/* One file after another, so that one is open at a time. */
static int write_files(struct writing *w, struct err *e)
{
	size_t i, end;
	int r = 0;

	qsort(w->pieces, w->npieces, sizeof(*w->pieces), cmp_piece);
	for (i = 1; i < w->npieces && !r; i++) {
		if (!strcmp(w->pieces[i - 1].name, w->pieces[i].name))
			r = check_same(w, &w->pieces[i - 1], &w->pieces[i], e);
	}
	for (i = 0; i < w->npieces && !r; i = end) {
		for (end = i + 1;
		     end < w->npieces && !strcmp(w->pieces[i].name, w->pieces[end].name);
		     end++)
			;
		r = outname_directories(w->o->cli.output, w->pieces[i].name, e);
		if (!r)
			r = write_file(w, i, end, w->pieces[i].name, e);
	}
	return r;
}

static int write_pieces(struct writing *w, struct err *e)
{
	int r = list_pieces(w, e);

	if (r)
		return r;
	if (w->splits && !w->npieces)
		return err_set(e, ENODATA, "--split-by: there is no sample");
	if (w->npieces && w->pieces[0].name)
		return write_files(w, e);
	return write_file(w, 0, w->npieces, w->o->cli.output, e);
}

/* --minus: what was read for it leaves the results, and is taken off the rest. */
static int take_off_all(struct writing *w, struct merger *m, struct err *e)
{
	struct profile **base = xcalloc(w->n + 1, sizeof(struct profile *));
	size_t nbase = 0, n = 0, i, k;
	const char *fell;
	int r = 0;

	for (i = 0; i < w->n; i++) {
		if (merger_split(m, i) == READ_MINUS)
			base[nbase++] = w->results[i];
		else
			w->results[n++] = w->results[i];
	}
	w->n = n;
	for (i = 0; i < n && w->o->minus.n && !r; i++) {
		for (k = 0; k < nbase; k++) {
			if (header_same_type(&base[k]->h, &w->results[i]->h))
				break;
		}
		if (k == nbase) {
			cli_note(&w->o->cli, "--minus has no profile of the type %s",
				 type_name(w->results[i]));
			continue;
		}
		fell = NULL;
		r = minus(w->results[i], base[k], &fell, e);
		if (fell)
			cli_note(&w->o->cli,
				 "%s fell, so its process has started anew: all of it "
				 "counts",
				 fell);
	}
	free(base);
	return r;
}

int write_results(const struct options *o, struct merger *m, struct err *e)
{
	struct writing w = {.o = o};
	size_t i;
	int r;

	w.results = merger_results(m, &w.n);
	r = take_off_all(&w, m, e);
	for (i = 0; i < w.n && o->root_by.n && !r; i++)
		r = profile_root_by(w.results[i], o->root_by.v, o->root_by.n, e);
	if (o->split_by.n) {
		w.splits = xcalloc(w.n + 1, sizeof(*w.splits));
		for (i = 0; i < w.n && !r; i++)
			split_init(&w.splits[i], w.results[i], o->split_by.v,
				   o->split_by.n);
	}
	/* before anything is written, where that can be */
	for (i = 0; i < w.n && !w.splits && !r; i++)
		r = shape(o, w.results[i], e);
	if (!r)
		r = write_pieces(&w, e);
	for (i = 0; i < w.n && w.splits; i++)
		split_release(&w.splits[i]);
	for (i = 0; i < w.npieces; i++)
		free(w.pieces[i].name);
	free(w.splits);
	free(w.pieces);
	return r;
}
