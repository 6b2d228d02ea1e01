/* SPDX-License-Identifier: Apache-2.0 */
/* Labels by file name and by replicate. */
#include "lib/query/extra.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/rooted.h"

#define REPLICATE "replicate"

void extra_reset(struct extra *x)
{
	memo_release(&x->sets);
	memo_release(&x->rounds);
	x->round = 0;
}

static void forget_values(struct extra *x)
{
	size_t i;

	for (i = 0; x->name && i < regex_groups(x->name); i++) {
		free(x->values[i]);
		x->values[i] = NULL;
	}
}

void extra_release(struct extra *x)
{
	extra_reset(x);
	forget_values(x);
	regex_free(x->name);
	free(x->values);
	free(x->file);
	free(x->replicate_key);
	*x = (struct extra){0};
}

int extra_set_name(struct extra *x, const char *re, struct err *e)
{
	struct regex *name;
	int r = regex_new(re, strlen(re), false, &name, e);

	if (r)
		return r;
	if (!regex_groups(name)) {
		regex_free(name);
		return err_set(e, EINVAL,
			       "no group with a name, as in \"(?<host>[^/]+)/\"");
	}
	forget_values(x);
	regex_free(x->name);
	free(x->values);
	x->name = name;
	x->values = xcalloc(regex_groups(name), sizeof(*x->values));
	return 0;
}

void extra_set_replicates(struct extra *x, uint32_t n, const char *key)
{
	x->replicates = n;
	free(x->replicate_key);
	x->replicate_key = key ? xstrdup(key) : NULL;
}

/* Another profile: what was made of label sets counts no more. */
static void next_round(struct extra *x)
{
	/* MEMO_UNKNOWN is no round */
	if (++x->round == MEMO_UNKNOWN) {
		memo_release(&x->rounds);
		x->round = 0;
	}
}

void extra_file(struct extra *x, const char *file)
{
	size_t i, from, to;

	if (!x->name || (x->file && !strcmp(x->file, file)))
		return;
	free(x->file);
	x->file = xstrdup(file);
	forget_values(x);
	next_round(x);
	if (!regex_match(x->name, file, strlen(file))) {
		x->missed = true;
		return;
	}
	x->matched = true;
	for (i = 0; i < regex_groups(x->name); i++) {
		if (regex_group(x->name, i, &from, &to))
			x->values[i] = xstrndup(file + from, to - from);
	}
}

/* The same in every run: sums of replicates must fit together. FNV-1a, then mixed. */
static uint32_t replicate_of(const struct extra *x, const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = 0xcbf29ce484222325u;

	while (n--)
		h = (h ^ *b++) * 0x100000001b3u;
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
	return (uint32_t)((h ^ h >> 33) % x->replicates);
}

void extra_time(struct extra *x, int64_t time_ns)
{
	uint8_t bytes[8];
	uint32_t replicate;
	int i;

	if (!x->replicates || x->replicate_key)
		return;
	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)time_ns >> 8 * i);
	replicate = replicate_of(x, bytes, sizeof(bytes));
	if (replicate != x->replicate)
		next_round(x);
	x->replicate = replicate;
}

static bool has_key(const struct store *st, uint32_t set, uint32_t key)
{
	const struct label *l;
	uint32_t n, i;

	l = store_labels(st, set, &n);
	for (i = 0; i < n && l[i].key != key; i++)
		;
	return i < n;
}

/* A replicate that a merge before this one has chosen stays. */
static uint32_t add_replicate(struct extra *x, struct store *st, uint32_t set,
			      struct label *labels, uint32_t n)
{
	struct buf value = BUF_INIT(SIZE_MAX / 2);
	uint32_t key = store_puts(st, REPLICATE), replicate = x->replicate;
	char text[16];

	if (has_key(st, set, key))
		return n;
	if (x->replicate_key) {
		label_values(st, set, x->replicate_key, &value);
		replicate = replicate_of(x, value.data, value.len);
		buf_release(&value);
	}
	snprintf(text, sizeof(text), "%u", replicate);
	labels[n] = (struct label){.key = key, .str = store_puts(st, text)};
	return n + 1;
}

static uint32_t add_labels(struct extra *x, struct store *st, uint32_t set)
{
	size_t groups = x->name ? regex_groups(x->name) : 0, i;
	uint32_t n, k, key;
	struct label *labels;

	n = st->labelsets[set].n;
	labels = xcalloc(n + groups + 2, sizeof(*labels));
	if (n)
		memcpy(labels, st->labels + st->labelsets[set].off, n * sizeof(*labels));
	for (i = 0; i < groups; i++) {
		if (!x->values[i])
			continue;
		/* in place of any other value */
		key = store_puts(st, regex_group_name(x->name, i));
		for (k = 0; k < n;) {
			if (labels[k].key == key)
				labels[k] = labels[--n];
			else
				k++;
		}
		labels[n++] =
			(struct label){.key = key, .str = store_puts(st, x->values[i])};
	}
	set = store_labelset(st, labels, n);
	if (x->replicates) {
		n = add_replicate(x, st, set, labels, n);
		set = store_labelset(st, labels, n);
	}
	free(labels);
	return set;
}

uint32_t extra_labelset(struct extra *x, struct store *st, uint32_t set)
{
	uint32_t *round = memo_at(&x->rounds, set, st->nlabelsets), result;

	if (*round == x->round)
		return *memo_at(&x->sets, set, st->nlabelsets);
	*round = x->round;
	result = add_labels(x, st, set);
	*memo_at(&x->sets, set, st->nlabelsets) = result;
	return result;
}
