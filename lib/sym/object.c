/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/object.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/sym/answers.h"
#include "lib/sym/demangle.h"
#include "lib/sym/dwarf.h"
#include "lib/sym/simplify.h"
#include "lib/sym/symtab.h"

struct object {
	const struct sym_paths *paths;
	char *path, *build_id; /* as the profile has them */
	struct build_id id;
	enum sym_reason state;
	bool verified, go, opened; /* opened: the sources below are as good as they get */
	struct found_file bin, debug, alt;
	uint64_t
		debug_bias; /* add to an address of the binary for one of the debug file */
	struct intern strings;
	struct dwarf *dwarf;
	struct symtab *symtab, *debug_symtab, *dynsym;
	struct answers answers;
	struct buf trouble, scratch, scratch2;
};

const char *sym_source_name(enum sym_source s)
{
	static const char *const names[] = {"dwarf", "symtab", "dynsym"};

	return names[s];
}

const char *sym_reason_name(enum sym_reason r)
{
	static const char *const names[] = {
		[SYM_OK] = "ok",
		[SYM_NO_FILE] = "no-file",
		[SYM_UNUSABLE_FILE] = "unusable-file",
		[SYM_BUILD_ID_MISMATCH] = "build-id-mismatch",
		[SYM_NO_SEGMENT] = "no-segment",
		[SYM_AMBIGUOUS_SEGMENT] = "ambiguous-segment",
		[SYM_NEED_BINARY] = "need-binary",
		[SYM_NO_SYMBOLS] = "no-symbols",
		[SYM_NO_FUNCTION] = "no-function",
		[SYM_DWO_MISSING] = "dwo-missing",
		[SYM_ALT_MISSING] = "alt-missing",
		[SYM_DAMAGED] = "damaged",
	};

	return names[r];
}

static void add_trouble(struct object *o, const char *path, const char *what)
{
	if (o->trouble.len)
		buf_puts(&o->trouble, "; ");
	buf_printf(&o->trouble, "%s: %s", path, what);
}

static void note_trouble(struct object *o, const struct found_file *f)
{
	if (f->why.code)
		add_trouble(o, f->path, f->why.msg);
}

/* A debug file whose executable segments have kept their place can stand in for the binary. */
static bool can_place(const struct elf_file *f)
{
	size_t i, n = 0;

	for (i = 0; i < f->nsegments; i++) {
		if (!f->segments[i].exec)
			continue;
		n++;
		if (!f->segments[i].filesz)
			return false;
	}
	return n;
}

static void find_debug(struct object *o)
{
	struct elf_file *bin = o->bin.elf;
	enum found found;

	if (bin && elf_has_debug(bin, "info"))
		return;
	found = debugfile_debug(o->paths, bin, o->bin.path, &o->id, &o->debug);
	if (found != FOUND_FILE)
		note_trouble(o, &o->debug);
	else if (bin && bin->nsegments && o->debug.elf->nsegments)
		o->debug_bias = o->debug.elf->segments[0].vaddr - bin->segments[0].vaddr;
}

/* The binary, failing that its debug file. */
static void find_files(struct object *o)
{
	enum found found = debugfile_binary(o->paths, o->path, &o->id, &o->bin);

	if (found != FOUND_FILE)
		note_trouble(o, &o->bin);
	find_debug(o);
	if (o->bin.elf || o->debug.elf)
		o->state = SYM_OK;
	else if (found == FOUND_MISMATCH)
		o->state = SYM_BUILD_ID_MISMATCH;
	else
		o->state = found == FOUND_UNUSABLE ? SYM_UNUSABLE_FILE : SYM_NO_FILE;
}

static struct elf_file *main_file(const struct object *o)
{
	return o->bin.elf ? o->bin.elf : o->debug.elf;
}

