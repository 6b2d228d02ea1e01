/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: label selectors, parsed and matched against a few labels. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/query/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = xstrndup((const char *)data, n);
	struct selector *s = NULL;
	struct err e = {0};
	struct label labels[3];
	struct store *st;

	if (!selector_parse(text, &s, &e)) {
		st = store_new(STORE_EXACT);
		labels[0] =
			(struct label){.key = store_puts(st, "comm"),
				       .str = store_puts(st, "aaaaaaaaaaaaaaaaaaaaaaab")};
		labels[1] = (struct label){.key = store_puts(st, "k"),
					   .str = store_puts(st, "\xff\n\xc3\xa9")};
		labels[2] = (struct label){
			.key = store_puts(st, "pid"), .numeric = true, .num = INT64_MIN};
		selector_match(s, st, labels, 3);
		selector_status(s, &e);
		selector_free(s);
		store_free(st);
	}
	free(text);
	return 0;
}
