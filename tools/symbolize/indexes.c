/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/indexes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_one(const struct objects *objects, const struct cli *cli,
		    const char *file, const char *export_dir, struct err *e)
{
	char *path = realpath(file, NULL);
	struct object *ob;
	int r;

	if (!path)
		return err_set(e, errno, "%s: %s", file, strerror(errno));
	ob = object_new(&objects->paths, path, "");
	object_set_threads(ob, objects->threads);
	if (object_state(ob) != SYM_OK)
		r = err_set(e, ENOEXEC, "%s",
			    object_trouble(ob)[0] ? object_trouble(ob)
						  : sym_reason_name(object_state(ob)));
	else
		r = objects->paths.cache ? object_build_index(ob, e) : 0;
	if (!r && export_dir)
		r = object_export_index(ob, export_dir, e);
	if (r)
		err_prefix(e, "%s", file);
	else
		cli_info(cli, "%s: indexed", file);
	object_free(ob);
	free(path);
	return r;
}

int indexes_make(const struct objects *objects, const struct cli *cli,
		 const struct operands *files, const char *export_dir, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < files->n && !r; i++)
		r = make_one(objects, cli, files->v[i], export_dir, e);
	return r;
}

int indexes_export(const struct objects *objects, const struct cli *cli, const char *dir,
		   struct err *e)
{
	size_t i;
	int r;

	for (i = 0; dir && i < objects->n; i++) {
		struct object *ob = objects->v[i].object;

		if (object_state(ob) != SYM_OK)
			continue;
		r = object_export_index(ob, dir, e);
		if (r == -ENODATA || r == -EFBIG)
			cli_note(cli, "%s: no index: %s", objects->v[i].path, e->msg);
		else if (r)
			return r;
		object_trim(ob);
	}
	return 0;
}
