/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "lib/sym/plt.h"
#include "tests/symbolize/elfmake.h"

#define PLT 0x5000
#define SLOT(i) (0x7000 + 8 * (uint64_t)(i))

static struct elf_file *file;

static void put_rela(struct buf *b, uint64_t where, uint32_t symbol, uint32_t type,
		     uint64_t addend)
{
	Elf64_Rela r = {where, ELF64_R_INFO((uint64_t)symbol, type), addend};

	buf_put(b, &r, sizeof(r));
}

/* One section of code, and relocations of slots 0 (alpha), 1 (beta), 2 (chosen at 0x1234). */
static struct plt *make(const char *name, uint16_t machine, uint64_t entsize,
			const void *code, size_t n)
{
	static const char names[] = "\0alpha\0beta@V1";
	bool arm = machine == EM_AARCH64;
	struct elfmake m = elfmake_new();
	struct buf rela = BUF_INIT(1 << 12);
	Elf64_Sym s[3] = {{0}, {.st_name = 1}, {.st_name = 7}};
	struct plt *t = NULL;
	unsigned at;
	struct err e;

	m.machine = machine;
	put_rela(&rela, SLOT(0), 1, arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT, 0);
	put_rela(&rela, SLOT(1), 2, arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT, 0);
	put_rela(&rela, SLOT(2), 0, arm ? R_AARCH64_IRELATIVE : R_X86_64_IRELATIVE,
		 0x1234);
	put_rela(&rela, SLOT(3), 1, arm ? R_AARCH64_ABS64 : R_X86_64_64, 0);
	at = elfmake_section(&m, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PLT, code,
			     n);
	m.sh[at].sh_entsize = entsize;
	at = elfmake_section(&m, ".dynsym", SHT_DYNSYM, SHF_ALLOC, 0, s, sizeof(s));
	m.sh[at].sh_link = at + 1;
	elfmake_section(&m, ".dynstr", SHT_STRTAB, SHF_ALLOC, 0, names, sizeof(names));
	m.sh[elfmake_section(&m, ".rela.plt", SHT_RELA, SHF_ALLOC, 0, rela.data,
			     rela.len)]
		.sh_link = at;
	buf_release(&rela);
	file = elfmake_open(&m, ET_DYN);
	assert_non_null(file);
	assert_int_equal(plt_open(file, &t, &e), 0);
	return t;
}

static void done(struct plt *t)
{
	plt_free(t);
	elf_free(file);
}

static const char *at(const struct plt *t, uint64_t addr)
{
	struct plt_entry e;

	if (!plt_find(t, addr, &e))
		return "-";
	return e.name[0] ? e.name : e.target == 0x1234 ? "*" : "?";
}

/* jmp *slot(%rip), the displacement counted from the end of `len` bytes at offset `from`. */
static void jump(uint8_t *p, size_t from, size_t opcode_at, uint64_t slot)
{
	uint32_t d = (uint32_t)(slot - (PLT + from + opcode_at + 6));

	p[from + opcode_at] = 0xff;
	p[from + opcode_at + 1] = 0x25;
	memcpy(p + from + opcode_at + 2, &d, 4);
}

static void test_classic(void **state)
{
	uint8_t code[5 * 16];
	struct plt *t;

	(void)state;
	memset(code, 0x90, sizeof(code));
	jump(code, 0, 6, SLOT(9)); /* the head */
	jump(code, 16, 0, SLOT(0));
	jump(code, 32, 0, SLOT(1));
	jump(code, 48, 0, SLOT(2));
	jump(code, 64, 0, SLOT(3)); /* filled with something else */
	t = make(".plt", EM_X86_64, 16, code, sizeof(code));
	assert_string_equal(at(t, PLT), "-");
	assert_string_equal(at(t, PLT + 15), "-");
	assert_string_equal(at(t, PLT + 16), "alpha");
	assert_string_equal(at(t, PLT + 31), "alpha");
	assert_string_equal(at(t, PLT + 32), "beta@V1");
	assert_string_equal(at(t, PLT + 48), "*");
	assert_string_equal(at(t, PLT + 64), "-");
	assert_string_equal(at(t, PLT + 80), "-");
	done(t);
}

/* With branch tracking: pushes in one section, jumps in another. */
static void test_tracked(void **state)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t push[] = {0x68, 1, 0, 0, 0};
	uint8_t code[3 * 16];
	struct plt *t;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, endbr64, 4);
	code[4] = 0xf2;
	jump(code, 0, 5, SLOT(0));
	memcpy(code + 16, endbr64, 4);
	memcpy(code + 20, push, 5);
	memcpy(code + 32, endbr64, 4);
	memcpy(code + 36, push, 5);
	code[37] = 9; /* there is no such relocation */
	t = make(".plt.sec", EM_X86_64, 16, code, sizeof(code));
	assert_string_equal(at(t, PLT + 5), "alpha");
	assert_string_equal(at(t, PLT + 16), "beta@V1");
	assert_string_equal(at(t, PLT + 32), "-");
	done(t);
}

static void test_short(void **state)
{
	uint8_t code[3 * 8];
	struct plt *t;

	(void)state;
	memset(code, 0x90, sizeof(code));
	jump(code, 0, 0, SLOT(1));
	jump(code, 8, 0, SLOT(0));
	code[16] = 0xff; /* cut short */
	t = make(".plt.got", EM_X86_64, 8, code, 17);
	assert_string_equal(at(t, PLT + 7), "beta@V1");
	assert_string_equal(at(t, PLT + 8), "alpha");
	assert_string_equal(at(t, PLT + 16), "-");
	done(t);
}

static void test_arm64(void **state)
{
	/* adrp x16, 0x7000; ldr x17, [x16, #8 * i]; add; br x17 */
	static const uint32_t code[] = {
		0xa9bf7bf0, 0xd503201f, 0xd503201f, 0xd503201f, 0xd0000010,
		0xf9400211, 0x91000210, 0xd61f0220, 0xd503245f, 0xd0000010,
		0xf9400611, 0x91002210, 0xd61f0220,
	};
	struct plt *t = make(".plt", EM_AARCH64, 0, code, sizeof(code));

	(void)state;
	assert_string_equal(at(t, PLT + 12), "-");
	assert_string_equal(at(t, PLT + 16), "alpha");
	assert_string_equal(at(t, PLT + 28), "alpha");
	assert_string_equal(at(t, PLT + 32), "beta@V1");
	assert_string_equal(at(t, PLT + 48), "beta@V1");
	assert_string_equal(at(t, PLT + 52), "-");
	done(t);
}

static void test_none(void **state)
{
	struct elfmake m = elfmake_new();
	struct plt *t = NULL;
	struct err e;

	(void)state;
	file = elfmake_open(&m, ET_DYN);
	assert_int_equal(plt_open(file, &t, &e), -ENODATA);
	elf_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic), cmocka_unit_test(test_tracked),
		cmocka_unit_test(test_short),	cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