struct object *object_new(const struct sym_paths *paths, const char *path,
			  const char *build_id)
{
	struct object *o = xcalloc(1, sizeof(*o));
	struct elf_file *f;

	o->paths = paths;
	o->path = xstrdup(path);
	o->build_id = xstrdup(build_id);
	o->id = build_id_parse(o->build_id);
	intern_init(&o->strings);
	answers_init(&o->answers);
	buf_init(&o->trouble, 1 << 16);
	buf_init(&o->scratch, DEMANGLED_MAX);
	buf_init(&o->scratch2, DEMANGLED_MAX);
	find_files(o);
	f = main_file(o);
	if (f) {
		o->verified = o->build_id[0] != 0;
		o->go = f->go_build_id || elf_section(f, ".go.buildinfo") ||
			elf_section(f, ".gopclntab");
	}
	return o;
}

void object_free(struct object *o)
{
	if (!o)
		return;
	object_trim(o);
	found_file_release(&o->bin);
	found_file_release(&o->debug);
	found_file_release(&o->alt);
	intern_release(&o->strings);
	answers_release(&o->answers);
	buf_release(&o->trouble);
	buf_release(&o->scratch);
	buf_release(&o->scratch2);
	free(o->path);
	free(o->build_id);
	free(o);
}

enum sym_reason object_state(const struct object *o)
{
	return o->state;
}

bool object_is_verified(const struct object *o)
{
	return o->verified;
}

const char *object_path(const struct object *o)
{
	return o->bin.elf ? o->bin.path : o->debug.elf ? o->debug.path : NULL;
}

const char *object_debug_path(const struct object *o)
{
	return o->debug.elf ? o->debug.path : NULL;
}

const char *object_trouble(const struct object *o)
{
	struct buf *b = (struct buf *)&o->trouble; /* only puts the NUL in place */

	return b->len ? buf_str(b) : "";
}

bool object_has_lines(const struct object *o)
{
	return (o->bin.elf && elf_has_debug(o->bin.elf, "info")) ||
	       (o->debug.elf && elf_has_debug(o->debug.elf, "info"));
}

/*
 * Is `at` where a mapping of the segment starts, with pages of any size up to its alignment?
 */
static bool is_page_of(const struct elf_segment *s, uint64_t at)
{
	uint64_t page;

	for (page = 4096; page <= s->align; page *= 2)
		if (at == (s->vaddr & ~(page - 1)))
			return true;
	return false;
}

/*
 * Only a debug file, whose offsets are lost. What can be trusted: a program that is not
 * position independent lies at its own addresses; and a mapping whose offset is the address of
 * the one executable segment tells that offsets and addresses are the same in this file.
 */
static enum sym_reason vaddr_from_debug(const struct elf_file *f, uint64_t start,
					uint64_t offset, uint64_t addr, uint64_t *vaddr)
{
	const struct elf_segment *s = NULL;
	uint64_t v = addr - start + offset;
	size_t i, n = 0;

	for (i = 0; i < f->nsegments; i++)
		if (f->segments[i].exec && ++n)
			s = &f->segments[i];
	if (n != 1)
		return SYM_NEED_BINARY;
	if (f->type == ET_EXEC && is_page_of(s, start))
		v = addr;
	else if (f->type != ET_DYN || !is_page_of(s, offset))
		return SYM_NEED_BINARY;
	if (v < s->vaddr || v - s->vaddr >= s->memsz)
		return SYM_NO_SEGMENT;
	*vaddr = v;
	return SYM_OK;
}

enum sym_reason object_vaddr(const struct object *o, uint64_t start, uint64_t limit,
			     uint64_t offset, uint64_t addr, uint64_t *vaddr)
{
	const struct elf_file *f = main_file(o);
	uint64_t in_file = addr - start + offset;
	int r;

	if (!f)
		return o->state;
	if (!start && !offset && (!limit || limit == UINT64_MAX)) {
		*vaddr = addr;
		return SYM_OK;
	}
	if (addr < start || (limit && addr >= limit) || in_file < offset)
		return SYM_NO_SEGMENT;
	if (!o->bin.elf && !can_place(f))
		return vaddr_from_debug(f, start, offset, addr, vaddr);
	r = elf_vaddr(f, in_file, vaddr);
	return !r ? SYM_OK : r == -ENOTUNIQ ? SYM_AMBIGUOUS_SEGMENT : SYM_NO_SEGMENT;
}

