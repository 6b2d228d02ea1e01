/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What part of a stream a command is about: labels (-s), type (-t), time, stack filters,
 * granularity. One meaning for merge, diff and render; the options are in lib/ui/queryopt.h.
 *
 * A query is filled in through its fields, compiled once, then used through the hooks of
 * lib/pprof: query_hooks() for samples, query_take() for headers. Results per stack and label
 * set are remembered by id, so a query belongs to one store.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/pprof/reader.h"

enum granularity {
	GRANULARITY_KEEP, /* as they are (merge's default) */
	GRANULARITY_FUNCTIONS,
	GRANULARITY_LINES,
	GRANULARITY_FILES,
	GRANULARITY_ADDRESSES, /* as they are, asked for by name */
	GRANULARITY_BINARIES,
};

struct query;

struct query *query_new(void);
void query_free(struct query *q);

/* Forget what was remembered of a store: before going on with another one. */
void query_reset(struct query *q);

/* Each may be called again; texts are compiled at once and errors say where. */
int query_add_selector(struct query *q, const char *text,
		       struct err *e); /* all must hold */
/*
 * NAME, an index into each profile's types, or Parca's NAME:TYPE:UNIT:PTYPE:PUNIT[:delta]. The
 * last one counts. Selectors of the form TYPE{...} set it too.
 */
int query_set_type(struct query *q, const char *text, struct err *e);
void query_set_time(struct query *q, int64_t since_ns,
		    int64_t until_ns); /* [since, until); INT64_MAX is no end */
/* Several of one kind are alternatives, as with grep -e. An empty text is no filter. */
enum stack_filter {
	FILTER_FOCUS,
	FILTER_IGNORE,
	FILTER_SHOW,
	FILTER_HIDE,
	FILTER_SHOW_FROM
};
#define STACK_FILTERS (FILTER_SHOW_FROM + 1)
int query_add_filter(struct query *q, enum stack_filter kind, const char *re,
		     struct err *e);
void query_set_granularity(struct query *q, enum granularity g);
enum granularity query_granularity(const struct query *q);
void query_set_no_inlines(struct query *q);
/* Apply each profile's own drop_frames/keep_frames, as pprof does (render, diff). */
void query_set_stored_frames(struct query *q, bool apply);
/* Label sets keep only these keys / lose these keys (merge --by, --without), then get these. */
void query_set_by(struct query *q, char *const *keys, size_t n);
void query_set_without(struct query *q, char *const *keys, size_t n);
void query_add_label(struct query *q, const char *key, const char *value);

/*
 * Labels that samples have before anything else looks at them. The groups with names of a regular
 * expression, searched in the name of the file (query_file()); in place of others with that key.
 */
int query_set_name_labels(struct query *q, const char *re, struct err *e);
/*
 * replicate=0..n-1, by a hash of the label `key`, or of the profile's time when that is NULL.
 * Samples that have it keep it.
 */
void query_set_replicates(struct query *q, uint32_t n, const char *key);
void query_file(struct query *q, const char *name); /* of the profiles to come */

/* For struct merge_opts: hooks.ctx / ctx is q itself. */
struct sample_hooks query_hooks(struct query *q);
int query_take(void *q, struct store *st, struct header *h);

/*
 * Leave stack filters, granularity and --no-inlines out of the hooks; they are applied by
 * query_filter() later. For reports whose percentages are of the unfiltered total (as pprof's).
 */
void query_defer_filters(struct query *q);
/* The stack as the filters leave it, or SAMPLE_DROP. Remembered by id. */
uint32_t query_filter(struct query *q, struct store *st, uint32_t stack);

/*
 * Index of the column the query is about: what -t says, else the default type. -1 if h has no
 * such type. Two columns of one name are told apart where -t does.
 */
int query_type_index(const struct query *q, const struct store *st,
		     const struct header *h);
bool query_has_type(const struct query *q);

/*
 * When all was read: -ENODATA, saying whether it was the type or the time, if query_take() left
 * every profile out.
 */
int query_taken_status(const struct query *q, struct err *e);
const char *query_type_text(const struct query *q); /* as given, or NULL */

/*
 * To be asked after the samples were read and before anything is written: negative when a
 * regular expression went past its limits, so that what it chose is not to be trusted.
 */
int query_status(const struct query *q, struct err *e);

/* When all is read and filtered: note the selectors and stack filters that nothing fits. */
void query_note_misses(struct query *q);

/* What the user may want to know (a stored drop_frames that does not compile); one line each. */
const char *const *query_notes(const struct query *q, size_t *n);

/* The stack filters given, as "focus=RE", in the order of pprof's report header. */
const char *const *query_filter_texts(const struct query *q, size_t *n);
