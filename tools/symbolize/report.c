/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/symbolize/report.h"

#include <string.h>

#include "lib/ui/json.h"
#include "tools/symbolize/rewrite.h"

void report_wanted(struct buf *b, const struct entry *en)
{
	if (!object_path(en->object))
		buf_printf(b, "%s%s%s", en->path,
			   en->build_id[0] ? " with build id " : "", en->build_id);
	else if (en->reasons[SYM_NEED_BINARY])
		buf_puts(b, "the binary itself, by --sysroot or --binary");
}

void report_lines_file(struct buf *b, const struct entry *en)
{
	if (!object_has_lines(en->object) && strlen(en->build_id) > 4)
		buf_printf(b, ".build-id/%.2s/%s.debug", en->build_id, en->build_id + 2);
}

void report_cache(const struct cli *cli, const struct objects *o)
{
	const char *kept = "";
	size_t i;

	for (i = 0; i < o->n; i++) {
		if (object_index_damage(o->v[i].object)[0])
			cli_note(cli, "%s", object_index_damage(o->v[i].object));
		if (!kept[0])
			kept = object_index_trouble(o->v[i].object);
	}
	if (kept[0])
		cli_note(cli, "%s: indexes are not kept", kept);
}

static void json_text(struct json *j, const char *key,
		      void (*put)(struct buf *, const struct entry *),
		      const struct entry *en)
{
	struct buf b = BUF_INIT(1 << 20);

	put(&b, en);
	if (b.len)
		json_cstr(j, key, buf_str(&b));
	buf_release(&b);
}

static void json_counts(struct json *j, const struct entry *en)
{
	size_t i;

	json_int(j, "addresses", (int64_t)en->addresses);
	if (en->anonymous)
		json_int(j, "anonymous", (int64_t)en->anonymous);
	json_object(j, "named");
	for (i = 0; i < SYM_NSOURCES; i++)
		if (en->named[i])
			json_int(j, sym_source_name(i), (int64_t)en->named[i]);
	json_end_object(j);
	json_int(j, "unnamed", (int64_t)en->bare);
	json_object(j, "reasons");
	for (i = SYM_OK + 1; i < SYM_NREASONS; i++)
		if (en->reasons[i])
			json_int(j, sym_reason_name(i), (int64_t)en->reasons[i]);
	json_end_object(j);
}

static void json_entry(struct json *j, const struct entry *en)
{
	const char *path = object_path(en->object), *result,
		   *debug = object_debug_path(en->object);
	size_t at = 0;

	json_object(j, NULL);
	json_cstr(j, "file", en->path);
	json_cstr(j, "build_id", en->build_id);
	json_counts(j, en);
	if (path)
		json_cstr(j, "binary", path);
	if (debug)
		json_cstr(j, "debug", debug);
	json_bool(j, "verified", object_is_verified(en->object));
	if (object_trouble(en->object)[0])
		json_cstr(j, "trouble", object_trouble(en->object));
	json_text(j, "wanted", report_wanted, en);
	json_text(j, "lines_from", report_lines_file, en);
	json_array(j, "looked_at");
	while (object_tried(en->object, &at, &path, &result)) {
		json_object(j, NULL);
		json_cstr(j, "path", path);
		json_cstr(j, "result", result);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

void report_json(const struct objects *o, const struct jitnames *jit,
		 const struct coverage *c, struct buf *out)
{
	struct json j;
	size_t i;

	json_init(&j, out);
	json_object(&j, NULL);
	json_double(&j, "value", c->total);
	json_double(&j, "named_value", c->named);
	json_array(&j, "objects");
	for (i = 0; i < o->n; i++)
		if (!o->v[i].quiet)
			json_entry(&j, &o->v[i]);
	json_end_array(&j);
	if (jit->n) {
		json_object(&j, "in_no_file");
		json_int(&j, "addresses", (int64_t)jit->addresses);
		json_int(&j, "named", (int64_t)jit->named);
		json_end_object(&j);
	}
	json_end_object(&j);
	buf_putc(out, '\n');
}
