/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinding copied stacks: made-up ones of both machines, and this program's own. */
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/xalloc.h"
#include "lib/sym/unwindstack.h"

#define RULE(cfa, saved) ((cfa) | (saved) << 4)
#define SP 0x7000
#define CODE 0x400000 /* rows' pcs count from here, the first 0x1000 of them */
#define BARE 0x500000 /* code without a table, 0x1000 bytes */

/* The stack: words from SP on. */
static uint64_t words[1024];

static bool lookup(void *ctx, uint64_t addr, struct unwind_place *out)
{
	*out = (struct unwind_place){.table = ctx, .pc = (uint32_t)(addr - CODE)};
	if (addr >= BARE && addr < BARE + 0x1000)
		out->table = NULL;
	else if (addr < CODE || addr >= CODE + 0x1000)
		return false;
	return true;
}

struct outcome {
	enum unwound why;
	size_t n;
	uint64_t frames[UNWIND_FRAMES_MAX];
};

static struct outcome unwind(uint16_t machine, struct unwind_row *rows, size_t nrows,
			     struct unwind_regs regs, size_t nwords)
{
	struct unwind_table t = {.rows = rows, .nrows = nrows};
	struct unwind_copy copy = {(const uint8_t *)words, nwords * 8, SP};
	struct outcome o;

	o.n = unwind_stack(machine, &regs, &copy, lookup, &t, o.frames, UNWIND_FRAMES_MAX,
			   &o.why);
	return o;
}

#define ROWS(...)                                                                        \
	(struct unwind_row[]){__VA_ARGS__},                                              \
		sizeof((struct unwind_row[]){__VA_ARGS__}) / sizeof(struct unwind_row)
#define X86(regs, nwords, ...) unwind(EM_X86_64, ROWS(__VA_ARGS__), regs, nwords)
#define ARM(regs, nwords, ...) unwind(EM_AARCH64, ROWS(__VA_ARGS__), regs, nwords)

static struct unwind_regs regs_at(uint64_t pc, uint64_t fp)
{
	return (struct unwind_regs){.pc = pc,
				    .sp = SP,
				    .fp = fp,
				    .exact = true,
				    .has_fp = true,
				    .has_lr = true};
}

static void check(struct outcome o, enum unwound why, size_t n, const uint64_t *want)
{
	size_t i;

	for (i = 0; i < n && i < o.n; i++)
		assert_int_equal(o.frames[i], want[i]);
	assert_int_equal(o.n, n);
	assert_int_equal(o.why, why);
}

