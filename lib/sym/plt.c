/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/plt.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cursor.h"

#define ENTRY_BYTES 16
#define ENTRIES_MAX (1u << 24)

struct slot { /* a word that the dynamic linker fills with a function's address */
	uint64_t addr, target;
	const char *name;
};

struct plt {
	struct elf_file *file;
	struct slot *slots; /* by address, once all are read */
	size_t nslots, slots_cap;
	struct slot *pushed; /* of .rela.plt, by number */
	size_t npushed, pushed_cap;
	struct plt_entry *v; /* by address */
	size_t n, cap;
};

enum reloc_kind { NO_SLOT, BY_NAME, BY_TARGET };

static enum reloc_kind kind_of(const struct elf_file *f, uint32_t type)
{
	bool arm = f->machine == EM_AARCH64;

	if (type == (arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT) ||
	    type == (arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT))
		return BY_NAME;
	if (type == (arm ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE))
		return BY_TARGET;
	return NO_SLOT;
}

/* The name of symbol `index`; "" if there is none. */
static const char *symbol_name(struct elf_file *f, const struct elf_section *symbols,
			       uint32_t index)
{
	const uint8_t *p, *names;
	size_t n, names_n;
	struct err ignored;
	struct cursor c;
	uint32_t name;

	if (symbols->link >= f->nsections ||
	    elf_data(f, (struct elf_section *)symbols, &p, &n, &ignored) ||
	    elf_data(f, &f->sections[symbols->link], &names, &names_n, &ignored))
		return "";
	c = cursor_at(p, n, (size_t)index * sizeof(Elf64_Sym), f->swap);
	name = cursor_u32(&c);
	if (c.bad || name >= names_n || !memchr(names + name, 0, names_n - name))
		return "";
	return (const char *)names + name;
}

static void read_relocs(struct plt *t, struct elf_section *s)
{
	struct elf_file *f = t->file;
	bool numbered = !strcmp(s->name, ".rela.plt");
	const uint8_t *p;
	struct err ignored;
	struct cursor c;
	size_t n;

	if (elf_data(f, s, &p, &n, &ignored))
		return;
	c = cursor_at(p, n, 0, f->swap);
	while (cursor_left(&c) >= sizeof(Elf64_Rela) && t->nslots < ENTRIES_MAX) {
		struct slot slot = {.addr = cursor_u64(&c), .name = ""};
		uint64_t info = cursor_u64(&c);
		enum reloc_kind kind = kind_of(f, (uint32_t)info);

		slot.target = cursor_u64(&c);
		if (kind == BY_NAME && s->link < f->nsections)
			slot.name = symbol_name(f, &f->sections[s->link], info >> 32);
		if (kind == BY_NAME)
			slot.target = 0;
		if (kind != NO_SLOT) {
			XGROW(t->slots, t->nslots, t->slots_cap);
			t->slots[t->nslots++] = slot;
		}
		if (numbered) {
			XGROW(t->pushed, t->npushed, t->pushed_cap);
			t->pushed[t->npushed++] = slot;
		}
	}
}

static int slot_cmp(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static const struct slot *find_slot(const struct plt *t, uint64_t addr)
{
	struct slot key = {.addr = addr};

	return t->nslots ? bsearch(&key, t->slots, t->nslots, sizeof(key), slot_cmp)
			 : NULL;
}

static void put(struct plt *t, uint64_t addr, uint64_t size, const struct slot *s)
{
	if (!s || (!s->name[0] && !s->target) || t->n == ENTRIES_MAX)
		return;
	XGROW(t->v, t->n, t->cap);
	t->v[t->n++] = (struct plt_entry){addr, size, s->name, s->target};
}

/*
 * endbr64 and bnd may come first: jmp *slot(%rip), or, where branches are tracked and the jump
 * stands elsewhere, push $number.
 */
static const struct slot *slot_x86(const struct plt *t, const uint8_t *p, size_t n,
				   uint64_t addr)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct cursor c = cursor_at(p, n, 0, t->file->swap);
	uint32_t v;

	if (n >= sizeof(endbr64) && !memcmp(p, endbr64, sizeof(endbr64)))
		cursor_skip(&c, sizeof(endbr64));
	if (cursor_left(&c) && *c.p == 0xf2)
		cursor_skip(&c, 1);
	if (cursor_left(&c) >= 6 && c.p[0] == 0xff && c.p[1] == 0x25) {
		cursor_skip(&c, 2);
		v = cursor_u32(&c);
		return find_slot(t, addr + (c.p - p) + (int64_t)(int32_t)v);
	}
	if (cursor_left(&c) >= 5 && c.p[0] == 0x68) {
		cursor_skip(&c, 1);
		v = cursor_u32(&c);
		return v < t->npushed ? &t->pushed[v] : NULL;
	}
	return NULL;
}

