/* SPDX-License-Identifier: Apache-2.0 */
/* Interning of frames. */
#include "lib/query/frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/xalloc.h"

void frames_init(struct frames *f, const struct profile *p, enum granularity g)
{
	*f = (struct frames){.p = p, .granularity = g};
	id_table_init(&f->ids);
}

void frames_release(struct frames *f)
{
	free(f->v);
	id_table_release(&f->ids);
	free(f->pool);
	free(f->by_location);
	free(f->clean_files);
	*f = (struct frames){0};
}

static int cmp_string(const struct frames *f, uint32_t a, uint32_t b)
{
	return a == b ? 0 : str_cmp(store_str(f->p->store, a), store_str(f->p->store, b));
}

/* Another place of a frame that is known: keep the least, whatever came first. */
static void add_place(struct frames *f, struct frame *fr, const struct frame *other)
{
	int c = cmp_string(f, other->where_file, fr->where_file);

	fr->inlined |= other->inlined;
	if (c < 0 || (!c && other->where_line < fr->where_line)) {
		fr->where_file = other->where_file;
		fr->where_line = other->where_line;
	}
	if (cmp_string(f, other->module, fr->module) < 0)
		fr->module = other->module;
}

static uint32_t intern_frame(struct frames *f, const struct frame *key)
{
	uint64_t h = hash_u64((uint64_t)key->name << 32 | key->file, key->binary);
	const struct frame *o;
	uint32_t id;
	size_t s;

	if (key->line || key->address)
		h = hash_u64(h ^ (uint64_t)key->line, key->address);
	for (s = id_table_first(&f->ids, h);
	     (id = id_table_at(&f->ids, h, &s)) != ID_NONE; s++) {
		o = &f->v[id];
		if (o->name == key->name && o->file == key->file &&
		    o->binary == key->binary && o->line == key->line &&
		    o->address == key->address) {
			add_place(f, &f->v[id], key);
			return id;
		}
	}
	XGROW(f->v, f->n, f->cap);
	id = (uint32_t)f->n++;
	f->v[id] = *key;
	id_table_put(&f->ids, h, id);
	return id;
}

/* Lexical cleaning of a path: no "//", "/./", "x/../"; empty becomes ".". As Go's path.Clean. */
static void clean_path(struct buf *out, const char *p, size_t n)
{
	bool rooted = n && p[0] == '/';
	size_t floor, i = 0, end; /* floor: what ".." must not eat */

	if (rooted)
		buf_putc(out, '/');
	floor = out->len;
	while (i < n) {
		for (; i < n && p[i] == '/'; i++)
			;
		for (end = i; end < n && p[end] != '/'; end++)
			;
		if (end - i == 2 && !memcmp(p + i, "..", 2) && out->len > floor) {
			while (out->len > floor && out->data[out->len - 1] != '/')
				out->len--;
			if (out->len > floor)
				out->len--;
		} else if (end - i == 2 && !memcmp(p + i, "..", 2)) {
			if (!rooted) {
				buf_puts(out, out->len ? "/.." : "..");
				floor = out->len;
			}
		} else if (end > i && !(end - i == 1 && p[i] == '.')) {
			if (out->len > rooted)
				buf_putc(out, '/');
			buf_put(out, p + i, end - i);
		}
		i = end;
	}
	if (!out->len)
		buf_putc(out, '.');
}

static uint32_t clean_file(struct frames *f, uint32_t file)
{
	static const char *const prefixes[] = {"/proc/self/cwd/./", "/proc/self/cwd/"};
	struct store *st = f->p->store;
	struct str s = store_str(st, file);
	size_t cap = f->nclean, i, n;
	struct buf b = BUF_INIT(SIZE_MAX / 2);

	if (!file)
		return 0;
	if (file >= f->nclean) {
		XRESERVE(f->clean_files, cap, st->strings.n);
		memset(f->clean_files + f->nclean, 0,
		       (cap - f->nclean) * sizeof(uint32_t));
		f->nclean = cap;
	}
	if (f->clean_files[file])
		return f->clean_files[file];
	for (i = 0; i < 2; i++) {
		n = strlen(prefixes[i]);
		if (s.n >= n && !memcmp(s.p, prefixes[i], n)) {
			s.p += n;
			s.n -= (uint32_t)n;
			break;
		}
	}
	clean_path(&b, s.p, s.n);
	f->clean_files[file] = intern_put(&st->strings, b.data, b.len);
	buf_release(&b);
	return f->clean_files[file];
}

