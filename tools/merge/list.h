/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to choose from in a stream, as lines of fields separated by tabs, in byte order.
 * Samples are looked at for labels and selectors only, and never kept.
 */
#pragma once

#include "lib/base/err.h"
#include "lib/pprof/merge.h"
#include "lib/query/query.h"

enum list_kind { LIST_NONE, LIST_LABELS, LIST_VALUES, LIST_TYPES, LIST_RANGES };

struct list;

/* "labels", "values", "types" or "ranges"; else LIST_NONE. */
enum list_kind list_kind(const char *name);

struct list *list_new(enum list_kind kind, struct query *q);
void list_free(struct list *l);

/* Make a merger collect into l, and no results. */
void list_hook(struct list *l, struct merge_opts *mo);

/* The lines to the file or, where that is NULL, to standard output. */
int list_write(struct list *l, struct merger *m, const char *file, struct err *e);
