/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/sym/allocfind.h"
#include "tests/symbolize/elfmake.h"

static enum alloc_op op(const char *name)
{
	return alloc_op_of(name, strlen(name));
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		enum alloc_op op;
	} v[] = {
		{"malloc", ALLOC_SIZE0},
		{"calloc", ALLOC_PRODUCT},
		{"realloc", ALLOC_AGAIN},
		{"posix_memalign", ALLOC_SIZE2},
		{"aligned_alloc", ALLOC_SIZE1},
		{"free", ALLOC_FREE},
		{"je_calloc", ALLOC_PRODUCT},
		{"_rjem_realloc", ALLOC_AGAIN},
		{"tc_newarray", ALLOC_SIZE0},
		{"mi_zalloc_small", ALLOC_SIZE0},
		{"mi_free_size", ALLOC_FREE},
		{"mallocx", ALLOC_SIZE0},
		{"sdallocx", ALLOC_FREE},
		{"_Znwm", ALLOC_SIZE0},
		{"_ZnamSt11align_val_tRKSt9nothrow_t", ALLOC_SIZE0},
		{"_ZdlPvm", ALLOC_FREE},
		{"_ZdaPvSt11align_val_t", ALLOC_FREE},
		/* none, though they look alike */
		{"", ALLOC_NOTHING},
		{"mallo", ALLOC_NOTHING},
		{"malloc_", ALLOC_NOTHING},
		{"mallocs", ALLOC_NOTHING},
		{"je_", ALLOC_NOTHING},
		{"xmalloc", ALLOC_NOTHING},
		{"malloc@GLIBC_2.2.5", ALLOC_NOTHING},
		{"zalloc", ALLOC_NOTHING}, /* zlib's and others' callbacks */
		{"delete", ALLOC_NOTHING},
		{"_ZnwmPv", ALLOC_NOTHING}, /* placement */
		{"_Znwm.cold", ALLOC_NOTHING},
		{"_ZdlPvRKSt9nothrow_", ALLOC_NOTHING},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(*v); i++)
		assert_int_equal(op(v[i].name), v[i].op);
}

struct sym {
	const char *name;
	uint64_t addr, size;
	int type, index;
};

static const uint8_t starts[] = {
	0x55, 0x48, 0x89, 0xe5, /* push %rbp */
	0x41, 0x57, 0x41, 0x56, /* push %r15 */
	0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
	0x48, 0x85, 0xff, 0xc3, /* test %rdi, %rdi */
};

#define CODE_OFFSET 0x400 /* where the first section's bytes are */

static void find(const struct sym *v, size_t n, uint16_t machine,
		 struct alloc_places *out)
{
	struct elfmake m = {.body = BUF_INIT(1 << 20),
			    .names = BUF_INIT(1 << 16),
			    .machine = machine};
	struct buf names = BUF_INIT(1 << 16), syms = BUF_INIT(1 << 16);
	struct elf_file *f;
	unsigned section;
	size_t i;

	elfmake_section(&m, "", SHT_NULL, 0, 0, NULL, 0);
	elfmake_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_ADDR,
			starts, sizeof(starts));
	elfmake_segment(&m, CODE_OFFSET, TEXT_ADDR, sizeof(starts), TEXT_SIZE,
			PF_R | PF_X, 0x400);
	buf_putc(&names, 0);
	for (i = 0; i < n; i++) {
		Elf64_Sym s = {
			.st_name = names.len,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, v[i].type),
			.st_shndx = v[i].index,
			.st_value = v[i].addr,
			.st_size = v[i].size,
		};

		buf_put(&names, v[i].name, strlen(v[i].name) + 1);
		buf_put(&syms, &s, sizeof(s));
	}
	section = elfmake_section(&m, ".dynsym", SHT_DYNSYM, 0, 0, syms.data, syms.len);
	m.sh[section].sh_link = section + 1;
	elfmake_section(&m, ".dynstr", SHT_STRTAB, 0, 0, names.data, names.len);
	buf_release(&names);
	buf_release(&syms);
	f = elfmake_open(&m, ET_DYN);
	assert_non_null(f);
	alloc_find(f, out);
	elf_free(f);
}

static void test_places(void **state)
{
	static const struct sym v[] = {
		{"free", TEXT_ADDR + 12, 4, STT_FUNC, 1},
		{"malloc", TEXT_ADDR, 4, STT_FUNC, 1},
		{"__libc_malloc", TEXT_ADDR, 4, STT_FUNC, 1},
		{"_Znwm", TEXT_ADDR, 4, STT_FUNC, 1}, /* one more name of it */
		{"calloc", TEXT_ADDR + 4, 4, STT_FUNC, 1},
		{"realloc", TEXT_ADDR + 8, 4, STT_FUNC, 1},
		{"valloc", TEXT_ADDR + 8, 0, STT_FUNC, 1},     /* no size */
		{"memalign", TEXT_ADDR + 9, 4, STT_OBJECT, 1}, /* no function */
		{"pvalloc", TEXT_ADDR + 10, 4, STT_FUNC, 0},   /* of another file */
		{"cfree", TEXT_ADDR + 0x100, 4, STT_FUNC, 1},  /* not in this one */
		{"aligned_alloc", 0, 4, STT_FUNC, 1},
	};
	struct alloc_places p;
	uint32_t i;

	(void)state;
	find(v, sizeof(v) / sizeof(*v), 0, &p);
	assert_int_equal(p.n, 4);
	assert_false(p.is_go);
	for (i = 0; i < p.n; i++) {
		assert_int_equal(p.v[i].addr, TEXT_ADDR + 4 * i);
		assert_int_equal(p.v[i].offset, CODE_OFFSET + 4 * i);
		assert_int_equal(p.v[i].size, 4);
	}
	assert_int_equal(p.v[0].op, ALLOC_SIZE0);
	assert_int_equal(p.v[1].op, ALLOC_PRODUCT);
	assert_int_equal(p.v[2].op, ALLOC_AGAIN);
	assert_int_equal(p.v[3].op, ALLOC_FREE);
	assert_int_equal(p.v[0].start, ALLOC_START_PUSH);
	assert_int_equal(p.v[1].start, ALLOC_START_PUSH);
	assert_int_equal(p.v[2].start, ALLOC_START_MARK);
	assert_int_equal(p.v[3].start, ALLOC_START_OTHER);
	find(v, sizeof(v) / sizeof(*v), EM_AARCH64, &p);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.v[0].start, ALLOC_START_OTHER);
}

/* Operators that call malloc of another file are no allocator. */
static void test_operators_alone(void **state)
{
	static const struct sym v[] = {
		{"_Znwm", TEXT_ADDR, 4, STT_FUNC, 1},
		{"_ZdlPv", TEXT_ADDR + 4, 4, STT_FUNC, 1},
		{"free", TEXT_ADDR + 8, 4, STT_FUNC, 1},
	};
	struct alloc_places p;

	(void)state;
	find(v, 3, 0, &p);
	assert_int_equal(p.n, 0);
	find(v, 0, 0, &p);
	assert_int_equal(p.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_operators_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