static uint32_t module_of(const struct frames *f, const struct location *l)
{
	return l->mapping == ID_NONE ? 0 : profile_mapping(f->p, l->mapping).file;
}

static uint32_t make_frame(struct frames *f, uint32_t location, uint32_t line_no)
{
	const struct store *st = f->p->store;
	const struct location *l = &st->locations[location];
	const struct line *line = &st->lines[l->lines + line_no];
	const struct function *fn = &st->functions[line->function];
	struct frame key = {.name = fn->name,
			    .inlined = line_no + 1 < l->nlines,
			    .where_file = clean_file(f, fn->file),
			    .where_line = fn->start_line ? fn->start_line : line->line,
			    .module = module_of(f, l)};

	switch (f->granularity) {
	case GRANULARITY_FILES:
		key.name = 0;
		key.file = key.where_file;
		break;
	case GRANULARITY_ADDRESSES:
		key.address = profile_address(f->p, location);
		/* fall through */
	case GRANULARITY_LINES:
		key.file = key.where_file;
		key.line = key.where_line = line->line;
		break;
	default:
		break;
	}
	if (!key.name && !key.file)
		key.binary = key.module;
	return intern_frame(f, &key);
}

/* A location without lines, or any at the granularity of binaries. */
static uint32_t make_bare_frame(struct frames *f, uint32_t location)
{
	const struct store *st = f->p->store;
	const struct location *l = &st->locations[location];
	struct frame key = {.module = module_of(f, l)};

	key.binary = key.module;
	if (f->granularity == GRANULARITY_ADDRESSES)
		key.address = profile_address(f->p, location);
	return intern_frame(f, &key);
}

static void make_location(struct frames *f, uint32_t location)
{
	const struct store *st = f->p->store;
	uint32_t n = st->locations[location].nlines, i;

	XRESERVE(f->pool, f->pool_cap, f->npool + n + 1);
	f->by_location[location] = (struct seq){(uint32_t)f->npool, n ? n : 1};
	for (i = n; i; i--)
		f->pool[f->npool++] = make_frame(f, location, i - 1);
	if (!n)
		f->pool[f->npool++] = make_bare_frame(f, location);
}

const uint32_t *frames_of(struct frames *f, uint32_t location, uint32_t *n)
{
	size_t cap = f->nlocations;

	if (location >= f->nlocations) {
		XRESERVE(f->by_location, cap, f->p->store->nlocations);
		memset(f->by_location + f->nlocations, 0,
		       (cap - f->nlocations) * sizeof(*f->by_location));
		f->nlocations = cap;
	}
	if (!f->by_location[location].n)
		make_location(f, location);
	*n = f->by_location[location].n;
	return f->pool + f->by_location[location].off;
}

struct str path_base(struct str path)
{
	uint32_t i;

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (i = path.n; i && path.p[i - 1] != '/'; i--)
		;
	if (i == path.n)
		return path; /* "/" or "" */
	path.p += i;
	path.n -= i;
	return path;
}

static void put_str(struct buf *b, struct str s)
{
	buf_put(b, s.p, s.n);
}

void frames_name(const struct frames *f, uint32_t id, struct buf *out)
{
	const struct store *st = f->p->store;
	const struct frame *fr = &f->v[id];
	size_t start = out->len;

	if (fr->address)
		buf_printf(out, "%016" PRIx64 " ", fr->address);
	if (fr->name) {
		put_str(out, store_str(st, fr->name));
		buf_putc(out, ' ');
	}
	if (fr->line || fr->file) {
		put_str(out, store_str(st, fr->file));
		if (fr->line)
			buf_printf(out, ":%" PRId64, fr->line);
	} else if (fr->name) {
		out->len--; /* the space */
	} else if (fr->binary) {
		buf_putc(out, '[');
		put_str(out, path_base(store_str(st, fr->binary)));
		buf_putc(out, ']');
	} else {
		buf_puts(out, "<unknown>");
	}
	if (out->len == start)
		buf_puts(out, "<unknown>");
}
