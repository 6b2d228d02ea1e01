/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cursor.h"

#define NAME_MAX_BYTES (1u << 16)
#define SYMBOLS_MAX (1u << 26)
#define BACK_MAX 256 /* how many starts to look back for an enclosing symbol */

struct entry {
	uint64_t addr, size;
	const char *name;
	uint8_t type, bind;
};

struct symtab {
	enum symtab_kind kind;
	struct elf_file *file;
	struct entry *v; /* one per address, the best one; by address */
	uint64_t *reach; /* greatest end of v[0..i] */
	size_t n, cap;
};

static int type_rank(uint8_t type)
{
	return type == STT_FUNC ? 0 : type == STT_GNU_IFUNC ? 1 : 2;
}

static int bind_rank(uint8_t bind)
{
	return bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/*
 * Constructors and destructors of one class differ in one digit of the mangled name: the place
 * of it, when the names are alike but for C1/C2/C3 or D0/D1/D2.
 */
static int structor_cmp(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	if (!i || !a[i] || !b[i] || (a[i - 1] != 'C' && a[i - 1] != 'D') ||
	    strcmp(a + i + 1, b + i + 1) || a[i] < '0' || a[i] > '5' || b[i] < '0' ||
	    b[i] > '5')
		return 0;
	if (a[i] == '0' || b[i] == '0') /* the deleting destructor */
		return a[i] == '0' ? 1 : -1;
	return a[i] - b[i];
}

/* Below 0: a is the better name for the address. */
static int better(const struct entry *a, const struct entry *b)
{
	int r;

	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if ((r = type_rank(a->type) - type_rank(b->type)))
		return r;
	if ((r = !!strchr(a->name, '@') - !!strchr(b->name, '@')))
		return r;
	if ((r = bind_rank(a->bind) - bind_rank(b->bind)))
		return r;
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name) ? -1 : 1;
	if ((r = structor_cmp(a->name, b->name)))
		return r;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name) ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int entry_cmp(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	r = better(x, y);
	if (r)
		return r;
	return (x->size < y->size) - (x->size > y->size);
}

/* $a, $t.1, $x, $d: what ARM and RISC-V assemblers mark code and data with; .L: local labels. */
static bool is_mark(const struct entry *s)
{
	const char *n = s->name;

	if (s->type != STT_NOTYPE)
		return false;
	if (!strncmp(n, ".L", 2))
		return true;
	return n[0] == '$' && n[1] && strchr("atxd", n[1]) &&
	       (!n[2] || n[2] == '.' || n[1] == 'x');
}

static void take(struct symtab *t, struct entry s, uint16_t shndx)
{
	uint64_t high;

	if (s.type != STT_FUNC && s.type != STT_GNU_IFUNC && s.type != STT_NOTYPE)
		return;
	if (shndx == SHN_UNDEF || shndx == SHN_ABS || shndx == SHN_COMMON || !s.name[0] ||
	    is_mark(&s))
		return;
	if (t->file->machine == EM_ARM && s.type == STT_FUNC)
		s.addr &= ~1ull; /* the bit that says Thumb */
	if (!elf_is_code(t->file, s.addr, &high))
		return;
	if (s.size > high - s.addr)
		s.size = high - s.addr;
	XGROW(t->v, t->n, t->cap);
	t->v[t->n++] = s;
}

struct names {
	const char *p;
	size_t n;
};

/* The next symbol; its name is NULL if that is none. False at the end. */
static bool next_symbol(const struct elf_file *f, struct cursor *c, struct names names,
			struct entry *s, uint16_t *shndx)
{
	size_t size = f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), len;
	uint32_t name;
	uint8_t info;

	if (cursor_left(c) < size)
		return false;
	*s = (struct entry){0};
	name = cursor_u32(c);
	if (f->is64) {
		info = cursor_u8(c);
		cursor_u8(c);
		*shndx = cursor_u16(c);
		s->addr = cursor_u64(c);
		s->size = cursor_u64(c);
	} else {
		s->addr = cursor_u32(c);
		s->size = cursor_u32(c);
		info = cursor_u8(c);
		cursor_u8(c);
		*shndx = cursor_u16(c);
	}
	s->type = ELF64_ST_TYPE(info);
	s->bind = ELF64_ST_BIND(info);
	if (f->type == ET_REL && *shndx < f->nsections)
		s->addr += f->sections[*shndx].addr;
	if (name >= names.n)
		return true;
	len = strnlen(names.p + name, names.n - name);
	if (len < names.n - name && len < NAME_MAX_BYTES)
		s->name = names.p + name;
	return true;
}

static void read_all(struct symtab *t, struct cursor c, struct names names)
{
	uint16_t shndx;
	struct entry s;

	while (t->n < SYMBOLS_MAX && next_symbol(t->file, &c, names, &s, &shndx))
		if (s.name)
			take(t, s, shndx);
}

/* Keep the best of each address and note how far back an address may have to look. */
static void settle(struct symtab *t)
{
	size_t i, n = 0;

	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), entry_cmp);
	for (i = 0; i < t->n; i++)
		if (!n || t->v[n - 1].addr != t->v[i].addr)
			t->v[n++] = t->v[i];
	t->n = n;
	t->reach = xcalloc(n ? n : 1, sizeof(*t->reach));
	for (i = 0; i < n; i++) {
		t->reach[i] = t->v[i].addr + t->v[i].size;
		if (i && t->reach[i - 1] > t->reach[i])
			t->reach[i] = t->reach[i - 1];
	}
}

