/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/report.h"

#include <string.h>

static void put_counts(struct buf *b, const struct entry *en)
{
	const char *sep = "";
	size_t i;

	for (i = 0; i < SYM_NSOURCES; i++) {
		if (!en->named[i])
			continue;
		buf_printf(b, "%s%s %llu", sep, sym_source_name(i),
			   (unsigned long long)en->named[i]);
		sep = ", ";
	}
	if (en->bare)
		buf_printf(b, "%sunnamed %llu", sep, (unsigned long long)en->bare);
	sep = " (";
	for (i = SYM_OK + 1; i < SYM_NREASONS; i++) {
		if (!en->reasons[i])
			continue;
		buf_printf(b, "%s%s %llu", sep, sym_reason_name(i),
			   (unsigned long long)en->reasons[i]);
		sep = ", ";
	}
	if (sep[0] == ',')
		buf_putc(b, ')');
}

static void put_files(struct buf *b, const struct entry *en)
{
	const char *path = object_path(en->object),
		   *debug = object_debug_path(en->object);

	if (path && strcmp(path, en->path))
		buf_printf(b, "; binary %s", path);
	if (debug && debug != path)
		buf_printf(b, "; debug %s", debug);
	if (path && !object_is_verified(en->object))
		buf_puts(b, "; unverified: the mapping has no build id");
	if (object_trouble(en->object)[0])
		buf_printf(b, "; %s", object_trouble(en->object));
}

/* The file that would name what is not named, or give lines. */
static void put_help(struct buf *b, const struct entry *en)
{
	size_t n = strlen(en->build_id);

	if (!object_path(en->object))
		buf_printf(b, "; wanted: %s%s%s", en->path, n ? " with build id " : "",
			   en->build_id);
	else if (en->reasons[SYM_NEED_BINARY])
		buf_printf(b, "; wanted: the binary itself, by --sysroot or --binary");
	if (!object_has_lines(en->object) && n > 4)
		buf_printf(b, "; lines would need .build-id/%.2s/%s.debug", en->build_id,
			   en->build_id + 2);
}

void report_objects(const struct cli *cli, const struct objects *o)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t i;

	for (i = 0; i < o->n; i++) {
		const struct entry *en = &o->v[i];

		buf_clear(&b);
		buf_printf(&b, "%s [%s]: %llu address%s: ", en->path,
			   en->build_id[0] ? en->build_id : "no build id",
			   (unsigned long long)en->addresses,
			   en->addresses == 1 ? "" : "es");
		put_counts(&b, en);
		put_files(&b, en);
		put_help(&b, en);
		cli_info(cli, "%s", buf_str(&b));
	}
	buf_release(&b);
}

void report_jit(const struct cli *cli, const struct jitnames *j)
{
	if (j->n)
		cli_info(cli, "in no file: %llu address%s: perf map %llu, unnamed %llu",
			 (unsigned long long)j->addresses, j->addresses == 1 ? "" : "es",
			 (unsigned long long)j->named,
			 (unsigned long long)(j->addresses - j->named));
}
