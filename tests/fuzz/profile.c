/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: pprof messages. What is accepted can be written and read again without a
 * change, as a message and as text, and merging is the same in one step and in two.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/pprof/merge.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/text.h"
#include "lib/pprof/writer.h"

#define MAX_SIZE (1 << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void same(const struct buf *a, const struct buf *b)
{
	if (a->len != b->len || memcmp(a->data, b->data, a->len))
		abort();
}

/* Read and write: false if it is refused. */
static bool rewrite(const uint8_t *p, size_t n, struct buf *msg, struct buf *text)
{
	struct store *st = store_new(STORE_EXACT);
	struct profile *prof = NULL;
	struct err e = {0};
	int r = profile_decode(st, p, n, &prof, &e);

	if (r < 0 && (!*e.msg || e.code != -r))
		abort();
	if (r == 0 && (profile_encode(prof, msg, &e) < 0 ||
		       profile_write_text(prof, true, text, &e) < 0))
		abort();
	profile_free(prof);
	store_free(st);
	return r == 0;
}

/* One input, or the same one twice, merged: false if the sums overflow. */
static bool merge(const struct buf *in, int times, struct buf *out)
{
	struct merge_opts o = {.max_size = MAX_SIZE};
	struct merger *m = merger_new(&o);
	struct profile **results;
	struct err e = {0};
	size_t n = 0;
	int r = 0;

	while (times-- && !r)
		r = merger_add(m, in->data, in->len, &e);
	if (r < 0 && r != -EOVERFLOW)
		abort();
	if (!r) {
		results = merger_results(m, &n);
		if (n != 1 || profile_encode(results[0], out, &e) < 0)
			abort();
	}
	merger_free(m);
	return !r;
}

static void check_merges(const struct buf *in)
{
	struct buf one = BUF_INIT(MAX_SIZE), twice = one, two_steps = one, again = one;

	if (merge(in, 1, &one)) {
		if (!merge(&one, 1, &again))
			abort();
		same(&one, &again);
		if (merge(in, 2, &twice) && merge(&one, 2, &two_steps))
			same(&twice, &two_steps);
	}
	buf_release(&one);
	buf_release(&twice);
	buf_release(&two_steps);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf msg = BUF_INIT(MAX_SIZE), text = msg, msg2 = msg, text2 = msg;
	struct text_reader t;
	struct err e = {0};

	if (rewrite(data, n, &msg, &text)) {
		if (!rewrite(msg.data, msg.len, &msg2, &text2))
			abort();
		same(&msg, &msg2);
		same(&text, &text2);
		text_open(&t, text.data, text.len);
		if (text_next(&t, &msg2, &e) != 1)
			abort();
		same(&msg, &msg2);
		if (text_next(&t, &msg2, &e) != 0)
			abort();
		check_merges(&msg);
	}
	buf_release(&msg);
	buf_release(&text);
	buf_release(&msg2);
	buf_release(&text2);
	return 0;
}