/* Read what the files offer; again after object_trim(). */
static void open_sources(struct object *o)
{
	struct elf_file *bin = o->bin.elf, *debug = o->debug.elf;
	struct elf_file *with_dwarf = debug ? debug : bin;
	struct err e;

	if (o->opened)
		return;
	o->opened = true;
	if (elf_has_debug(with_dwarf, "info")) {
		if (!o->alt.elf && debugfile_alt(o->paths, with_dwarf,
						 debug ? o->debug.path : o->bin.path,
						 &o->alt) != FOUND_FILE)
			note_trouble(o, &o->alt);
		if (dwarf_open(with_dwarf, o->alt.elf, &o->strings, &o->dwarf, &e))
			add_trouble(o, debug ? o->debug.path : o->bin.path, e.msg);
	}
	if (bin)
		symtab_open(bin, SYMTAB_FULL, &o->symtab, &e);
	if (debug && !o->symtab)
		symtab_open(debug, SYMTAB_FULL, &o->debug_symtab, &e);
	if (bin)
		symtab_open(bin, SYMTAB_DYNAMIC, &o->dynsym, &e);
}

struct symbol_hit {
	bool found;
	enum sym_source source;
	struct symbol symbol;
};

static struct symbol_hit find_symbol(const struct object *o, uint64_t vaddr)
{
	struct symbol_hit h = {.source = SYM_SYMTAB};

	h.found = (o->symtab && symtab_find(o->symtab, vaddr, &h.symbol)) ||
		  (o->debug_symtab &&
		   symtab_find(o->debug_symtab, vaddr + o->debug_bias, &h.symbol));
	if (!h.found && o->dynsym && symtab_find(o->dynsym, vaddr, &h.symbol)) {
		h.found = true;
		h.source = SYM_DYNSYM;
	}
	return h;
}

static size_t base_len(const struct object *o, const char *name)
{
	size_t n = strlen(name);

	return o->go ? n : demangle_clone_base(name, n);
}

/* `fopen@@GLIBC_2.2.5`: only in .symtab, and no part of the name. */
static size_t without_version(const char *name, size_t n)
{
	const char *at = memchr(name, '@', n);

	return at && at != name ? (size_t)(at - name) : n;
}

