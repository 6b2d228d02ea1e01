/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: names of functions, one a line, in every form that they are written in. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/demangle.h"
#include "lib/sym/simplify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(const char *name)
{
	struct buf b = BUF_INIT(DEMANGLED_MAX);
	size_t n = strlen(name);
	enum demangle_mode mode;

	for (mode = DEMANGLE_NONE; mode <= DEMANGLE_FULL; mode++)
		if (demangle(name, mode, &b) && (b.overflow || b.len > DEMANGLED_MAX))
			abort();
	if (demangle_clone_base(name, n) > n)
		abort();
	buf_clear(&b);
	buf_puts(&b, name);
	if (!b.overflow) {
		simplify_cxx(&b, false);
		if (b.len > n)
			abort();
	}
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup(size ? (const char *)data : "", size), *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		one(line);
	free(text);
	return 0;
}
