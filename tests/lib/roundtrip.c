/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the reader, the writer and the text twin to protobuf-c, the independent reference: a
 * profile that we read and write again has the same content as protobuf-c sees in the input.
 *
 *	roundtrip FILE...	one line per FILE: "ok FILE", "refused FILE: why" or "DIFFERS …"
 *
 * Content is what profpipe-stream(5) calls lossless: header fields, types, and the multiset of
 * (frames with all fields, labels, values) after adding equal samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"
#include "lib/base/xalloc.h"
#include "lib/pprof/profile.pb-c.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/source.h"
#include "lib/pprof/text.h"
#include "lib/pprof/writer.h"

#define TYPES_MAX 16

typedef Perftools__Profiles__Profile pb_profile;

struct row {
	uint64_t key;
	int64_t values[TYPES_MAX];
};

struct content {
	char *header;
	struct row *rows;
	size_t n;
};

static void put_string(struct buf *b, const pb_profile *p, int64_t i)
{
	buf_printf(b, "[%zu]", (size_t)p->string_table[i].len);
	buf_put(b, p->string_table[i].data, p->string_table[i].len);
}

static void put_mapping(struct buf *b, const pb_profile *p, uint64_t id)
{
	const Perftools__Profiles__Mapping *m;
	size_t i;

	for (i = 0; i < p->n_mapping && p->mapping[i]->id != id; i++)
		;
	if (i == p->n_mapping) {
		buf_puts(b, "no mapping");
		return;
	}
	m = p->mapping[i];
	buf_printf(b, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %d%d%d%d", m->memory_start,
		   m->memory_limit, m->file_offset, m->has_functions, m->has_filenames,
		   m->has_line_numbers, m->has_inline_frames);
	put_string(b, p, m->filename);
	put_string(b, p, m->build_id);
}

struct by_id {
	uint64_t id, hash;
};

