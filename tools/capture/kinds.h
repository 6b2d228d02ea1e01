/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of events: what they are called, and which profile type each makes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"
#include "lib/base/err.h"
#include "tools/capture/labellist.h"

#define KIND_BIT(kind) (UINT32_C(1) << (kind))

struct kind {
	const char *name; /* of -e, and for {type} */
	const char *help;
	struct {
		const char *type, *unit;
	} types[4];
	size_t ntypes;
	size_t main; /* the default type, and that of the period */
};

extern const struct kind kinds[KINDS];

#define ALLOC_TYPES_LIVE 4 /* of KIND_ALLOC, if frees are traced; else the first two */

/* What has to be recorded for profiles of these kinds. Both are bits. */
uint32_t kinds_sources(uint32_t set);

/* Add the kinds of a comma-separated list, as bits; unknown ones are named in e. */
int kinds_choose(const char *list, uint32_t *set, struct err *e);

/* Why this kernel has no such events; NULL: it has. */
const char *kind_missing(enum event_kind kind);

/* Labels of what happened. */
void kind_put_labels(struct label_list *l, const struct sample_head *h);