static void read_x86(struct plt *t, const struct elf_section *s, const uint8_t *p,
		     size_t n)
{
	size_t step = s->entsize == 8 || s->entsize == 16 ? s->entsize : ENTRY_BYTES, i;

	for (i = 0; i < n; i += step)
		put(t, s->addr + i, step, slot_x86(t, p + i, n - i, s->addr + i));
}

/* adrp x16, page; ldr x17, [x16, #offset]; before them maybe bti c. */
static void read_arm64(struct plt *t, const struct elf_section *s, const uint8_t *p,
		       size_t n)
{
	struct cursor c = cursor_at(p, n, 0, t->file->swap);
	uint32_t before = 0, insn = 0, next;
	uint64_t addr = s->addr, page, slot;
	bool bti;

	/* instructions are little-endian in any file, but so is every file that we know of */
	for (next = cursor_u32(&c); !c.bad; addr += 4) {
		before = insn;
		insn = next;
		next = cursor_u32(&c);
		if ((insn & 0x9f00001f) != 0x90000010 ||
		    (next & 0xffc003ff) != 0xf9400211)
			continue;
		page = (insn >> 5 & 0x7ffff) << 2 | (insn >> 29 & 3);
		page = (uint64_t)((int64_t)(page << 43) >> 43) << 12;
		slot = (addr & ~0xfffull) + page + ((next >> 10 & 0xfff) << 3);
		bti = before == 0xd503245f;
		put(t, addr - (bti ? 4 : 0), ENTRY_BYTES + (bti ? 4 : 0),
		    find_slot(t, slot));
	}
}

static int entry_cmp(const void *a, const void *b)
{
	const struct plt_entry *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void read_code(struct plt *t)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct err ignored;
	const uint8_t *p;
	size_t n, i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct elf_section *s = elf_section(t->file, names[i]);

		if (!s || elf_data(t->file, s, &p, &n, &ignored))
			continue;
		if (t->file->machine == EM_AARCH64)
			read_arm64(t, s, p, n);
		else
			read_x86(t, s, p, n);
	}
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), entry_cmp);
}

int plt_open(struct elf_file *f, struct plt **out, struct err *e)
{
	struct plt *t;
	size_t i;

	if (!f->is64 || (f->machine != EM_X86_64 && f->machine != EM_AARCH64))
		return err_set(e, ENODATA, "no linkage table that is known");
	t = xcalloc(1, sizeof(*t));
	t->file = f;
	for (i = 1; i < f->nsections; i++)
		if (f->sections[i].type == SHT_RELA && (f->sections[i].flags & SHF_ALLOC))
			read_relocs(t, &f->sections[i]);
	if (t->nslots)
		qsort(t->slots, t->nslots, sizeof(*t->slots), slot_cmp);
	read_code(t);
	free(t->slots);
	free(t->pushed);
	t->slots = t->pushed = NULL;
	if (!t->n) {
		plt_free(t);
		return err_set(e, ENODATA, "no linkage table");
	}
	*out = t;
	return 0;
}

void plt_free(struct plt *t)
{
	if (!t)
		return;
	free(t->slots);
	free(t->pushed);
	free(t->v);
	free(t);
}

bool plt_find(const struct plt *t, uint64_t addr, struct plt_entry *out)
{
	size_t lo = 0, hi = t->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - t->v[lo - 1].addr >= t->v[lo - 1].size)
		return false;
	*out = t->v[lo - 1];
	return true;
}

void plt_bounds(const struct plt *t, struct bounds *b)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		bounds_add(b, t->v[i].addr);
		bounds_add(b, t->v[i].addr + t->v[i].size);
	}
}
