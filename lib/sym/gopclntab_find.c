/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/gopclntab_internal.h"

#define HEADER_BYTES 8
#define TABLE_ALIGN 16 /* at least */
#define SCAN_MAX (1ull << 30)
/* Words of moduledata, from runtime/symtab.go; the same from 1.18 on, but for gofunc. */
#define MD_NAMES 1
#define MD_MINPC 20
#define MD_MAXPC 21
#define MD_TEXT 22
#define MD_GOFUNC_1_18 38
#define MD_GOFUNC_1_20 40
#define MD_WORDS 41

bool go_is_header(const uint8_t *p, size_t n, bool swap, enum go_layout *layout)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	struct cursor c = cursor_at(p, n, 0, swap);
	uint32_t magic = cursor_u32(&c);
	size_t i;

	if (n < HEADER_BYTES || p[4] || p[5] || (p[6] != 1 && p[6] != 2 && p[6] != 4) ||
	    (p[7] != 4 && p[7] != 8))
		return false;
	for (i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (magic == magics[i]) {
			*layout = i;
			return true;
		}
	}
	return false;
}

/* No section says where, as when a C linker has put it among other read-only data. */
static bool scan(struct elf_file *f, uint64_t *addr)
{
	const struct elf_segment *s;
	enum go_layout ignored;
	struct err err;
	uint8_t *p;
	size_t n, i;
	bool found = false;

	for (s = f->segments; s < f->segments + f->nsegments && !found; s++) {
		if (s->exec || elf_load(f, s->vaddr, SCAN_MAX, &p, &n, &err))
			continue;
		i = -s->vaddr & (TABLE_ALIGN - 1);
		for (; i < n && n - i >= HEADER_BYTES && !found; i += TABLE_ALIGN) {
			found = go_is_header(p + i, n - i, f->swap, &ignored);
			*addr = s->vaddr + i;
		}
		free(p);
	}
	return found;
}

int go_find_table(struct elf_file *f, uint64_t *addr, uint64_t *n, struct err *e)
{
	struct elf_section *s = elf_section(f, ".gopclntab");

	if (!s)
		s = elf_section(f, ".data.rel.ro.gopclntab");
	if (s && s->type != SHT_NOBITS && s->size) {
		*addr = s->addr;
		*n = s->size;
		return 0;
	}
	*n = 0;
	if ((f->go_build_id || elf_section(f, ".go.buildinfo") ||
	     elf_section(f, ".note.go.buildid")) &&
	    scan(f, addr))
		return 0;
	return err_set(e, ENODATA, "no table of Go functions");
}

/* Relative relocations of the file, one after another: where and what. */
struct relocs {
	struct elf_file *f;
	size_t section;
	struct cursor c;
	uint64_t where, addend;
};

static bool is_relative(const struct elf_file *f, uint64_t info)
{
	uint32_t type = f->is64 ? (uint32_t)info : info & 0xff;

	switch (f->machine) {
	case EM_X86_64:
		return type == R_X86_64_RELATIVE;
	case EM_AARCH64:
		return type == R_AARCH64_RELATIVE;
	case EM_PPC64:
		return type == R_PPC64_RELATIVE;
	case EM_S390:
		return type == R_390_RELATIVE;
	case EM_RISCV:
		return type == R_RISCV_RELATIVE;
	}
	return false;
}

static bool next_section(struct relocs *r)
{
	struct err ignored;
	const uint8_t *p;
	size_t n;

	while (++r->section < r->f->nsections) {
		struct elf_section *s = &r->f->sections[r->section];

		if (s->type == SHT_RELA && (s->flags & SHF_ALLOC) &&
		    !elf_data(r->f, s, &p, &n, &ignored)) {
			r->c = cursor_at(p, n, 0, r->f->swap);
			return true;
		}
	}
	return false;
}

static bool next_reloc(struct relocs *r)
{
	unsigned word = r->f->is64 ? 8 : 4;
	uint64_t info;

	for (;;) {
		while (cursor_left(&r->c) < 3 * word)
			if (!next_section(r))
				return false;
		r->where = cursor_uint(&r->c, word);
		info = cursor_uint(&r->c, word);
		r->addend = cursor_uint(&r->c, word);
		if (is_relative(r->f, info))
			return true;
	}
}

static void put_word(const struct elf_file *f, uint8_t *p, uint64_t v)
{
	uint32_t v4 = f->swap ? __builtin_bswap32((uint32_t)v) : (uint32_t)v;

	if (!f->is64) {
		memcpy(p, &v4, sizeof(v4));
		return;
	}
	if (f->swap)
		v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

void go_relocate(struct elf_file *f, uint64_t addr, uint8_t *p, size_t n)
{
	struct relocs r = {.f = f};
	unsigned word = f->is64 ? 8 : 4;

	while (next_reloc(&r))
		if (r.where >= addr && r.where - addr < n && n - (r.where - addr) >= word)
			put_word(f, p + (r.where - addr), r.addend);
}

static uint64_t word_at(const struct gopclntab *t, const uint8_t *p, size_t i)
{
	struct cursor c = cursor_at(p + i * t->ptr, t->ptr, 0, t->file->swap);

	return cursor_uint(&c, t->ptr);
}

/*
 * Is moduledata there? Its first words point to the header and to the names, and its limits
 * are those of the functions; chance does not make that.
 */
static bool try_moduledata(struct gopclntab *t, uint64_t addr)
{
	size_t want = MD_WORDS * (size_t)t->ptr, n;
	uint64_t text, first, last, high;
	bool ok = false;
	struct err ignored;
	uint8_t *p;

	if (elf_load(t->file, addr, want, &p, &n, &ignored))
		return false;
	if (n < want)
		goto out;
	go_relocate(t->file, addr, p, n);
	text = word_at(t, p, MD_TEXT);
	if (!go_get(t, t->functab, 4, &first) ||
	    !go_get(t, t->functab + 8 * t->nfunctions, 4, &last))
		goto out;
	if (word_at(t, p, 0) != t->addr ||
	    word_at(t, p, MD_NAMES) != t->addr + t->names ||
	    word_at(t, p, MD_MINPC) != text + first ||
	    word_at(t, p, MD_MAXPC) != text + last ||
	    !elf_is_code(t->file, text + first, &high))
		goto out;
	ok = true;
	t->text = text;
	t->gofunc = word_at(t, p, t->layout == GO_1_18 ? MD_GOFUNC_1_18 : MD_GOFUNC_1_20);
	t->has_trees = t->gofunc;
out:
	free(p);
	return ok;
}

/* A pointer to the table among the bytes of a segment. */
static bool search(struct gopclntab *t, const struct elf_segment *s)
{
	struct err ignored;
	bool found = false;
	uint8_t *p;
	size_t n, i;

	if (s->exec || elf_load(t->file, s->vaddr, SCAN_MAX, &p, &n, &ignored))
		return false;
	for (i = 0; !found && (i + 1) * t->ptr <= n; i++)
		found = word_at(t, p, i) == t->addr &&
			try_moduledata(t, s->vaddr + i * t->ptr);
	free(p);
	return found;
}

void go_find_moduledata(struct gopclntab *t)
{
	struct relocs r = {.f = t->file};
	size_t i;

	while (next_reloc(&r))
		if (r.addend == t->addr && try_moduledata(t, r.where))
			return;
	/* it can be written to, so it is nearer to the end */
	for (i = t->file->nsegments; i-- > 0;)
		if (search(t, &t->file->segments[i]))
			return;
}
