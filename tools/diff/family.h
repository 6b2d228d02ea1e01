/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More to test than functions: the values of a label, and the subtrees of the calling tree. Each
 * kind is a family of tests, corrected by itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "tools/diff/compare.h"
#include "tools/diff/labels.h"
#include "tools/diff/verdict.h"

/* What --by asks for. */
struct family_specs {
	const char **labels; /* keys */
	size_t nlabels, labels_cap;
	bool subtrees;
};

/* "label:KEY", or KEY alone, or "subtree". */
int family_parse(struct family_specs *s, const char *text, struct err *e);
void family_specs_release(struct family_specs *s);

struct item {
	struct str name; /* the label's value, "" without; "main > f" of a subtree */
	uint32_t *path;	 /* subtrees: frames, outermost first; owned */
	size_t depth;
	struct amount amount;
	struct finding finding;
	bool is_root; /* no one subtree of it explains its change */
};

struct family {
	const char *label; /* key; NULL: subtrees */
	struct item *v;	   /* largest change first; of subtrees only what was tested */
	size_t n;
};

struct families {
	struct family *v;
	size_t n;
	struct arena names;
};

void families_init(struct families *f, const struct family_specs *specs,
		   struct comparison *c, struct verdicts *v, struct label_groups *groups);
void families_release(struct families *f);
