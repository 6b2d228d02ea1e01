/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/demangle.h"
#include "lib/sym/object_internal.h"
#include "lib/sym/simplify.h"

struct symbol_hit {
	bool found;
	enum sym_source source;
	struct symbol symbol;
};

/* What stands for a function in the linkage table, by the name of the function. */
static bool find_plt(const struct object *o, uint64_t vaddr, struct symbol *out)
{
	struct plt_entry p;

	if (!o->plt || !plt_find(o->plt, vaddr, &p))
		return false;
	*out = (struct symbol){p.name, p.addr, p.size};
	return p.name[0] || (o->symtab && symtab_find(o->symtab, p.target, out)) ||
	       (o->debug_symtab &&
		symtab_find(o->debug_symtab, p.target + o->debug_bias, out));
}

static struct symbol_hit find_symbol(const struct object *o, uint64_t vaddr)
{
	struct symbol_hit h = {.found = true, .source = SYM_SYMTAB};

	if ((o->symtab && symtab_find(o->symtab, vaddr, &h.symbol)) ||
	    (o->debug_symtab &&
	     symtab_find(o->debug_symtab, vaddr + o->debug_bias, &h.symbol)))
		return h;
	h.source = SYM_DEBUGDATA;
	if (o->mini_symtab && symtab_find(o->mini_symtab, vaddr, &h.symbol))
		return h;
	h.source = SYM_PLT;
	if (find_plt(o, vaddr, &h.symbol))
		return h;
	h.source = SYM_DYNSYM;
	h.found = o->dynsym && symtab_find(o->dynsym, vaddr, &h.symbol);
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

static uint32_t plt_function(struct object *o, const char *symbol)
{
	size_t n = without_version(symbol, strlen(symbol));
	struct buf *b = &o->scratch;

	buf_clear(b);
	buf_put(b, symbol, n);
	buf_puts(b, DEMANGLE_PLT);
	return put_function(o, (const char *)b->data, b->len, b->len, 0);
}

void object_forget_memos(struct object *o)
{
	u64map_release(&o->plain_functions);
	o->outer = (struct outer_memo){0};
}

static uint32_t plain_function(struct object *o, uint32_t name, uint32_t start_line)
{
	uint64_t key = (uint64_t)name << 32 | start_line;
	uint32_t f = u64map_get(&o->plain_functions, key);
	struct str s;

	if (f == U64MAP_NONE) {
		s = intern_str(&o->strings, name);
		f = put_function(o, s.p, s.n, s.n, start_line);
		u64map_put(&o->plain_functions, key, f);
	}
	return f;
}

static uint32_t make_outer(struct object *o, const struct dwarf_function *d,
			   uint32_t given, const struct symbol_hit *h,
			   uint32_t start_line)
{
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

/* The function of the outermost frame; SYM_NONE if nothing names it. */
static uint32_t outer_function(struct object *o, const struct dwarf_function *d,
			       const struct symbol_hit *h, uint32_t start_line)
{
	struct outer_memo now = {
		.symbol = h->found ? h->symbol.name : NULL,
		.given = d ? d->linkage ? d->linkage : d->bare : 0,
		.start_line = start_line,
		.has_linkage = d && d->linkage,
	};

	/* addresses come sorted: most are in the function of the one before */
	if (!now.symbol || now.symbol != o->outer.symbol || now.given != o->outer.given ||
	    now.start_line != o->outer.start_line ||
	    now.has_linkage != o->outer.has_linkage) {
		now.function = make_outer(o, d, now.given, h, start_line);
		o->outer = now;
	}
	return now.symbol ? o->outer.function : now.function;
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

/* `F[go.shape.int]` is `F[...]` to Go's runtime, and so it was in its profiles. */
static uint32_t go_function(struct object *o, const char *name, uint32_t start_line)
{
	struct sym_function f = {.start_line = start_line};
	const char *rest;
	size_t n = go_name_split(name, &rest);

	f.system = f.name = intern_put(&o->strings, name, strlen(name));
	if (rest[0] || name[n]) {
		buf_clear(&o->scratch);
		buf_put(&o->scratch, name, n);
		buf_puts(&o->scratch, "[...]");
		buf_puts(&o->scratch, rest);
		f.name = intern_put(&o->strings, o->scratch.data, o->scratch.len);
	}
	return answers_function(&o->answers, f);
}

/* SYM_NONE: the address is not in Go code. */
static uint32_t put_go_frames(struct object *o, uint64_t vaddr)
{
	struct go_frame g[GO_FRAMES_MAX];
	size_t n = gopclntab_find(o->go_table, vaddr, g), i;
	uint32_t caller = SYM_NONE;

	for (i = n; i-- > 0;) {
		struct sym_location l = {.line = g[i].line, .caller = caller};

		l.file = intern_put(&o->strings, g[i].file, strlen(g[i].file));
		l.function = go_function(o, g[i].name, g[i].start_line);
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

static bool is_cut(const struct found_file *bin, const struct found_file *debug)
{
	return (bin->elf && bin->elf->cut) || (debug->elf && debug->elf->cut);
}

/* Was something left out for want of memory that would tell more than the answer does? */
static bool lacks_memory(const struct object *o, const struct dwarf_answer *d,
			 const struct sym_answer *a)
{
	if (d && d->n && a->location != SYM_NONE)
		return d->dwo_too_big;
	return (d && d->over_memory) || o->over.dwarf || o->over.go ||
	       (o->over.symbols && (a->location == SYM_NONE || a->source > SYM_SYMTAB));
}

struct sym_answer object_answer(struct object *o, uint64_t vaddr,
				const struct dwarf_answer *d, const struct dwarf_frame *v)
{
	struct sym_answer a = {.location = SYM_NONE, .reason = SYM_OK};
	struct symbol_hit h = find_symbol(o, vaddr);
	struct sym_location l = {.caller = SYM_NONE};

	if (o->go_table) {
		a.location = put_go_frames(o, vaddr);
		a.source = SYM_GOPCLNTAB;
		if (gopclntab_lacks_memory(o->go_table))
			a.reason = SYM_MEMORY_LIMIT;
		if (a.location != SYM_NONE)
			return a;
	}
	if (d && d->n) {
		a.location = put_frames(o, v, d->n, &h);
		a.source = SYM_DWARF;
	}
	if (a.location == SYM_NONE && h.found) {
		l.function = h.source == SYM_PLT ? plt_function(o, h.symbol.name)
						 : symbol_function(o, h.symbol.name, 0);
		a.location = answers_location(&o->answers, l);
		a.source = h.source;
	}
	if (d && d->dwo_missing)
		a.reason = SYM_DWO_MISSING;
	else if (d && lacks_alt(o, v, d->n))
		a.reason = SYM_ALT_MISSING;
	else if (lacks_memory(o, d, &a))
		a.reason = SYM_MEMORY_LIMIT;
	else if ((d && d->damaged && !d->n) ||
		 (a.location == SYM_NONE && is_cut(&o->bin, &o->debug)))
		a.reason = SYM_DAMAGED;
	else if (a.location == SYM_NONE)
		a.reason = o->dwarf || o->go_table || o->symtab || o->debug_symtab ||
					   o->mini_symtab || o->dynsym
				   ? SYM_NO_FUNCTION
				   : SYM_NO_SYMBOLS;
	return a;
}