static int cmp_id(const void *a, const void *b)
{
	const struct by_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static uint64_t find(const struct by_id *rows, size_t n, uint64_t id)
{
	struct by_id key = {.id = id};
	const struct by_id *r = bsearch(&key, rows, n, sizeof(key), cmp_id);

	return r ? r->hash : 0;
}

static struct by_id *hash_functions(const pb_profile *p)
{
	struct by_id *rows = xcalloc(p->n_function + 1, sizeof(*rows));
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	for (i = 0; i < p->n_function; i++) {
		const Perftools__Profiles__Function *f = p->function[i];

		buf_clear(&b);
		put_string(&b, p, f->name);
		put_string(&b, p, f->system_name);
		put_string(&b, p, f->filename);
		buf_printf(&b, "%" PRId64, f->start_line);
		rows[i] = (struct by_id){f->id, hash_bytes(b.data, b.len)};
	}
	buf_release(&b);
	qsort(rows, p->n_function, sizeof(*rows), cmp_id);
	return rows;
}

static struct by_id *hash_locations(const pb_profile *p, const struct by_id *functions)
{
	struct by_id *rows = xcalloc(p->n_location + 1, sizeof(*rows));
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i, k;

	for (i = 0; i < p->n_location; i++) {
		const Perftools__Profiles__Location *l = p->location[i];

		buf_clear(&b);
		put_mapping(&b, p, l->mapping_id);
		buf_printf(&b, " %" PRIx64 " %d", l->address, l->is_folded);
		for (k = 0; k < l->n_line; k++)
			buf_printf(
				&b, " %" PRIx64 ":%" PRId64 ":%" PRId64,
				find(functions, p->n_function, l->line[k]->function_id),
				l->line[k]->line, l->line[k]->column);
		rows[i] = (struct by_id){l->id, hash_bytes(b.data, b.len)};
	}
	buf_release(&b);
	qsort(rows, p->n_location, sizeof(*rows), cmp_id);
	return rows;
}

struct text_label {
	char *key, *value;
	size_t at;
};

static int cmp_label(const void *a, const void *b)
{
	const struct text_label *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	return c ? c : (x->at > y->at) - (x->at < y->at);
}

static void put_labels(struct buf *b, const pb_profile *p,
		       const Perftools__Profiles__Sample *s)
{
	struct text_label *t = xcalloc(s->n_label + 1, sizeof(*t));
	struct buf part = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	for (i = 0; i < s->n_label; i++) {
		const Perftools__Profiles__Label *l = s->label[i];

		buf_clear(&part);
		put_string(&part, p, l->key);
		t[i].key = xstrdup(buf_str(&part));
		buf_clear(&part);
		if (l->str) {
			buf_puts(&part, "s");
			put_string(&part, p, l->str);
		} else {
			buf_printf(&part, "n%" PRId64, l->num);
			put_string(&part, p, l->num_unit);
		}
		t[i].value = xstrdup(buf_str(&part));
		t[i].at = i;
	}
	qsort(t, s->n_label, sizeof(*t), cmp_label);
	for (i = 0; i < s->n_label; i++) {
		buf_printf(b, " %s=%s", t[i].key, t[i].value);
		free(t[i].key);
		free(t[i].value);
	}
	free(t);
	buf_release(&part);
}

static int cmp_row(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void read_rows(struct content *c, const pb_profile *p)
{
	struct by_id *functions = hash_functions(p),
		     *locations = hash_locations(p, functions);
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i, k, to;

	c->rows = xcalloc(p->n_sample + 1, sizeof(*c->rows));
	for (i = 0; i < p->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->sample[i];

		buf_clear(&b);
		for (k = 0; k < s->n_location_id; k++)
			buf_printf(&b, " %" PRIx64,
				   find(locations, p->n_location, s->location_id[k]));
		put_labels(&b, p, s);
		c->rows[i].key = hash_bytes(b.data, b.len);
		for (k = 0; k < s->n_value && k < TYPES_MAX; k++)
			c->rows[i].values[k] = s->value[k];
	}
	qsort(c->rows, p->n_sample, sizeof(*c->rows), cmp_row);
	for (i = to = 0; i < p->n_sample; i++) {
		if (!to || c->rows[to - 1].key != c->rows[i].key) {
			c->rows[to++] = c->rows[i];
			continue;
		}
		for (k = 0; k < TYPES_MAX; k++)
			c->rows[to - 1].values[k] += c->rows[i].values[k];
	}
	c->n = to;
	free(functions);
	free(locations);
	buf_release(&b);
}

static void read_header(struct content *c, const pb_profile *p)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	size_t i;

	for (i = 0; i < p->n_sample_type; i++) {
		put_string(&b, p, p->sample_type[i]->type);
		put_string(&b, p, p->sample_type[i]->unit);
	}
	if (p->period_type) {
		put_string(&b, p, p->period_type->type);
		put_string(&b, p, p->period_type->unit);
	} else {
		buf_puts(&b, "[0][0]");
	}
	buf_printf(&b, "%" PRId64 " %" PRId64 " %" PRId64, p->period, p->time_nanos,
		   p->duration_nanos);
	for (i = 0; i < p->n_comment; i++)
		put_string(&b, p, p->comment[i]);
	put_string(&b, p, p->drop_frames);
	put_string(&b, p, p->keep_frames);
	put_string(&b, p, p->default_sample_type);
	put_string(&b, p, p->doc_url);
	c->header = xmemdup(buf_str(&b), b.len + 1);
	buf_release(&b);
}

/* What protobuf-c sees in a message; NULL: it does not read it. */
static struct content *content_of(const uint8_t *msg, size_t n)
{
	pb_profile *p = perftools__profiles__profile__unpack(NULL, n, msg);
	struct content *c;

	if (!p)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	read_header(c, p);
	read_rows(c, p);
	perftools__profiles__profile__free_unpacked(p, NULL);
	return c;
}

static void content_free(struct content *c)
{
	if (!c)
		return;
	free(c->header);
	free(c->rows);
	free(c);
}

static const char *difference(const struct content *a, const struct content *b)
{
	size_t i;

	if (strcmp(a->header, b->header))
		return "header";
	if (a->n != b->n)
		return "number of distinct samples";
	for (i = 0; i < a->n; i++) {
		if (memcmp(&a->rows[i], &b->rows[i], sizeof(a->rows[i])))
			return "a sample";
	}
	return NULL;
}

/* Compare a message of ours with the input's content; true when they agree. */
static bool agrees(const char *name, const char *what, const struct content *want,
		   const struct buf *msg)
{
	struct content *got = content_of(msg->data, msg->len);
	const char *why = got ? difference(want, got) : "protobuf-c refuses it";

	if (why)
		printf("DIFFERS %s (%s): %s\n", name, what, why);
	content_free(got);
	return !why;
}

static bool check_text(const char *name, const struct content *want,
		       const struct profile *p)
{
	struct buf text = BUF_INIT(SIZE_MAX / 2), msg = BUF_INIT(SIZE_MAX / 2);
	struct text_reader t;
	struct err e;
	bool good = false;

	if (profile_write_text(p, true, &text, &e) < 0) {
		printf("DIFFERS %s (text): %s\n", name, e.msg);
		goto out;
	}
	text_open(&t, text.data, text.len);
	if (text_next(&t, &msg, &e) != 1)
		printf("DIFFERS %s (text): %s\n", name, e.msg);
	else
		good = agrees(name, "text", want, &msg);
out:
	buf_release(&text);
	buf_release(&msg);
	return good;
}

static bool check_message(const char *name, const uint8_t *msg, size_t n)
{
	struct store *st = store_new(STORE_EXACT);
	struct buf ours = BUF_INIT(SIZE_MAX / 2);
	struct profile *p = NULL;
	struct content *want = NULL;
	struct err e;
	bool good = false;

	if (profile_decode(st, msg, n, &p, &e) < 0) {
		printf("refused %s: %s\n", name, e.msg);
		good = true;
		goto out;
	}
	want = content_of(msg, n);
	if (!want) {
		/* protobuf-c knows no field number 0 and refuses what the format allows */
		printf("ok %s (without the reference)\n", name);
		good = true;
		goto out;
	}
	if (profile_encode(p, &ours, &e) < 0)
		printf("DIFFERS %s: %s\n", name, e.msg);
	else if (agrees(name, "pprof", want, &ours) && check_text(name, want, p))
		good = printf("ok %s\n", name) > 0;
out:
	content_free(want);
	profile_free(p);
	store_free(st);
	buf_release(&ours);
	return good;
}

int main(int argc, char **argv)
{
	const uint8_t *msg;
	struct source *s;
	struct err e;
	bool good = true;
	size_t n;
	int i, r;

	for (i = 1; i < argc; i++) {
		s = source_new(argv + i, 1, 0);
		while ((r = source_next(s, &msg, &n, &e)) > 0)
			good &= check_message(source_name(s), msg, n);
		if (r < 0)
			printf("refused %s\n", e.msg);
		source_free(s);
	}
	return good ? 0 : 1;
}
