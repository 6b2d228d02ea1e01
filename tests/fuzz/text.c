/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the text twin. What is accepted is a valid profile, and comes back unchanged
 * from the text that we write for it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/text.h"
#include "lib/pprof/writer.h"

#define MAX_SIZE (1 << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const struct buf *msg)
{
	struct buf text = BUF_INIT(MAX_SIZE), again = text;
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = NULL;
	struct text_reader t;
	struct err e = {0};

	if (profile_decode(st, msg->data, msg->len, &p, &e) < 0 ||
	    profile_write_text(p, true, &text, &e) < 0)
		abort();
	if (!text_sniff(text.data, text.len))
		abort();
	text_open(&t, text.data, text.len);
	if (text_next(&t, &again, &e) != 1 || again.len != msg->len ||
	    memcmp(again.data, msg->data, msg->len))
		abort();
	profile_free(p);
	store_free(st);
	buf_release(&text);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf msg = BUF_INIT(MAX_SIZE);
	struct err e = {0};
	struct text_reader t;
	int r;

	text_sniff(data, n);
	text_open(&t, data, n);
	while ((r = text_next(&t, &msg, &e)) != 0) {
		if (r > 0)
			check(&msg);
		else if (!*e.msg || e.code != -r)
			abort();
	}
	buf_release(&msg);
	return 0;
}
