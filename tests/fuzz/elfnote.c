/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the build id of an ELF image. */
#include <stdint.h>
#include <stdlib.h>

#include "lib/sym/elfnote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct build_id id;

	if (build_id_from_image(data, n, &id) && (!id.n || id.n > BUILD_ID_MAX))
		abort();
	build_id_from_notes(data, n, 4, &id);
	build_id_from_notes(data, n, 8, &id);
	return 0;
}
