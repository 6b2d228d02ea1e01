/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symaddr [-c CACHE] FILE [DEBUG_DIR…]: addresses of the file, one hexadecimal number a line on standard
 * input, to frames in llvm-symbolizer's form with mangled names (name, file:line:column, an
 * empty line after each address). For comparing with other symbolizers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/object.h"

static void print_answer(const struct object *o, struct sym_answer a)
{
	uint32_t id = a.location;

	if (id == SYM_NONE)
		printf("??\n??:0:0\n");
	while (id != SYM_NONE) {
		struct sym_location l = object_location(o, id);
		struct sym_function f = object_function(o, l.function);

		printf("%s\n%s:%u:%u\n", object_string(o, f.system).p,
		       l.file ? object_string(o, l.file).p : "??", l.line, l.column);
		id = l.caller;
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct sym_paths paths = {0};
	struct object *o;
	struct sym_answer *answers;
	uint64_t *addrs = NULL;
	size_t n = 0, cap = 0, i;
	char line[64];

	if (argc > 3 && !strcmp(argv[1], "-c")) {
		paths.cache = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 2)
		return 2;
	paths.debug_dirs = (const char *const *)argv + 2;
	paths.ndebug_dirs = argc - 2;
	o = object_new(&paths, argv[1], "");
	while (fgets(line, sizeof(line), stdin)) {
		XGROW(addrs, n, cap);
		addrs[n++] = strtoull(line, NULL, 16);
	}
	answers = xcalloc(n + 1, sizeof(*answers));
	object_resolve(o, addrs, n, answers);
	for (i = 0; i < n; i++)
		print_answer(o, answers[i]);
	if (object_trouble(o)[0])
		fprintf(stderr, "%s\n", object_trouble(o));
	if (object_state(o))
		fprintf(stderr, "%s\n", sym_reason_name(object_state(o)));
	object_free(o);
	free(addrs);
	free(answers);
	return 0;
}
