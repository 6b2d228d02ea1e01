/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a memory allocator that a file has. */
#include "lib/sym/allocfind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sym/cursor.h"

struct known {
	const char *name;
	enum alloc_op op;
};

/* Of C, with or without a prefix. mallocx and the like are jemalloc's, all else after free: mimalloc's. */
static const struct known functions[] = {
	{"malloc", ALLOC_SIZE0},
	{"calloc", ALLOC_PRODUCT},
	{"realloc", ALLOC_AGAIN},
	{"memalign", ALLOC_SIZE1},
	{"aligned_alloc", ALLOC_SIZE1},
	{"posix_memalign", ALLOC_SIZE2},
	{"valloc", ALLOC_SIZE0},
	{"pvalloc", ALLOC_SIZE0},
	{"free", ALLOC_FREE},
	{"cfree", ALLOC_FREE},
	{"mallocx", ALLOC_SIZE0},
	{"rallocx", ALLOC_AGAIN},
	{"dallocx", ALLOC_FREE},
	{"sdallocx", ALLOC_FREE},
	{"free_sized", ALLOC_FREE},
	{"free_aligned_sized", ALLOC_FREE},
	{"zalloc", ALLOC_SIZE0},
	{"malloc_small", ALLOC_SIZE0},
	{"zalloc_small", ALLOC_SIZE0},
	{"mallocn", ALLOC_PRODUCT},
	{"malloc_aligned", ALLOC_SIZE0},
	{"zalloc_aligned", ALLOC_SIZE0},
	{"realloc_aligned", ALLOC_AGAIN},
	{"free_size", ALLOC_FREE},
	{"free_size_aligned", ALLOC_FREE},
	{"free_aligned", ALLOC_FREE},
	{"new", ALLOC_SIZE0},
	{"new_nothrow", ALLOC_SIZE0},
	{"new_aligned", ALLOC_SIZE0},
	{"newarray", ALLOC_SIZE0},
	{"newarray_nothrow", ALLOC_SIZE0},
	{"delete", ALLOC_FREE},
	{"deletearray", ALLOC_FREE},
	{"delete_sized", ALLOC_FREE},
	{"deletearray_sized", ALLOC_FREE},
	{"delete_nothrow", ALLOC_FREE},
	{"deletearray_nothrow", ALLOC_FREE},
};

#define PLAIN 10 /* that many of them have these names without a prefix, too */

static const char *const prefixes[] = {"je_", "_rjem_", "tc_", "mi_"};

/* Operators new and delete, by how their mangled names begin: of arrays, aligned, and so on. */
static const struct known operators[] = {
	{"_Znwm", ALLOC_SIZE0},
	{"_Znam", ALLOC_SIZE0},
	{"_ZdlPv", ALLOC_FREE},
	{"_ZdaPv", ALLOC_FREE},
};

static bool is_operator(const char *name, size_t n)
{
	return n > 4 && !memcmp(name, "_Z", 2) && (name[2] == 'n' || name[2] == 'd') &&
	       (name[3] == 'w' || name[3] == 'a' || name[3] == 'l');
}

static enum alloc_op operator_op(const char *name, size_t n)
{
	/* what may follow: a size, an alignment, std::nothrow */
	static const char *const rests[] = {"",
					    "m",
					    "RKSt9nothrow_t",
					    "St11align_val_t",
					    "mSt11align_val_t",
					    "St11align_val_tRKSt9nothrow_t"};
	size_t i, k, len;

	for (i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		len = strlen(operators[i].name);
		if (n < len || memcmp(name, operators[i].name, len) != 0)
			continue;
		for (k = 0; k < sizeof(rests) / sizeof(*rests); k++)
			if (strlen(rests[k]) == n - len &&
			    !memcmp(name + len, rests[k], n - len))
				return operators[i].op;
	}
	return ALLOC_NOTHING;
}

enum alloc_op alloc_op_of(const char *name, size_t n)
{
	size_t most = PLAIN, i, len;