static struct elf_section *find_section(struct elf_file *f, uint32_t type)
{
	size_t i;

	for (i = 1; i < f->nsections; i++)
		if (f->sections[i].type == type)
			return &f->sections[i];
	return NULL;
}

static int open_section(struct elf_file *f, uint32_t type, struct cursor *c,
			struct names *names, struct err *e)
{
	struct elf_section *s = find_section(f, type);
	const uint8_t *p, *text;
	size_t n;
	int r;

	if (!s || !s->size)
		return err_set(e, ENODATA, "no symbol table");
	if (s->link >= f->nsections)
		return err_set(e, EBADMSG, "%s: no string table", s->name);
	r = elf_data(f, s, &p, &n, e);
	if (!r)
		r = elf_data(f, &f->sections[s->link], &text, &names->n, e);
	if (r)
		return r;
	names->p = (const char *)text;
	*c = cursor_at(p, n, 0, f->swap);
	return 0;
}

int symtab_open(struct elf_file *f, enum symtab_kind kind, struct symtab **out,
		struct err *e)
{
	struct names names;
	struct symtab *t;
	struct cursor c;
	int r = open_section(f, kind == SYMTAB_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB, &c,
			     &names, e);

	if (r)
		return r;
	t = xcalloc(1, sizeof(*t));
	t->kind = kind;
	t->file = f;
	read_all(t, c, names);
	settle(t);
	*out = t;
	return 0;
}

/* The next one of that name. */
static bool next_named(const struct elf_file *f, struct cursor *c, struct names names,
		       const char *name, struct entry *s)
{
	uint16_t shndx;

	while (next_symbol(f, c, names, s, &shndx))
		if (s->name && shndx != SHN_UNDEF && !strcmp(s->name, name))
			return true;
	return false;
}

bool symtab_address(struct elf_file *f, const char *name, uint64_t *addr)
{
	struct names names;
	struct cursor c;
	struct entry s;
	struct err ignored;

	if (open_section(f, SHT_SYMTAB, &c, &names, &ignored) ||
	    !next_named(f, &c, names, name, &s))
		return false;
	*addr = s.addr;
	return true;
}

struct symnames {
	struct entry *v; /* by name and address */
	size_t n, cap;
};

static int named_cmp(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : (x->addr > y->addr) - (x->addr < y->addr);
}

int symnames_open(struct elf_file *f, struct symnames **out, struct err *e)
{
	struct symnames *t;
	struct names names;
	struct cursor c;
	struct entry s;
	uint16_t shndx;
	int r = open_section(f, SHT_SYMTAB, &c, &names, e);

	if (r)
		return r;
	t = xcalloc(1, sizeof(*t));
	while (t->n < SYMBOLS_MAX && next_symbol(f, &c, names, &s, &shndx)) {
		if (!s.name || !s.size || shndx == SHN_UNDEF)
			continue;
		XGROW(t->v, t->n, t->cap);
		t->v[t->n++] = s;
	}
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), named_cmp);
	*out = t;
	return 0;
}

bool symnames_cover(const struct symnames *t, const char *name, uint64_t addr)
{
	struct entry wanted = {.name = name, .addr = addr};
	size_t lo = 0, hi = t->n, mid, i;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (named_cmp(&t->v[mid], &wanted) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (i = lo; i && lo - i < BACK_MAX && !strcmp(t->v[i - 1].name, name); i--)
		if (addr - t->v[i - 1].addr < t->v[i - 1].size)
			return true;
	return false;
}

size_t symnames_bytes(const struct symnames *t)
{
	return t->cap * sizeof(*t->v);
}

void symnames_free(struct symnames *t)
{
	if (!t)
		return;
	free(t->v);
	free(t);
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	free(t->v);
	free(t->reach);
	free(t);
}

void symtab_bounds(const struct symtab *t, struct bounds *b)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		bounds_add(b, t->v[i].addr);
		/* a dynamic one without a size has its own address */
		bounds_add(b, t->v[i].addr + (t->v[i].size ? t->v[i].size : 1));
	}
}

size_t symtab_bytes(const struct symtab *t)
{
	return t->cap * sizeof(*t->v) + t->n * sizeof(*t->reach);
}

size_t symtab_count(const struct symtab *t)
{
	return t->n;
}

static const struct entry *find_entry(const struct symtab *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n, mid, i;
	const struct entry *s;
	uint64_t high;
	unsigned back;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	for (i = lo, back = 0; i && t->reach[i - 1] > addr && back < BACK_MAX;
	     i--, back++)
		if (addr - t->v[i - 1].addr < t->v[i - 1].size)
			return &t->v[i - 1];
	s = &t->v[lo - 1];
	if (s->size || (lo > 1 && t->reach[lo - 2] > s->addr))
		return NULL;
	if (t->kind == SYMTAB_DYNAMIC)
		return s->addr == addr ? s : NULL;
	return elf_is_code(t->file, s->addr, &high) && addr < high ? s : NULL;
}

bool symtab_find(const struct symtab *t, uint64_t addr, struct symbol *out)
{
	const struct entry *s = find_entry(t, addr);

	if (!s)
		return false;
	*out = (struct symbol){s->name, s->addr, s->size};
	return true;
}
