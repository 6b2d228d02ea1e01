/* SPDX-License-Identifier: Apache-2.0 */
/* prof-merge: add profiles up, one result per profile type and time window. */
#include "lib/pprof/merge.h"
#include "lib/ui/queryopt.h"
#include "tools/merge/list.h"
#include "tools/merge/options.h"
#include "tools/merge/read.h"
#include "tools/merge/write.h"

int main(int argc, char **argv)
{
	struct options o;
	struct merge_opts mo = {0};
	struct list *list = NULL;
	struct merger *m;
	struct err e = {0};
	int r;

	cli_start("prof-merge", true);
	options_parse(&o, argc, argv);
	mo.hooks = query_hooks(o.query);
	mo.take = query_take;
	mo.ctx = o.query;
	mo.max_size = o.cli.max_size;
	mo.window_ns = o.window_ns;
	if (o.list) {
		list = list_new(o.list, o.query);
		list_hook(list, &mo);
	}
	m = merger_new(&mo);
	r = read_inputs(&o, &mo, m, &e);
	if (!r)
		r = list ? list_write(list, m, o.cli.output, &e)
			 : write_results(&o, m, &e);
	if (!r)
		queryopt_notes(&o.cli, o.query);
	list_free(list);
	merger_free(m);
	options_release(&o);
	return cli_finish(r, EXIT_OK, &e);
}
