/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: what is read of Python's code objects. The first four bytes choose. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/sym/pycode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf text = BUF_INIT(1 << 20);
	unsigned int width;

	if (n < 4)
		return 0;
	if (pycode_line(data + 4, n - 4, data[0], data[1] | data[2] << 8) > INT32_MAX)
		abort();
	width = 1u << data[3] % 3;
	pycode_text(&text, data + 4, (n - 4) / width, width);
	if (text.len > 4 * n)
		abort();
	buf_release(&text);
	return 0;
}