static bool is_word(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Does the symbol's readable form end in the plain name, as a whole identifier? */
static bool ends_in(struct object *o, const char *symbol, size_t n, const char *plain)
{
	char *base = xstrndup(symbol, n);
	bool yes = false;
	size_t at;

	if (demangle(base, DEMANGLE_SIMPLE, &o->scratch)) {
		buf_clear(&o->scratch2);
		buf_puts(&o->scratch2, plain);
		simplify_cxx(&o->scratch2, false);
		n = o->scratch2.len;
		at = o->scratch.len - n;
		yes = n && o->scratch.len >= n &&
		      !memcmp(o->scratch.data + at, o->scratch2.data, n) &&
		      (!at || !is_word((char)o->scratch.data[at - 1]));
	}
	free(base);
	return yes;
}

/*
 * glibc calls its functions by hidden aliases: `__GI_raise` is raise to everybody else.
 */
static size_t alias_prefix(const char *name, size_t n)
{
	static const char prefix[] = "__GI_";

	return n > strlen(prefix) && !memcmp(name, prefix, strlen(prefix))
		       ? strlen(prefix)
		       : 0;
}

static uint32_t put_function(struct object *o, const char *system, size_t system_n,
			     size_t name_n, uint32_t start_line)
{
	size_t skip = alias_prefix(system, name_n);
	struct sym_function f = {
		.name = intern_put(&o->strings, system + skip, name_n - skip),
		.system = intern_put(&o->strings, system, system_n),
		.start_line = start_line,
	};

	return answers_function(&o->answers, f);
}

static uint32_t symbol_function(struct object *o, const char *symbol, uint32_t start_line)
{
	size_t n = without_version(symbol, strlen(symbol));
	char *s = xstrndup(symbol, n);
	uint32_t f = put_function(o, s, n, base_len(o, s), start_line);

	free(s);
	return f;
}

static uint32_t plain_function(struct object *o, uint32_t name, uint32_t start_line)
{
	struct str s = intern_str(&o->strings, name);

	return put_function(o, s.p, s.n, s.n, start_line);
}

/* The function of the outermost frame; SYM_NONE if nothing names it. */
static uint32_t outer_function(struct object *o, const struct dwarf_function *d,
			       const struct symbol_hit *h, uint32_t start_line)
{
	uint32_t given = d ? d->linkage ? d->linkage : d->bare : 0;
	struct str name;
	size_t n;

	if (!given)
		return h->found ? symbol_function(o, h->symbol.name, start_line)
				: SYM_NONE;
	name = intern_str(&o->strings, given);
	if (h->found) {
		n = base_len(o, h->symbol.name);
		n = without_version(h->symbol.name, n);
		if ((n == name.n && !memcmp(h->symbol.name, name.p, n)) ||
		    (!d->linkage && ends_in(o, h->symbol.name, n, name.p)))
			return symbol_function(o, h->symbol.name, start_line);
	}
	return plain_function(o, given, start_line);
}

/* A start line counts in the frame's file only. */
static uint32_t start_line(const struct dwarf_function *d, uint32_t file)
{
	return d && (!d->start_file || d->start_file == file) ? d->start_line : 0;
}

static const struct dwarf_function *function_of(const struct object *o,
						const struct dwarf_frame *f)
{
	return f->function != DWARF_NONE ? dwarf_function(o->dwarf, f->function) : NULL;
}

/*
 * Frames of DWARF to locations, outermost first since each names its caller. Inlined frames
 * that nothing names are left out; an outermost one without a name ends it.
 */
static uint32_t put_frames(struct object *o, const struct dwarf_frame *v, size_t n,
			   const struct symbol_hit *h)
{
	uint32_t caller = SYM_NONE, function;
	const struct dwarf_function *d;
	size_t i;

	for (i = n; i-- > 0;) {
		struct sym_location l = {.file = v[i].file,
					 .line = v[i].line,
					 .column = v[i].column,
					 .caller = caller};

		d = function_of(o, &v[i]);
		if (i == n - 1)
			function = outer_function(o, d, h, start_line(d, v[i].file));
		else if (d && (d->linkage || d->bare))
			function = plain_function(o, d->linkage ? d->linkage : d->bare,
						  start_line(d, v[i].file));
		else
			function = SYM_NONE;
		if (function == SYM_NONE && i == n - 1)
			return SYM_NONE;
		if (function == SYM_NONE)
			continue;
		l.function = function;
		caller = answers_location(&o->answers, l);
	}
	return caller;
}

static bool lacks_alt(const struct object *o, const struct dwarf_frame *v, size_t n)
{
	const struct dwarf_function *d;
	size_t i;

	for (i = 0; i < n; i++) {
		d = function_of(o, &v[i]);
		if (d && d->alt_missing && !d->linkage && !d->bare)
			return true;
	}
	return false;
}

static struct sym_answer make_answer(struct object *o, uint64_t vaddr,
				     const struct dwarf_answer *d,
				     const struct dwarf_frame *v)
{
	struct sym_answer a = {.location = SYM_NONE, .reason = SYM_OK};
	struct symbol_hit h = find_symbol(o, vaddr);
	struct sym_location l = {.caller = SYM_NONE};

	if (d && d->n) {
		a.location = put_frames(o, v, d->n, &h);
		a.source = SYM_DWARF;
	}
	if (a.location == SYM_NONE && h.found) {
		l.function = symbol_function(o, h.symbol.name, 0);
		a.location = answers_location(&o->answers, l);
		a.source = h.source;
	}
	if (d && d->dwo_missing)
		a.reason = SYM_DWO_MISSING;
	else if (d && lacks_alt(o, v, d->n))
		a.reason = SYM_ALT_MISSING;
	else if (d && d->damaged && !d->n)
		a.reason = SYM_DAMAGED;
	else if (a.location == SYM_NONE)
		a.reason = o->dwarf || o->symtab || o->debug_symtab || o->dynsym
				   ? SYM_NO_FUNCTION
				   : SYM_NO_SYMBOLS;
	return a;
}

static int u64_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The addresses that have no answer yet, sorted, each once. */
static size_t unanswered(const struct object *o, const uint64_t *vaddrs, size_t n,
			 uint64_t *out)
{
	struct sym_answer ignored;
	size_t i, k = 0, kept = 0;

	for (i = 0; i < n; i++)
		if (!answers_get(&o->answers, vaddrs[i], &ignored))
			out[k++] = vaddrs[i];
	qsort(out, k, sizeof(*out), u64_cmp);
	for (i = 0; i < k; i++)
		if (!kept || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

static void resolve_new(struct object *o, const uint64_t *vaddrs, size_t n)
{
	struct dwarf_result res = {0};
	uint64_t *biased = NULL;
	size_t i;

	open_sources(o);
	if (o->dwarf) {
		biased = xmalloc(n * sizeof(*biased));
		for (i = 0; i < n; i++)
			biased[i] = vaddrs[i] + o->debug_bias;
		if (biased[0] <= biased[n - 1]) /* else the difference is nonsense */
			dwarf_lookup(o->dwarf, biased, n, &res);
	}
	for (i = 0; i < n; i++) {
		const struct dwarf_answer *d = res.answers ? &res.answers[i] : NULL;
		const struct dwarf_frame *v = d && d->n ? res.frames + d->first : NULL;

		answers_put(&o->answers, vaddrs[i], make_answer(o, vaddrs[i], d, v));
	}
	dwarf_result_release(&res);
	free(biased);
}

void object_resolve(struct object *o, const uint64_t *vaddrs, size_t n,
		    struct sym_answer *out)
{
	uint64_t *fresh = xmalloc((n ? n : 1) * sizeof(*fresh));
	size_t i, k = unanswered(o, vaddrs, n, fresh);

	if (k && o->state == SYM_OK)
		resolve_new(o, fresh, k);
	for (i = 0; i < n; i++)
		if (!answers_get(&o->answers, vaddrs[i], &out[i]))
			out[i] = (struct sym_answer){.location = SYM_NONE,
						     .reason = o->state};
	free(fresh);
}

struct sym_location object_location(const struct object *o, uint32_t location)
{
	return answers_get_location(&o->answers, location);
}

struct sym_function object_function(const struct object *o, uint32_t function)
{
	return answers_get_function(&o->answers, function);
}

size_t object_nfunctions(const struct object *o)
{
	return o->answers.functions.n - 1;
}

const char *object_string(const struct object *o, uint32_t string)
{
	return intern_str(&o->strings, string).p;
}

uint64_t object_bytes(const struct object *o)
{
	return (o->dwarf ? dwarf_table_bytes(o->dwarf) : 0) +
	       (o->bin.elf ? o->bin.elf->data_bytes : 0) +
	       (o->debug.elf ? o->debug.elf->data_bytes : 0) +
	       (o->alt.elf ? o->alt.elf->data_bytes : 0);
}

bool object_is_open(const struct object *o)
{
	return (o->bin.elf && o->bin.elf->fd >= 0) ||
	       (o->debug.elf && o->debug.elf->fd >= 0);
}

void object_trim(struct object *o)
{
	dwarf_free(o->dwarf);
	symtab_free(o->symtab);
	symtab_free(o->debug_symtab);
	symtab_free(o->dynsym);
	o->dwarf = NULL;
	o->symtab = o->debug_symtab = o->dynsym = NULL;
	o->opened = false;
	if (o->bin.elf)
		elf_suspend(o->bin.elf);
	if (o->debug.elf)
		elf_suspend(o->debug.elf);
	if (o->alt.elf)
		elf_suspend(o->alt.elf);
}
