/* SPDX-License-Identifier: Apache-2.0 */
/* -f peek: the tree report of the functions that match --function, nothing left out. */
#include <errno.h>
#include <string.h>

#include "tools/render/tree_report.h"

int report_peek(const struct report *r, struct buf *out, struct err *e)
{
	struct rows_opts all = {.by_cum = r->o->rows.by_cum};
	const char *text = r->o->function;
	struct regex *re = NULL;
	struct listing t = {0};
	int ret;

	if (!text)
		return err_set(e, EINVAL,
			       "peek shows the functions that --function=RE matches");
	ret = regex_new(text, strlen(text), false, &re, e);
	if (ret < 0)
		return err_prefix(e, "--function");
	ret = listing_init(&t, r, &all, out, e);
	if (!ret && !tree_put(&t, re))
		ret = err_set(e, ENOENT, "no function matches \"%s\"", text);
	if (!ret || ret == -ENOENT)
		ret = regex_status(re, e) ?: ret;
	listing_release(&t);
	regex_free(re);
	return ret;
}
