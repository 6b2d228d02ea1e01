/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: what perf script prints. What is accepted is a valid profile. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/pprof/perfscript.h"
#include "lib/pprof/reader.h"

#define MAX_SIZE (1 << 24)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf msg = BUF_INIT(MAX_SIZE);
	struct profile *p = NULL;
	struct store *st;
	struct err e = {0};
	int r;

	perfscript_sniff(data, n);
	r = perfscript_message(data, n, &msg, &e);
	if (r < 0) {
		if (!*e.msg || e.code != -r)
			abort();
	} else {
		st = store_new(STORE_EXACT);
		if (profile_decode(st, msg.data, msg.len, &p, &e) < 0)
			abort();
		profile_free(p);
		store_free(st);
	}
	buf_release(&msg);
	return 0;
}