#define CHECK(o, why, ...)                                                               \
	check(o, why, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void fill(const uint64_t *w, size_t n)
{
	memset(words, 0, sizeof(words));
	memcpy(words, w, n * 8);
}

#define STACK(...) fill((uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

/* By sp, by fp, and the end; a call as the last instruction belongs to its function. */
static void test_x86(void **state)
{
	(void)state;
	STACK(1, SP + 40, CODE + 0x110, 3, 4, 0, CODE + 0x200);
	CHECK(X86(regs_at(CODE + 0x10, 0), 16,
		  {0x10, 3, -2, RULE(UNWIND_SP, UNWIND_FP_AT_CFA)},
		  {0x100, 2, -2, RULE(UNWIND_FP, UNWIND_FP_AT_CFA)},
		  {0x110, 0, 0, UNWIND_UNSUPPORTED}, {0x1ff, 0, 0, UNWIND_END},
		  {0x200, 0, 0, UNWIND_UNSUPPORTED}),
	      UNWOUND_COMPLETE, CODE + 0x10, CODE + 0x110, CODE + 0x200);
}

static void test_x86_memory(void **state)
{
	(void)state;
	/* CFA in memory, from sp and from fp; what is saved by the base */
	STACK(0, SP + 24, 0, SP + 72, CODE + 0x100, 0, 0, SP + 88, 0, SP + 80,
	      CODE + 0x200);
	CHECK(X86(regs_at(CODE + 0x10, 0), 16,
		  {0, 1 * 16 + 2, 3, RULE(UNWIND_DEREF_SP, UNWIND_FP_AT_BASE)},
		  {0x80, -2 * 16, 0, RULE(UNWIND_DEREF_FP, UNWIND_FP_AT_BASE)},
		  {0x180, 0, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE + 0x10, CODE + 0x100, CODE + 0x200);
	/* PLT: before and behind the push */
	STACK(CODE + 0x200, CODE + 0x300);
	CHECK(X86(regs_at(CODE + 0x1a, 0), 16, {0, 1, 11, UNWIND_PLT},
		  {0x100, 0, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE + 0x1a, CODE + 0x200);
	CHECK(X86(regs_at(CODE + 0x1b, 0), 16, {0, 1, 11, UNWIND_PLT},
		  {0x100, 0, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE + 0x1b, CODE + 0x300);
}

/* An interrupted function is looked up where it was interrupted, its fp is there again. */
static void test_x86_signal(void **state)
{
	(void)state;
	STACK(CODE + 0x101);
	words[1 + 168 / 8] = CODE + 0x200;
	words[1 + 160 / 8] = SP + 800;
	words[1 + 120 / 8] = SP + 816;
	words[102] = 0;
	words[103] = CODE + 0x300;
	CHECK(X86(regs_at(CODE, 0), 128, {0, 1, 0, RULE(UNWIND_SP, UNWIND_FP_UNDEFINED)},
		  {0x100, 0, 0, UNWIND_SIGNAL}, {0x180, 0, 0, UNWIND_UNSUPPORTED},
		  {0x200, 2, -2, RULE(UNWIND_FP, UNWIND_FP_AT_CFA)},
		  {0x280, 0, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE, CODE + 0x101, CODE + 0x200, CODE + 0x300);
	CHECK(X86(regs_at(CODE, 0), 20, {0, 1, 0, UNWIND_SP},
		  {0x100, 0, 0, UNWIND_SIGNAL}),
	      UNWOUND_FAULT, CODE, CODE + 0x101);
}

/* Where no row is. */
static void test_frame_pointer(void **state)
{
	struct unwind_regs lost = regs_at(BARE, SP);

	(void)state;
	STACK(SP + 16, BARE + 8, 0, CODE + 0x10);
	CHECK(X86(regs_at(BARE, SP), 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_COMPLETE, BARE,
	      BARE + 8, CODE + 0x10);
	/* at once 0, or not to be used */
	CHECK(X86(regs_at(BARE, 0), 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_NO_ROW, BARE);
	CHECK(X86(regs_at(BARE, SP + 4), 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_NO_ROW,
	      BARE);
	lost.has_fp = false;
	CHECK(X86(lost, 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_NO_ROW, BARE);
	/* within reach but not copied, and out of reach */
	CHECK(X86(regs_at(BARE, SP + 128), 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_FAULT,
	      BARE);
	CHECK(X86(regs_at(BARE, SP + 0x100008), 16, {0, 0, 0, UNWIND_NONE}),
	      UNWOUND_NO_ROW, BARE);
	/* below sp: if it leads to code */
	lost = regs_at(BARE, SP);
	lost.sp = SP + 64;
	CHECK(X86(lost, 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_COMPLETE, BARE, BARE + 8,
	      CODE + 0x10);
	words[1] = 77;
	CHECK(X86(lost, 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_NO_ROW, BARE);
	words[1] = 0;
	CHECK(X86(lost, 16, {0, 0, 0, UNWIND_NONE}), UNWOUND_COMPLETE, BARE);
}

static void test_stops(void **state)
{
	struct unwind_regs r = regs_at(CODE, SP);
	struct outcome o;

	(void)state;
	STACK(BARE - 8, CODE + 0x100);
	CHECK(X86(r, 16, {0, 1, 0, UNWIND_SP}), UNWOUND_NO_MAPPING, CODE, BARE - 8);
	CHECK(X86(r, 16, {0, 2, 0, UNWIND_SP}, {0x80, 0, 0, UNWIND_UNSUPPORTED}),
	      UNWOUND_UNSUPPORTED, CODE, CODE + 0x100);
	/* the end of the copy, its last word, before it */
	CHECK(X86(r, 2, {0, 3, 0, UNWIND_SP}), UNWOUND_FAULT, CODE);
	CHECK(X86(r, 2, {0, 2, 0, UNWIND_SP}, {0x80, 0, 0, UNWIND_END}), UNWOUND_COMPLETE,
	      CODE, CODE + 0x100);
	CHECK(X86(r, 2, {0, 0, 0, UNWIND_SP}), UNWOUND_FAULT, CODE);
	CHECK(X86(r, 2, {0, 2, 1, RULE(UNWIND_SP, UNWIND_FP_AT_CFA)}), UNWOUND_FAULT,
	      CODE);
	CHECK(X86(r, 2, {0, 5 * 16, 0, UNWIND_DEREF_SP}), UNWOUND_FAULT, CODE);
	CHECK(X86(r, 0, {0, 1, 0, UNWIND_SP}), UNWOUND_FAULT, CODE);
	/* rules that are no rules */
	CHECK(X86(r, 2, {0, 2, 0, 15}), UNWOUND_UNSUPPORTED, CODE);
	CHECK(X86(r, 2, {0, 2, 0, RULE(UNWIND_SP, 15)}), UNWOUND_UNSUPPORTED, CODE);
	CHECK(X86(r, 2, {0, 2, -1, RULE(UNWIND_SP, UNWIND_RA_AT_CFA)}),
	      UNWOUND_UNSUPPORTED, CODE);
	r.has_fp = false;
	CHECK(X86(r, 2, {0, 2, 0, UNWIND_FP}), UNWOUND_UNSUPPORTED, CODE);
	/* a return to 0 is the end */
	words[0] = 0;
	CHECK(X86(r, 2, {0, 1, 0, UNWIND_SP}), UNWOUND_COMPLETE, CODE);
	/* a stack that goes round */
	words[0] = CODE + 0x100;
	o = X86(r, 2, {0, 1, 0, UNWIND_SP}, {0x80, 0, 0, UNWIND_SP});
	assert_int_equal(o.why, UNWOUND_DEPTH);
	words[0] = SP;
	words[1] = BARE + 8;
	o = X86(regs_at(BARE, SP), 2, {0, 0, 0, UNWIND_NONE});
	assert_int_equal(o.why, UNWOUND_DEPTH);
	assert_int_equal(o.n, UNWIND_FRAMES_MAX);
	assert_int_equal(o.frames[UNWIND_FRAMES_MAX - 1], BARE + 8);
}

/* Return addresses in lr, in frame records and alone; signed ones. */
static void test_arm(void **state)
{
	const uint64_t sign = 0xabcd000000000000;
	struct unwind_regs r = regs_at(CODE, SP + 32);

	(void)state;
	r.lr = sign + CODE + 0x100;
	STACK(0, CODE + 0x200, 0, 0, SP + 64, sign + CODE + 0x300, 7, 7, 0, CODE + 0x400);
	CHECK(ARM(r, 16, {0, 0, 0, UNWIND_SP},
		  {0x80, 2, -1, RULE(UNWIND_SP, UNWIND_RA_AT_CFA)},
		  {0x180, 4, 0, RULE(UNWIND_FP, UNWIND_FP_AT_BASE)},
		  {0x280, 2, -2, RULE(UNWIND_FP, UNWIND_FP_AT_CFA)},
		  {0x380, 0, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE, CODE + 0x100, CODE + 0x200, CODE + 0x300,
	      CODE + 0x400);
	/* lr is good in the first frame only */
	CHECK(ARM(r, 16, {0, 0, 0, UNWIND_SP}, {0x80, 2, 0, UNWIND_SP}),
	      UNWOUND_UNSUPPORTED, CODE, CODE + 0x100);
	CHECK(ARM(r, 16, {0, 4, 1, RULE(UNWIND_SP, UNWIND_RA_AT_BASE)},
		  {0x180, 2, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE, CODE + 0x200);
	CHECK(ARM(r, 16, {0, 4, 0, RULE(UNWIND_SP, UNWIND_FP_UNDEFINED)},
		  {0x80, 2, -2, UNWIND_FP}),
	      UNWOUND_UNSUPPORTED, CODE, CODE + 0x100);
	/* behind a signal lr is good again */
	r.lr = CODE + 0x81;
	words[568 / 8] = CODE + 0x200;
	words[560 / 8] = SP + 16;
	words[544 / 8] = 0;
	words[552 / 8] = CODE + 0x300;
	CHECK(ARM(r, 128, {0, 0, 0, UNWIND_SP}, {0x80, 0, 0, UNWIND_SIGNAL},
		  {0x200, 0, 0, UNWIND_SP}, {0x280, 0, 0, UNWIND_END}),
	      UNWOUND_COMPLETE, CODE, CODE + 0x81, CODE + 0x200, CODE + 0x300);
}

#ifdef __x86_64__
/* --- this program's own stack ---------------------------------------------------------------- */

static struct unwind_table own;
static uintptr_t own_base;
static struct outcome seen;
static uint64_t stack_copy[2048];

extern const char __executable_start, etext;

static bool own_lookup(void *ctx, uint64_t addr, struct unwind_place *out)
{
	(void)ctx;
	out->table = &own;
	out->pc = (uint32_t)(addr - own_base);
	return addr >= own_base && addr < (uintptr_t)&etext;
}

static void on_signal(const ucontext_t *uc)
{
	struct unwind_regs r = {.pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
				.sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP],
				.fp = (uint64_t)uc->uc_mcontext.gregs[REG_RBP],
				.exact = true,
				.has_fp = true};
	struct iovec to = {stack_copy, sizeof(stack_copy)};
	struct iovec from = {(void *)r.sp, sizeof(stack_copy)}; /* may be less */
	struct unwind_copy copy = {(const uint8_t *)stack_copy, 0, r.sp};

	copy.n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	seen.n = unwind_stack(EM_X86_64, &r, &copy, own_lookup, NULL, seen.frames,
			      UNWIND_FRAMES_MAX, &seen.why);
}

/* Interrupts itself at the bottom: not through libc, whose table is not read here. */
__attribute__((noinline)) static unsigned recurse(unsigned n)
{
	volatile char room[100];

	room[0] = (char)n;
	if (n)
		return recurse(n - 1) + (unsigned)room[0];
	__asm__ volatile("ud2");
	return 1;
}

static void skip_ud2(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	on_signal(uc);
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}

static void test_own_stack(void **state)
{
	struct sigaction sa = {.sa_sigaction = skip_ud2, .sa_flags = SA_SIGINFO}, old;
	struct unwind_limits lim = {.max_rows = 1 << 20};
	struct elf_file *f;
	struct err e;
	size_t i;

	(void)state;
	own_base = (uintptr_t)&__executable_start;
	assert_int_equal(elf_open(NULL, "/proc/self/exe", &f, &e), 0);
	assert_int_equal(unwind_table_build(f, &lim, &own, &e), 0);
	elf_free(f);
	sigaction(SIGILL, &sa, &old);
	recurse(20);
	sigaction(SIGILL, &old, NULL);
	unwind_table_release(&own);
	/* 21 of recurse(), this function, then cmocka, which is another file */
	assert_int_equal(seen.why, UNWOUND_NO_MAPPING);
	assert_int_equal(seen.n, 23);
	for (i = 2; i < 21; i++)
		assert_int_equal(seen.frames[i], seen.frames[1]);
	assert_int_not_equal(seen.frames[21], seen.frames[1]);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),	   cmocka_unit_test(test_x86_memory),
		cmocka_unit_test(test_x86_signal), cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_stops),	   cmocka_unit_test(test_arm),
#ifdef __x86_64__
		cmocka_unit_test(test_own_stack),
#endif
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
