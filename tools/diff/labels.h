/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of samples as texts: numbers are compared as decimal text, as in selectors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pprof/model.h"

/* The first value of a key, as a string of the store; ID_NONE without. */
uint32_t label_value(struct store *st, uint32_t labelset, const char *key);

/* One of the values of the key is this one. */
bool label_has(struct store *st, uint32_t labelset, const char *key, const char *value);

/* Which run or host the samples of a label set are of: labels run, host, node. */
struct sources {
	uint32_t *by_set; /* string id + 1, ID_NONE: no such label, 0: not yet known */
	size_t n;
};

uint32_t sources_of(struct sources *s, struct store *st, uint32_t labelset);
void sources_release(struct sources *s);

/* The values of some keys, each under a dense number; "" where a sample does not have the key. */
struct label_group {
	size_t key;	/* index in keys */
	uint32_t value; /* string id */
};

struct label_groups {
	const char *const *keys;
	size_t nkeys;
	struct label_group *v;
	size_t n, cap;
	struct id_table ids;
	uint32_t *by_set; /* by label set and key: group + 1, 0: not yet known */
	size_t nsets;
};

size_t label_group_of(struct label_groups *g, struct store *st, uint32_t labelset,
		      size_t key);
void label_groups_release(struct label_groups *g);
