/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ui/input.h"

#include <errno.h>

#include "lib/ui/progress.h"

int input_read(const struct cli *c, struct source *s,
	       int (*add)(void *ctx, const uint8_t *msg, size_t n, struct err *e),
	       void *ctx, size_t *good, struct err *e)
{
	struct progress progress;
	const uint8_t *msg;
	size_t n;
	int r;

	*good = 0;
	progress_start(&progress, c);
	while ((r = source_next(s, &msg, &n, e)) != 0) {
		if (r > 0) {
			r = add(ctx, msg, n, e);
			if (r < 0)
				err_prefix(e, "%s", source_name(s));
			else
				++*good;
		}
		if (r < 0) {
			progress_clear(&progress);
			if (!c->skip_bad || r == -EOVERFLOW || r == -ENODATA)
				return r;
			cli_error("%s", e->msg);
		}
		progress_show(&progress, "%zu profiles read", source_count(s));
	}
	progress_clear(&progress);
	return *good ? 0 : err_set(e, ENODATA, "no good profile in input");
}
