/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels that samples get by the profile they are in: what the name of its file says, and which
 * replicate it belongs to. Inside lib/query only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/pprof/model.h"
#include "lib/query/regex.h"
#include "lib/query/stack.h"

struct extra {
	struct regex *name; /* its groups are labels; or NULL */
	uint32_t replicates;
	char *replicate_key; /* the label whose value decides; NULL: time does */
	/* of the profile at hand */
	char *file;
	char **values; /* of the groups, NULL: no part of the match */
	uint32_t replicate;
	bool matched, missed; /* a name was matched; one was not */
	/* label sets done in this profile: by id, valid where `round` says so */
	struct memo sets, rounds;
	uint32_t round;
};

void extra_release(struct extra *x);
void extra_reset(struct extra *x); /* forget the store */
static inline bool extra_active(const struct extra *x)
{
	return x->name || x->replicates;
}

int extra_set_name(struct extra *x, const char *re, struct err *e);
void extra_set_replicates(struct extra *x, uint32_t n, const char *key);

/* The profiles to come are of this file; the samples to come of a profile of this time. */
void extra_file(struct extra *x, const char *file);
void extra_time(struct extra *x, int64_t time_ns);

uint32_t extra_labelset(struct extra *x, struct store *st, uint32_t set);
