/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sym/unwindtab_amend.h"

#include <elf.h>
#include <string.h>

#include "lib/base/xalloc.h"
#include "lib/sym/cursor.h"

/* How much an entry routine without rows or size may hold: ld.so's has 0x50 bytes. */
#define ENTRY_SIZE_MAX 256

#define VDSO_SIZE_MAX (64 << 10) /* of the file; arm64's has 5 KiB */

/* A symbol table's entries, one after the other. */
struct symbols {
	struct cursor c;
	size_t left;
};

static struct symbols symbols_of(struct elf_file *f, const char *section)
{
	struct err ignored;
	const uint8_t *p;
	size_t n;

	if (elf_data(f, elf_section(f, section), &p, &n, &ignored))
		return (struct symbols){.left = 0};
	return (struct symbols){cursor_at(p, n, 0, f->swap), n / sizeof(Elf64_Sym)};
}

static bool next_symbol(struct symbols *s, Elf64_Sym *out)
{
	if (!s->left)
		return false;
	s->left--;
	out->st_name = cursor_u32(&s->c);
	cursor_skip(&s->c, offsetof(Elf64_Sym, st_value) - sizeof(out->st_name));
	out->st_value = cursor_u64(&s->c);
	out->st_size = cursor_u64(&s->c);
	return true;
}

/* A rule for [low, high) or up to the next row; low must have none. */
static void insert(struct unwind_table *t, uint32_t low, uint64_t high,
		   enum unwind_cfa rule)
{
	size_t after = unwind_table_after(t, low), at = after, n = 2;
	struct unwind_row add[2] = {{.pc = low, .rule = rule}};

	if (at && t->rows[at - 1].pc == low)
		at--; /* the end of a function is no longer one of rows */
	if (after < t->nrows && high >= t->rows[after].pc)
		n = 1;
	add[1].pc = high < UINT32_MAX ? (uint32_t)high : UINT32_MAX;
	t->rows = xreallocarray(t->rows, t->nrows + n, sizeof(*t->rows));
	memmove(&t->rows[at + n], &t->rows[after], (t->nrows - after) * sizeof(*t->rows));
	memcpy(&t->rows[at], add, n * sizeof(*add));
	t->nrows += n - (after - at);
}

/* As pc, if there is code; *high is the end of that. */
static bool to_pc(struct elf_file *f, uint64_t base, uint64_t addr, uint32_t *pc,
		  uint64_t *high)
{
	if (addr < base || addr - base >= UINT32_MAX || !elf_is_code(f, addr, high))
		return false;
	*pc = (uint32_t)(addr - base);
	*high -= base;
	return true;
}

void unwind_amend_entry(struct elf_file *f, uint64_t base, struct unwind_table *t)
{
	uint64_t high, size = ENTRY_SIZE_MAX;
	struct symbols s;
	Elf64_Sym sym;
	uint32_t pc;

	if (!to_pc(f, base, f->entry, &pc, &high) || unwind_table_find(t, pc))
		return;
	s = symbols_of(f, ".symtab");
	while (next_symbol(&s, &sym))
		if (sym.st_value == f->entry && sym.st_size)
			size = sym.st_size;
	insert(t, pc, size < high - pc ? pc + size : high, UNWIND_END);
}

/* The handler returns to the symbol, and is looked up one byte before. */
static void add_sigreturn(struct elf_file *f, uint64_t base, const Elf64_Sym *sym,
			  struct unwind_table *t)
{
	uint64_t high;
	uint32_t pc;

	if (!to_pc(f, base, sym->st_value - 4, &pc, &high) || unwind_table_find(t, pc) ||
	    sym->st_size > high - pc - 4)
		return;
	insert(t, pc, pc + 4 + sym->st_size, UNWIND_SIGNAL);
}

void unwind_amend_sigreturn(struct elf_file *f, uint64_t base, struct unwind_table *t)
{
	static const char want[] = "__kernel_rt_sigreturn";
	struct err ignored;
	struct symbols s;
	Elf64_Sym sym;
	const uint8_t *p;
	size_t n;

	if (f->machine != EM_AARCH64 || f->size > VDSO_SIZE_MAX ||
	    elf_data(f, elf_section(f, ".dynstr"), &p, &n, &ignored) || n < sizeof(want))
		return;
	s = symbols_of(f, ".dynsym");
	while (next_symbol(&s, &sym))
		if (sym.st_size && sym.st_name <= n - sizeof(want) &&
		    !memcmp(p + sym.st_name, want, sizeof(want))) {
			add_sigreturn(f, base, &sym, t);
			return;
		}
}

/* Another rule for [low, high), whatever the rows there say. */
static void replace(struct unwind_table *t, uint32_t low, uint64_t high,
		    enum unwind_cfa rule)
{
	size_t i;

	if (!unwind_table_find(t, low) ||
	    t->rows[unwind_table_after(t, low) - 1].pc != low)
		insert(t, low, high, rule);
	for (i = unwind_table_after(t, low) - 1; i < t->nrows && t->rows[i].pc < high;
	     i++)
		t->rows[i] = (struct unwind_row){.pc = t->rows[i].pc, .rule = rule};
}

/* "NAME", "NAME.abi0", "NAME__sigaction" */
static bool is_name(const uint8_t *p, size_t n, uint64_t at, const char *want)
{
	size_t len = strlen(want);

	return at < n && n - at > len && !memcmp(p + at, want, len) &&
	       (!p[at + len] || p[at + len] == '.' || p[at + len] == '_');
}

void unwind_amend_go(struct elf_file *f, uint64_t base, struct unwind_table *t)
{
	struct err ignored;
	struct symbols s;
	const uint8_t *p;
	uint64_t high;
	Elf64_Sym sym;
	uint32_t pc;
	size_t n;

	if (!elf_section(f, ".gopclntab") ||
	    elf_data(f, elf_section(f, ".strtab"), &p, &n, &ignored))
		return;
	s = symbols_of(f, ".symtab");
	while (next_symbol(&s, &sym)) {
		if (!sym.st_size || !to_pc(f, base, sym.st_value, &pc, &high) ||
		    sym.st_size > high - pc)
			continue;
		if (is_name(p, n, sym.st_name, "runtime.rt0_go"))
			replace(t, pc, pc + sym.st_size, UNWIND_END);
		else if (pc && is_name(p, n, sym.st_name, "runtime.sigreturn"))
			replace(t, pc - 1, pc + sym.st_size, UNWIND_SIGNAL);
	}
}
