/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a profile (text twin) of its own functions' addresses in its own mappings: the kernel
 * says where things are, so a symbolizer has to give back the names that the comments hold.
 */
#include <stdio.h>
#include <string.h>

#ifdef WITH_LIBRARY
int library_function(int x);
#endif

__attribute__((noinline)) int first_function(int x)
{
	return x * 3 + 1;
}

__attribute__((noinline)) int second_function(int x)
{
	return first_function(x) ^ 0x55;
}

static const struct {
	const char *name;
	int (*f)(int);
} functions[] = {
	{"first_function", first_function},
	{"second_function", second_function},
#ifdef WITH_LIBRARY
	{"library_function", library_function},
#endif
};

#define NFUNCTIONS (sizeof(functions) / sizeof(functions[0]))

int main(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024], path[512], prot[8];
	unsigned long low, high, off, at;
	unsigned i, nmappings = 0, nlocations = 0;

	puts("# profpipe text 1\nprofile\ntype \"samples\" \"count\"");
	while (maps && fgets(line, sizeof(line), maps)) {
		path[0] = 0;
		sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &low, &high, prot, &off,
		       path);
		if (prot[2] != 'x')
			continue;
		printf("mapping %u 0x%lx 0x%lx 0x%lx \"%s\" \"%s\" -\n", ++nmappings, low,
		       high, off, path, strchr(path, '/') && BUILD_ID[0] ? BUILD_ID : "");
		for (i = 0; i < NFUNCTIONS; i++) {
			at = (unsigned long)functions[i].f;
			if (at < low || at >= high)
				continue;
			printf("location %u m%u 0x%lx\n", ++nlocations, nmappings, at);
			printf("sample %u : %u : \"want\"=\"%s\"\n", i + 1, nlocations,
			       functions[i].name);
		}
	}
	puts("end");
	return second_function(0) == -1;
}
