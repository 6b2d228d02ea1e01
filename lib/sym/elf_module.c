/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relocatable files, of which kernel modules are made: where the kernel puts their code, and
 * what their debug information says about it. Of machines that profiles are captured on.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "lib/sym/cursor.h"
#include "lib/sym/elf_internal.h"

/*
 * The kernel puts all executable sections of a module in one place, in the order of the file; but
 * those of its start, which it frees, in another.
 */
void elf_place_code(struct elf_file *f)
{
	uint64_t at = ELF_MODULE_BASE;
	size_t i;

	for (i = 0; i < f->nsections; i++) {
		struct elf_section *s = &f->sections[i];
		uint64_t align = s->align ? s->align : 1;

		s->addr = 0;
		if (!(s->flags & SHF_EXECINSTR) || !(s->flags & SHF_ALLOC) ||
		    !strncmp(s->name, ".init", 5))
			continue;
		if ((align & (align - 1)) || align > ELF_MODULE_BASE ||
		    s->size > ELF_SECTION_MAX)
			return;
		at = (at + align - 1) & ~(align - 1);
		s->addr = at;
		at += s->size;
	}
}

const struct elf_section *elf_relocations(const struct elf_file *f,
					  const struct elf_section *s)
{
	size_t i;

	if (f->type != ET_REL)
		return NULL;
	for (i = 1; i < f->nsections; i++) {
		const struct elf_section *r = &f->sections[i];

		if ((r->type == SHT_RELA || r->type == SHT_REL) &&
		    s->type == SHT_PROGBITS && r->info == (size_t)(s - f->sections))
			return r;
	}
	return NULL;
}

/* Bytes that a relocation of its type writes, as a plain sum; 0: it is of another kind. */
static size_t width_of(uint16_t machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_64			     ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ? 4
								     : 0;
	if (machine == EM_AARCH64)
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
	return 0;
}

/* Value of a symbol; what is in another file has none. */
static bool symbol_value(const struct elf_file *f, const uint8_t *p, size_t n,
			 uint32_t symbol, uint64_t *value)
{
	struct cursor c = cursor_at(p, n, (size_t)symbol * sizeof(Elf64_Sym), f->swap);
	uint16_t shndx;

	cursor_skip(&c, 6); /* name, type, visibility */
	shndx = cursor_u16(&c);
	*value = cursor_u64(&c);
	if (shndx < f->nsections)
		*value += f->sections[shndx].addr;
	return !c.bad;
}

static void put(uint8_t *p, uint64_t v, size_t width, bool swap)
{
	uint32_t low = v;

	if (swap) {
		v = __builtin_bswap64(v);
		low = __builtin_bswap32(low);
	}
	if (width == 8)
		memcpy(p, &v, sizeof(v));
	else
		memcpy(p, &low, sizeof(low));
}

int elf_relocate(struct elf_file *f, struct elf_section *s, struct err *e)
{
	const struct elf_section *rel = elf_relocations(f, s);
	const uint8_t *p = NULL, *symbols = NULL;
	size_t n = 0, symbols_n = 0, width;
	uint64_t at, info, addend, value;
	struct cursor c;
	int r;

	if (rel->type != SHT_RELA || !f->is64 || rel->link >= f->nsections ||
	    f->sections[rel->link].type != SHT_SYMTAB)
		return err_set(e, ENOTSUP, "%s: relocations of an unknown form", s->name);
	r = elf_data(f, &f->sections[rel - f->sections], &p, &n, e);
	if (!r)
		r = elf_data(f, &f->sections[rel->link], &symbols, &symbols_n, e);
	if (r)
		return r;
	c = cursor_at(p, n, 0, f->swap);
	while (cursor_left(&c) >= sizeof(Elf64_Rela)) {
		at = cursor_u64(&c);
		info = cursor_u64(&c);
		addend = cursor_u64(&c);
		if (!ELF64_R_TYPE(info))
			continue;
		width = width_of(f->machine, ELF64_R_TYPE(info));
		if (!width)
			return err_set(e, ENOTSUP, "%s: relocation of unknown type %u",
				       s->name, (unsigned)ELF64_R_TYPE(info));
		if (at > s->data_n || width > s->data_n - at ||
		    !symbol_value(f, symbols, symbols_n, ELF64_R_SYM(info), &value))
			return err_set(e, EBADMSG, "%s: bad relocation", s->name);
		put(s->data + at, value + addend, width, f->swap);
	}
	return 0;
}
