/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the text of /proc/kallsyms, in pieces whose size is the first byte. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/sym/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t piece, at, size;
	struct kallsyms k;
	struct err e;
	int r = 0;

	if (!n)
		return 0;
	piece = data[0] + 1;
	kallsyms_init(&k);
	for (at = 1; at < n && !r; at += size) {
		size = n - at < piece ? n - at : piece;
		r = kallsyms_feed(&k, (const char *)data + at, size, &e);
	}
	if (!r && !kallsyms_finish(&k, &e)) {
		for (at = 0; at < k.n; at++) {
			if (kallsyms_find(&k, k.syms[at].addr) != &k.syms[at] ||
			    k.syms[at].module >= k.nmodules)
				abort();
		}
		kallsyms_find(&k, 0);
		kallsyms_find(&k, UINT64_MAX);
	}
	kallsyms_release(&k);
	return 0;
}
