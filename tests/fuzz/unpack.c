/* SPDX-License-Identifier: Apache-2.0 */
/* Files packed whole: whatever they are, what comes out keeps to its maximum. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/io/unpack.h"

#define MOST (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT(MOST);
	struct err e;
	int r = unpack_file(data, size, &out, &e);

	if (out.len > MOST || (r && !e.code))
		abort();
	buf_release(&out);
	return 0;
}
