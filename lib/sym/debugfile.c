/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/debugfile.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/xalloc.h"

#define DELETED " (deleted)"
#define UNPACKED_MAX (1ull << 30) /* bytes of a packed kernel or module */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct build_id build_id_parse(const char *text)
{
	struct build_id id = {.text = text};
	size_t n = strlen(text), i;

	if (!n || n % 2 || n / 2 > BUILD_ID_MAX)
		return id;
	for (i = 0; i < n / 2; i++) {
		int hi = hex_digit(text[2 * i]), lo = hex_digit(text[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return id;
		id.bytes[i] = hi << 4 | lo;
	}
	id.n = n / 2;
	return id;
}

bool build_id_matches(const struct build_id *id, const struct elf_file *f)
{
	if (id->n && f->build_id_n == id->n && !memcmp(id->bytes, f->build_id, id->n))
		return true;
	return id->text[0] && f->go_build_id && !strcmp(id->text, f->go_build_id);
}

static void build_id_hex(const struct build_id *id, char hex[2 * BUILD_ID_MAX + 1])
{
	size_t i;

	for (i = 0; i < id->n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
}

void found_file_release(struct found_file *f)
{
	struct buf *log = f->log;

	elf_free(f->elf);
	free(f->path);
	memset(f, 0, sizeof(*f));
	f->log = log;
}

/* One search: what is wanted, and the best result so far. */
struct search {
	const struct build_id *id;	 /* NULL, or without text: no id to compare */
	const uint32_t *crc;		 /* or the whole file's checksum */
	const struct elf_file *not_this; /* a link may point at the file it is in */
	bool relocatable; /* such files count: modules, and supplementary files pass for them */
	uint64_t unpacked_max; /* bytes of packed files, which then count */
	struct found_file *out;
	enum found result;
};

static void log_try(struct buf *log, const char *path, const char *result)
{
	if (!log || buf_reserve(log, strlen(path) + strlen(result) + 2))
		return;
	buf_put(log, path, strlen(path) + 1);
	buf_put(log, result, strlen(result) + 1);
}

static void note(struct search *s, enum found what, const char *path, const char *why)
{
	log_try(s->out->log, path, why);
	if (s->result != FOUND_NOTHING &&
	    !(s->result == FOUND_UNUSABLE && what == FOUND_MISMATCH))
		return;
	s->result = what;
	free(s->out->path);
	s->out->path = xstrdup(path);
	err_set(&s->out->why, EINVAL, "%s", why);
}

static bool is_wanted(struct search *s, struct elf_file *f, const char *path)
{
	struct err e;
	uint32_t crc;

	if (s->not_this && s->not_this->dev == f->dev && s->not_this->ino == f->ino)
		return false;
	if (f->type == ET_REL && !s->relocatable) {
		note(s, FOUND_UNUSABLE, path, "a relocatable object");
		return false;
	}
	if (s->id && s->id->text[0]) {
		if (build_id_matches(s->id, f))
			return true;
		note(s, FOUND_MISMATCH, path,
		     f->build_id_n ? "build id differs" : "has no build id");
		return false;
	}
	if (!s->crc)
		return true;
	if (elf_crc32(f, &crc, &e)) {
		note(s, FOUND_UNUSABLE, path, e.msg);
		return false;
	}
	if (crc == *s->crc)
		return true;
	note(s, FOUND_MISMATCH, path, "checksum differs");
	return false;
}

/* Try one file; true ends the search. */
static bool try_file(struct search *s, const char *root, const char *path)
{
	char *full = root ? xasprintf("%s%s%s", root, path[0] == '/' ? "" : "/", path)
			  : xstrdup(path);
	struct elf_file *f = NULL;
	struct err e;
	int r = elf_open_packed(root, path, s->unpacked_max, &f, &e);

	if (r < 0) {
		if (r != -ENOENT && r != -ENOTDIR)
			note(s, FOUND_UNUSABLE, full, e.msg);
		else
			log_try(s->out->log, full, "no such file");
	} else if (is_wanted(s, f, full)) {
		log_try(s->out->log, full, "used");
		free(s->out->path);
		*s->out = (struct found_file){.elf = f, .path = full, .log = s->out->log};
		s->result = FOUND_FILE;
		return true;
	}
	elf_free(f);
	free(full);
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool try_binaries(const struct sym_paths *p, struct search *s, const char *path)
{
	size_t i;

	for (i = 0; i < p->nbinaries; i++) {
		/* without a build id the name has to do: the user gave the file */
		if (!s->id->text[0] && strcmp(base_name(p->binaries[i]), base_name(path)))
			continue;
		if (try_file(s, NULL, p->binaries[i]))
			return true;
	}
	/* those were offers for any mapping: not fitting this one is no news */
	if (s->id->text[0]) {
		found_file_release(s->out);
		s->result = FOUND_NOTHING;
	}
	return false;
}

/* As `prof-capture --keep-binaries` leaves it. */
static void try_kept(const struct sym_paths *p, struct search *s,
		     const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1], *name;
	bool done = false;
	size_t i;

	if (id->n < 2)
		return;
	build_id_hex(id, hex);
	for (i = 0; i < p->ndebug_dirs && !done; i++) {
		name = xasprintf("%s/.build-id/%.2s/%s", p->debug_dirs[i], hex, hex + 2);
		/* most trees hold debug files only: that it is not there is no news */
		done = access(name, F_OK) == 0 && try_file(s, NULL, name);
		free(name);
	}
}

enum found debugfile_binary(const struct sym_paths *p, const char *path,
			    const struct build_id *id, struct found_file *out)
{
	struct search s = {.id = id, .out = out};
	size_t n = strlen(path), i;
	char *plain;

	*out = (struct found_file){.log = out->log};
	if (n > strlen(DELETED) && !strcmp(path + n - strlen(DELETED), DELETED)) {
		n -= strlen(DELETED);
		if (!id->text[0]) {
			note(&s, FOUND_NOTHING, path,
			     "deleted, and no build id to check by");
			return FOUND_NOTHING;
		}
	}
	plain = xstrndup(path, n);
	if (try_binaries(p, &s, plain))
		goto out;
	for (i = 0; i < p->nsysroots; i++)
		if (try_file(&s, p->sysroots[i], plain))
			goto out;
	/* a relative name means nothing here, where the profile was not made */
	if (plain[0] == '/' && (id->text[0] || !p->nsysroots) &&
	    try_file(&s, NULL, plain))
		goto out;
	try_kept(p, &s, id);
out:
	free(plain);
	return s.result;
}

static bool try_build_id(const struct sym_paths *p, struct search *s,
			 const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1], *tree, *flat, *sys;
	bool done = false;
	size_t i;

	if (id->n < 2)
		return false;
	build_id_hex(id, hex);
	tree = xasprintf("/.build-id/%.2s/%s.debug", hex, hex + 2);
	flat = xasprintf("/%.2s/%s.debug", hex, hex + 2);
	sys = xasprintf("/usr/lib/debug%s", tree);
	for (i = 0; i < p->ndebug_dirs && !done; i++) {
		char *a = xasprintf("%s%s", p->debug_dirs[i], tree);
		char *b = xasprintf("%s%s", p->debug_dirs[i], flat);

		done = try_file(s, NULL, a) || try_file(s, NULL, b);
		free(a);
		free(b);
	}
	for (i = 0; i < p->nsysroots && !done; i++)
		done = try_file(s, p->sysroots[i], sys);
	free(tree);
	free(flat);
	free(sys);
	return done;
}

/* In the directory that is dir_n bytes of bin_path, which is seen from root (or NULL). */
static bool try_beside(struct search *s, const char *root, const char *bin_path,
		       int dir_n, const char *sub, const char *link)
{
	char *name = xasprintf("%.*s%s%s", dir_n, bin_path, sub, link);
	bool done = try_file(s, root, name);

	free(name);
	return done;
}

/* The tree of debug files has the binary's directories, as they are in its sysroot if it has one. */
static bool try_link(const struct sym_paths *p, struct search *s,
		     const struct elf_file *bin, const char *bin_path, const char *link)
{
	const char *root = bin->root, *path = root ? bin->path : bin_path, *slash;
	int dir_n = (int)(base_name(path) - path);
	bool done;
	char *name;
	size_t i;

	if (strchr(link, '/'))
		return false;
	slash = path[0] == '/' ? "" : "/";
	done = try_beside(s, root, path, dir_n, "", link) ||
	       try_beside(s, root, path, dir_n, ".debug/", link);
	for (i = 0; i < p->ndebug_dirs && !done; i++) {
		name = xasprintf("%s%s%.*s%s", p->debug_dirs[i], slash, dir_n, path,
				 link);
		done = try_file(s, NULL, name);
		free(name);
	}
	if (root && !done) {
		name = xasprintf("/usr/lib/debug%s%.*s%s", slash, dir_n, path, link);
		done = try_file(s, root, name);
		free(name);
	}
	return done;
}

/* Is a file the module's: of the two signs, one stands for both in the kernel's names. */
static bool is_module_file(const char *file, const char *module)
{
	while (*module && (*file == *module || (*file == '-' && *module == '_')))
		file++, module++;
	if (*module || strncmp(file, ".ko", 3) != 0)
		return false;
	file += strncmp(file + 3, ".debug", 6) ? 3 : 9;
	return !*file || !strcmp(file, ".xz") || !strcmp(file, ".zst") ||
	       !strcmp(file, ".gz");
}

/*
 * Each file is looked at: not every file system says in its directories what is a directory, and
 * some claim two links for those that hold others, which would be taken for leaves.
 */
static FTS *open_tree(const char *root, const char *dir)
{
	char *full = xasprintf("%s%s", root ? root : "", dir), *v[] = {full, NULL};
	FTS *fts = fts_open(v, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	free(full);
	return fts;
}

/* Or a link, which may lead to one. */
static bool is_file(const FTSENT *f)
{
	return f->fts_info == FTS_F || f->fts_info == FTS_SL;
}

/* In the directory, which is seen from root (or NULL). */
static bool try_vmlinux(struct search *s, const char *root, const char *dir)
{
	FTS *fts = open_tree(root, dir);
	bool done = false;
	FTSENT *f;

	while (fts && !done && (f = fts_read(fts))) {
		if (f->fts_info == FTS_D && f->fts_level > 1)
			fts_set(fts, f, FTS_SKIP);
		if (is_file(f) && !strncmp(f->fts_name, "vmlinux", 7))
			done = try_file(s, root, f->fts_path + (root ? strlen(root) : 0));
	}
	if (fts)
		fts_close(fts);
	return done;
}

/* Below the directory, which is seen from root (or NULL), in all of its releases. */
static void list_modules(struct module_files *l, const char *root, const char *dir)
{
	FTS *fts = open_tree(root, dir);
	FTSENT *f;

	while (fts && (f = fts_read(fts))) {
		if (!is_file(f) || !strstr(f->fts_name, ".ko"))
			continue;
		XGROW(l->v, l->n, l->cap);
		l->v[l->n++] = (struct module_file){
			root, xstrdup(f->fts_path + (root ? strlen(root) : 0))};
	}
	if (fts)
		fts_close(fts);
}

void module_files_release(struct module_files *l)
{
	while (l->n)
		free(l->v[--l->n].path);
	free(l->v);
	*l = (struct module_files){0};
}

/* One of a thousand modules is not worth a walk of its own. */
static void try_modules(const struct sym_paths *p, struct search *s, const char *module)
{
	struct module_files own = {0}, *l = p->modules ? p->modules : &own;
	bool done = false;
	char *dir;
	size_t i;

	for (i = 0; i < p->ndebug_dirs && !l->listed; i++) {
		dir = xasprintf("%s/lib/modules", p->debug_dirs[i]);
		list_modules(l, NULL, dir);
		free(dir);
	}
	for (i = 0; i < p->nsysroots && !l->listed; i++)
		list_modules(l, p->sysroots[i], "/usr/lib/debug/lib/modules");
	l->listed = true;
	for (i = 0; i < l->n && !done; i++)
		done = is_module_file(base_name(l->v[i].path), module) &&
		       try_file(s, l->v[i].root, l->v[i].path);
	module_files_release(&own);
}

/* As packages have them that do without build ids: boot/vmlinux-…, lib/modules/…/NAME.ko. */
static void try_releases(const struct sym_paths *p, struct search *s, const char *module)
{
	bool done = false;
	char *dir;
	size_t i;

	if (module) {
		try_modules(p, s, module);
		return;
	}
	for (i = 0; i < p->ndebug_dirs && !done; i++) {
		dir = xasprintf("%s/boot", p->debug_dirs[i]);
		done = try_vmlinux(s, NULL, dir);
		free(dir);
	}
	for (i = 0; i < p->nsysroots && !done; i++)
		done = try_vmlinux(s, p->sysroots[i], "/usr/lib/debug/boot");
}

enum found debugfile_kernel(const struct sym_paths *p, const char *module,
			    const struct build_id *id, struct found_file *out)
{
	struct search s = {
		.id = id,
		.out = out,
		.relocatable = module,
		.unpacked_max = UNPACKED_MAX,
	};

	*out = (struct found_file){.log = out->log};
	if (p->max_memory && p->max_memory / 2 < UNPACKED_MAX)
		s.unpacked_max = p->max_memory / 2;
	if (try_binaries(p, &s, "") || try_build_id(p, &s, id))
		return s.result;
	try_kept(p, &s, id);
	if (s.result != FOUND_FILE)
		try_releases(p, &s, module);
	return s.result;
}

struct build_id build_id_of(const struct elf_file *bin, const struct build_id *id)
{
	struct build_id own = *id;

	if (bin && bin->build_id_n) {
		memcpy(own.bytes, bin->build_id, bin->build_id_n);
		own.n = bin->build_id_n;
		own.text = "binary's";
	}
	return own;
}

enum found debugfile_debug(const struct sym_paths *p, struct elf_file *bin,
			   const char *bin_path, const struct build_id *id,
			   struct found_file *out)
{
	struct build_id own = build_id_of(bin, id);
	struct search s = {.id = &own, .out = out, .not_this = bin};
	const char *link;
	uint32_t crc;

	*out = (struct found_file){.log = out->log};
	if (try_build_id(p, &s, &own) || !bin || !elf_debuglink(bin, &link, &crc))
		return s.result;
	s.crc = &crc;
	try_link(p, &s, bin, bin_path, link);
	return s.result;
}

static void try_fetch(const struct sym_paths *p, struct search *s,
		      enum debuginfod_kind kind, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1], *what, *path;
	struct err e;

	if (!p->debuginfod || id->n < 2)
		return;
	build_id_hex(id, hex);
	what = xasprintf("debuginfod: %s of %s", debuginfod_kind_name(kind), hex);
	if (debuginfod_find(p->debuginfod, kind, id->bytes, id->n, &path, &e)) {
		log_try(s->out->log, what, e.msg);
	} else {
		try_file(s, NULL, path);
		free(path);
	}
	free(what);
}

enum found debugfile_fetch(const struct sym_paths *p, enum debuginfod_kind kind,
			   const struct build_id *id, bool relocatable,
			   struct found_file *out)
{
	struct search s = {.id = id, .out = out, .relocatable = relocatable};

	*out = (struct found_file){.log = out->log};
	try_fetch(p, &s, kind, id);
	return s.result;
}

enum found debugfile_alt(const struct sym_paths *p, struct elf_file *debug,
			 const char *debug_path, struct found_file *out)
{
	struct build_id id = {.text = "supplementary"};
	struct search s = {.id = &id, .out = out, .not_this = debug, .relocatable = true};
	const uint8_t *bytes;
	const char *name;
	char *real, *full;
	size_t i;

	*out = (struct found_file){.log = out->log};
	if (!elf_debugaltlink(debug, &name, &bytes, &id.n))
		return FOUND_NOTHING;
	memcpy(id.bytes, bytes, id.n);
	if (name[0] == '/') {
		for (i = 0; i < p->nsysroots; i++)
			if (try_file(&s, p->sysroots[i], name))
				return s.result;
		if (try_file(&s, NULL, name))
			return s.result;
	} else {
		/* relative to where the debug file really is: build-id trees are links */
		real = realpath(debug_path, NULL);
		full = real ? xasprintf("%.*s%s", (int)(base_name(real) - real), real,
					name)
			    : NULL;
		free(real);
		if (full)
			try_file(&s, NULL, full);
		free(full);
		if (s.result == FOUND_FILE)
			return s.result;
	}
	if (!try_build_id(p, &s, &id))
		try_fetch(p, &s, DEBUGINFOD_DEBUGINFO, &id);
	return s.result;
}

/* Takes the path over. */
static struct elf_file *open_logged(const char *root, char *path, struct buf *log)
{
	char *full = root ? xasprintf("%s/%s", root, path) : xstrdup(path);
	struct elf_file *f = NULL;
	struct err e;

	if (elf_open(root, path, &f, &e)) {
		log_try(log, full, e.msg);
		f = NULL;
	}
	free(path);
	free(full);
	return f;
}

struct elf_file *debugfile_dwp(const char *path)
{
	return open_logged(NULL, xasprintf("%s.dwp", path), NULL);
}

struct elf_file *debugfile_dwo(const struct sym_paths *p, const char *path,
			       const char *dir, const char *name, struct buf *log)
{
	int dir_n = (int)(base_name(path) - path);
	bool whole = name[0] == '/';
	char *there = xasprintf("%s%s%s", whole ? "" : dir, whole ? "" : "/", name);
	struct elf_file *f = NULL;
	size_t i;

	for (i = 0; i < p->nsysroots && !f; i++)
		f = open_logged(p->sysroots[i], xstrdup(there), log);
	if (!f && there[0] == '/')
		f = open_logged(NULL, xstrdup(there), log);
	free(there);
	if (!f && !whole)
		f = open_logged(NULL, xasprintf("%.*s%s", dir_n, path, name), log);
	if (!f)
		f = open_logged(NULL, xasprintf("%.*s%s", dir_n, path, base_name(name)),
				log);
	return f;
}