	if (is_operator(name, n))
		return operator_op(name, n);
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		len = strlen(prefixes[i]);
		if (n > len && !memcmp(name, prefixes[i], len)) {
			name += len;
			n -= len;
			most = sizeof(functions) / sizeof(*functions);
			break;
		}
	}
	/* jemalloc's own, which has no prefix by default */
	if (n > 2 && name[n - 1] == 'x')
		most = sizeof(functions) / sizeof(*functions);
	for (i = 0; i < most; i++)
		if (strlen(functions[i].name) == n && !memcmp(functions[i].name, name, n))
			return functions[i].op;
	return ALLOC_NOTHING;
}

/* In the file, if it has the code that is loaded there. */
static bool file_offset(const struct elf_file *f, uint64_t addr, uint64_t *offset)
{
	const struct elf_segment *s;
	size_t i;

	for (i = 0; i < f->nsegments; i++) {
		s = &f->segments[i];
		if (s->exec && addr >= s->vaddr && addr - s->vaddr < s->filesz) {
			*offset = s->offset + (addr - s->vaddr);
			return true;
		}
	}
	return false;
}

/* What the kernel does at once, without a trap more: x86-64 alone makes a difference. */
static enum alloc_start start_of(struct elf_file *f, uint64_t addr)
{
	static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	enum alloc_start start = ALLOC_START_OTHER;
	uint8_t *p = NULL;
	struct err e;
	size_t n;

	if (f->machine == EM_X86_64 && elf_load(f, addr, sizeof(mark), &p, &n, &e) == 0 &&
	    n == sizeof(mark)) {
		if (!memcmp(p, mark, sizeof(mark)))
			start = ALLOC_START_MARK;
		else if (p[0] >> 3 == 0x50 >> 3 ||
			 (p[0] == 0x41 && p[1] >> 3 == 0x50 >> 3))
			start = ALLOC_START_PUSH;
	}
	free(p);
	return start;
}

/* One function may have several names, and be in two tables. */
static void add(struct elf_file *f, struct alloc_places *out, enum alloc_op op,
		uint64_t addr, uint64_t size)
{
	struct alloc_place p = {.addr = addr, .size = size, .op = op};
	uint32_t i, k;

	for (i = 0; i < out->n && out->v[i].addr < addr; i++)
		;
	if (i < out->n && out->v[i].addr == addr)
		return;
	if (out->n == ALLOC_FUNCTIONS_MAX || !file_offset(f, addr, &p.offset))
		return;
	p.start = start_of(f, addr);
	for (k = out->n++; k > i; k--)
		out->v[k] = out->v[k - 1];
	out->v[i] = p;
}

static void scan(struct elf_file *f, struct elf_section *s, struct alloc_places *out,
		 bool *has_c)
{
	uint64_t addr, size;
	const uint8_t *p, *text;
	size_t n, text_n, len;
	struct cursor c;
	uint32_t name;
	uint16_t index;
	uint8_t info;
	enum alloc_op op;
	struct err e;

	if (s->link >= f->nsections || elf_data(f, s, &p, &n, &e) < 0 ||
	    elf_data(f, &f->sections[s->link], &text, &text_n, &e) < 0)
		return;
	c = cursor_at(p, n, 0, f->swap);
	while (cursor_left(&c) >= sizeof(Elf64_Sym)) {
		name = cursor_u32(&c);
		info = cursor_u8(&c);
		cursor_skip(&c, 1);
		index = cursor_u16(&c);
		addr = cursor_u64(&c);
		size = cursor_u64(&c);
		if (index == SHN_UNDEF || ELF64_ST_TYPE(info) != STT_FUNC || !size ||
		    name >= text_n)
			continue;
		len = strnlen((const char *)text + name, text_n - name);
		op = alloc_op_of((const char *)text + name, len);
		if (op == ALLOC_NOTHING)
			continue;
		*has_c |=
			!is_operator((const char *)text + name, len) && op != ALLOC_FREE;
		add(f, out, op, addr, size);
	}
}

void alloc_find(struct elf_file *f, struct alloc_places *out)
{
	bool has_c = false;
	size_t i;

	*out = (struct alloc_places){.is_go = elf_section(f, ".gopclntab") != NULL};
	for (i = 1; f->is64 && i < f->nsections; i++)
		if (f->sections[i].type == SHT_DYNSYM ||
		    f->sections[i].type == SHT_SYMTAB)
			scan(f, &f->sections[i], out, &has_c);
	/* operators that are no allocator's own call malloc in another file */
	if (!has_c)
		out->n = 0;
}
