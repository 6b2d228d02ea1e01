/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: names of functions; canonical form and family are no longer than the name. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/sym/canonical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);

	if (canonical_name((const char *)data, n, &b) && b.len > n)
		abort();
	if (canonical_family((const char *)data, n, &b) && b.len > n)
		abort();
	buf_release(&b);
	return 0;
}
