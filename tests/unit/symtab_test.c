/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/sym/symtab.h"
#include "tests/symbolize/elfmake.h"

struct sym {
	const char *name;
	uint64_t addr, size;
	int type, bind;
};

static struct elf_file *file;

static struct symtab *make_for(uint16_t machine, enum symtab_kind kind,
			       const struct sym *v, size_t n)
{
	struct elfmake m = elfmake_new();
	struct buf names = BUF_INIT(1 << 16), syms = BUF_INIT(1 << 20);
	Elf64_Sym zero = {0};
	struct symtab *t = NULL;
	unsigned section;
	struct err e;
	size_t i;

	m.machine = machine;
	buf_putc(&names, 0);
	buf_put(&syms, &zero, sizeof(zero));
	for (i = 0; i < n; i++) {
		Elf64_Sym s = {
			.st_name = names.len,
			.st_info = ELF64_ST_INFO(v[i].bind, v[i].type),
			.st_shndx = 1,
			.st_value = v[i].addr,
			.st_size = v[i].size,
		};

		buf_put(&names, v[i].name, strlen(v[i].name) + 1);
		buf_put(&syms, &s, sizeof(s));
	}
	section = elfmake_section(&m, kind == SYMTAB_FULL ? ".symtab" : ".dynsym",
				  kind == SYMTAB_FULL ? SHT_SYMTAB : SHT_DYNSYM, 0, 0,
				  syms.data, syms.len);
	m.sh[section].sh_link = section + 1;
	m.sh[section].sh_entsize = sizeof(Elf64_Sym);
	elfmake_section(&m, ".strtab", SHT_STRTAB, 0, 0, names.data, names.len);
	buf_release(&names);
	buf_release(&syms);
	file = elfmake_open(&m, ET_DYN);
	assert_non_null(file);
	assert_int_equal(symtab_open(file, kind, &t, &e), 0);
	return t;
}

static struct symtab *make(enum symtab_kind kind, const struct sym *v, size_t n)
{
	return make_for(EM_X86_64, kind, v, n);
}

static void done(struct symtab *t)
{
	symtab_free(t);
	elf_free(file);
}

static const char *at(const struct symtab *t, uint64_t addr)
{
	struct symbol s;

	return symtab_find(t, addr, &s) ? s.name : "-";
}

#define FUNC STT_FUNC, STB_GLOBAL
#define LABEL STT_NOTYPE, STB_LOCAL
#define N(v) (sizeof(v) / sizeof(*(v)))

static void test_covering(void **state)
{
	static const struct sym v[] = {
		{"outer", 0x1100, 0x100, FUNC},
		{"inner", 0x1140, 0x10, FUNC},
		{"label", 0x1180, 0, LABEL},
		{"alone", 0x1300, 0, LABEL},
		{"after", 0x1400, 0x10, FUNC},
		{"last", 0x1f00, 0, LABEL},
		{"elsewhere", 0x5000, 16, FUNC},
		{"object", 0x1500, 16, STT_OBJECT, STB_GLOBAL},
		{".Llocal", 0x1310, 0, LABEL},
		{"$x", 0x1320, 0, LABEL},
		{"$d.1", 0x1330, 0, LABEL},
	};
	struct symtab *t = make(SYMTAB_FULL, v, N(v));

	(void)state;
	assert_string_equal(at(t, 0x10ff), "-");
	assert_string_equal(at(t, 0x1100), "outer");
	assert_string_equal(at(t, 0x1140), "inner");
	assert_string_equal(at(t, 0x114f), "inner");
	assert_string_equal(at(t, 0x1150), "outer"); /* behind the nested one */
	assert_string_equal(at(t, 0x1190), "outer"); /* a label inside a function */
	assert_string_equal(at(t, 0x11ff), "outer");
	assert_string_equal(at(t, 0x1200), "-");     /* between symbols */
	assert_string_equal(at(t, 0x13ff), "alone"); /* no size: up to the next symbol */
	assert_string_equal(at(t, 0x1410), "-");
	assert_string_equal(at(t, 0x1510), "-");
	assert_string_equal(at(t, 0x1fff), "last"); /* up to the end of the section */
	assert_string_equal(at(t, 0x2000), "-");
	assert_string_equal(at(t, 0x5000), "-"); /* no code there */
	done(t);
}

