/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds files to a fuzz target, so that its corpus is a test with any compiler. Arguments are
 * files; says which one it is at before it runs it, for when that is the last thing it does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t n = 0, cap = 0, got = 0;

	if (!f) {
		perror(path);
		return -1;
	}
	do {
		n += got;
		if (n == cap) {
			cap = cap ? cap * 2 : 4096;
			data = realloc(data, cap);
			if (!data)
				abort();
		}
		got = fread(data + n, 1, cap - n, f);
	} while (got);
	fclose(f);
	/* a copy of the exact size lets the sanitizer see reads past the end */
	data = realloc(data, n ? n : 1);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int i, bad = 0;

	for (i = 1; i < argc; i++) {
		printf("# %s\n", argv[i]);
		fflush(stdout);
		bad |= replay(argv[i]);
	}
	return bad ? 1 : 0;
}