/* ARM says by an odd address that a function is of Thumb code. */
static void test_thumb(void **state)
{
	static const struct sym v[] = {{"thumb", 0x1101, 0x10, FUNC}};
	struct symtab *t = make_for(EM_ARM, SYMTAB_FULL, v, N(v));

	(void)state;
	assert_string_equal(at(t, 0x1100), "thumb");
	assert_string_equal(at(t, 0x110f), "thumb");
	assert_string_equal(at(t, 0x1110), "-");
	done(t);
	t = make(SYMTAB_FULL, v, N(v));
	assert_string_equal(at(t, 0x1100), "-");
	assert_string_equal(at(t, 0x1110), "thumb");
	done(t);
}

static void test_dynamic(void **state)
{
	static const struct sym v[] = {
		{"exported", 0x1100, 0x10, FUNC},
		{"sizeless", 0x1200, 0, FUNC},
	};
	struct symtab *t = make(SYMTAB_DYNAMIC, v, N(v));

	(void)state;
	assert_string_equal(at(t, 0x110f), "exported");
	assert_string_equal(at(t, 0x1110), "-");
	assert_string_equal(at(t, 0x1200), "sizeless");
	assert_string_equal(at(t, 0x1201), "-"); /* not the rest of the library */
	done(t);
}

/* Each pair at one address: the first must win, in either order. */
static void test_choice(void **state)
{
	static const struct sym pairs[][2] = {
		{{"sized", 0x1100, 8, LABEL}, {"f", 0x1100, 0, FUNC}},
		{{"function", 0x1100, 8, FUNC}, {"n", 0x1100, 8, STT_NOTYPE, STB_GLOBAL}},
		{{"memcpy_avx", 0x1100, 8, STT_FUNC, STB_LOCAL},
		 {"memcpy", 0x1100, 8, STT_GNU_IFUNC, STB_GLOBAL}},
		{{"fopen_local", 0x1100, 8, STT_FUNC, STB_LOCAL},
		 {"fopen@@V1", 0x1100, 8, FUNC}},
		{{"__global", 0x1100, 8, FUNC}, {"weak", 0x1100, 8, STT_FUNC, STB_WEAK}},
		{{"__weak", 0x1100, 8, STT_FUNC, STB_WEAK},
		 {"local", 0x1100, 8, STT_FUNC, STB_LOCAL}},
		{{"read_long", 0x1100, 8, FUNC}, {"_read", 0x1100, 8, FUNC}},
		{{"_read", 0x1100, 8, FUNC}, {"__read", 0x1100, 8, FUNC}},
		{{"_ZN1AC1Ev", 0x1100, 8, FUNC}, {"_ZN1AC2Ev", 0x1100, 8, FUNC}},
		{{"_ZN1AD1Ev", 0x1100, 8, FUNC}, {"_ZN1AD0Ev", 0x1100, 8, FUNC}},
		{{"short", 0x1100, 8, FUNC}, {"longer", 0x1100, 8, FUNC}},
		{{"abc", 0x1100, 8, FUNC}, {"abd", 0x1100, 8, FUNC}},
	};
	struct sym v[2];
	struct symtab *t;
	size_t i, swap;

	(void)state;
	for (i = 0; i < N(pairs); i++) {
		for (swap = 0; swap < 2; swap++) {
			v[swap] = pairs[i][0];
			v[!swap] = pairs[i][1];
			t = make(SYMTAB_FULL, v, 2);
			assert_string_equal(at(t, 0x1100), pairs[i][0].name);
			done(t);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_covering),
		cmocka_unit_test(test_thumb),
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_choice),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
