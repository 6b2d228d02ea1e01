/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols from text, and where readable those of the running kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sym/kallsyms.h"

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 t first\n"
			   "ffffffff81000100 t __pfx_vfs_read\n"
			   "ffffffff81000110 t __ksys_alias\n"
			   "ffffffff81000110 T vfs_read\n"
			   "ffffffff81000200 W weak_one\n"
			   "ffffffff81000300 T _etext\n"
			   "ffffffff82000000 D some_data\n"
			   "ffffffffc0002000 t mod_b\t[two]\n"
			   "ffffffffc0001000 t mod_a\t[one]\n"
			   "ffffffffc0001040 T mod_c\t[one]\n"
			   "ffffffffc0003000 t bpf_prog_0123_x\t[bpf]";

static const char *name_at(const struct kallsyms *k, uint64_t addr)
{
	const struct ksym *s = kallsyms_find(k, addr);

	return s ? s->name : "(none)";
}

static void check(struct kallsyms *k)
{
	struct err e;

	if (kallsyms_finish(k, &e) < 0)
		fail_msg("%s", e.msg);
	assert_false(k->hidden);
	assert_true(k->stext == 0xffffffff81000000 && k->etext == 0xffffffff81000300);
	assert_string_equal(name_at(k, 0xffffffff81000000), "first");
	assert_string_equal(name_at(k, 0xffffffff810000ff), "first");
	assert_string_equal(name_at(k, 0xffffffff81000105), "__pfx_vfs_read");
	assert_string_equal(name_at(k, 0xffffffff81000110), "vfs_read");
	assert_string_equal(name_at(k, 0xffffffff8100023f), "weak_one");
	assert_string_equal(name_at(k, 0xffffffffc0001000), "mod_a");
	assert_string_equal(name_at(k, 0xffffffffc0001041), "mod_c");
	assert_string_equal(name_at(k, 0xffffffffc0002000), "mod_b");
	assert_string_equal(name_at(k, UINT64_MAX), "bpf_prog_0123_x");
	assert_string_equal(name_at(k, 0xffffffff80ffffff), "(none)");
	assert_int_equal(k->nmodules, 4);
	assert_string_equal(k->modules[0].name, "");
	assert_string_equal(k->modules[kallsyms_find(k, 0xffffffffc0001000)->module].name,
			    "one");
	assert_true(k->modules[2].start == 0xffffffffc0001000 &&
		    k->modules[2].end == 0xffffffffc0001041);
}

static void test_pieces(void **state)
{
	size_t size, at, n;
	struct kallsyms k;
	struct err e;

	(void)state;
	for (size = 1; size <= sizeof(text); size++) {
		kallsyms_init(&k);
		for (at = 0; at < sizeof(text) - 1; at += n) {
			n = sizeof(text) - 1 - at;
			if (n > size)
				n = size;
			assert_int_equal(kallsyms_feed(&k, text + at, n, &e), 0);
		}
		check(&k);
		kallsyms_release(&k);
	}
}

static void test_hidden(void **state)
{
	static const char zeros[] =
		"0000000000000000 T _stext\n0000000000000000 T vfs_read\n";
	struct kallsyms k;
	struct err e;

	(void)state;
	kallsyms_init(&k);
	assert_int_equal(kallsyms_feed(&k, zeros, sizeof(zeros) - 1, &e), 0);
	assert_int_equal(kallsyms_finish(&k, &e), 0);
	assert_true(k.hidden);
	kallsyms_release(&k);
}

static void refused(const char *line, const char *want)
{
	struct kallsyms k;
	struct err e = {0};
	int r;

	kallsyms_init(&k);
	r = kallsyms_feed(&k, "ffffffff81000000 T a\n", 21, &e);
	if (!r)
		r = kallsyms_feed(&k, line, strlen(line), &e);
	if (!r)
		r = kallsyms_finish(&k, &e);
	if (r != -EINVAL)
		fail_msg("taken: %.40s", line);
	assert_string_equal(e.msg, want);
	kallsyms_release(&k);
}

static void test_refused(void **state)
{
	char *longest = malloc(4096);

	(void)state;
	refused("\n", "line 2 is no kernel symbol");
	refused("ffffffff81000000", "line 2 is no kernel symbol");
	refused("ffffffff81000000 T\n", "line 2 is no kernel symbol");
	refused("ffffffff81000000 T \n", "line 2 is no kernel symbol");
	refused("ffffffff810000000 T x\n", "line 2 is no kernel symbol");
	refused("fffffffg81000000 T x\n", "line 2 is no kernel symbol");
	refused("ffffffff81000000 T x\tmodule\n", "line 2 is no kernel symbol");
	refused("ffffffff81000000 T \t[module]\n", "line 2 is no kernel symbol");
	memset(longest, 'x', 4096);
	memcpy(longest, "ffffffff81000000 T ", 19);
	longest[4095] = 0;
	refused(longest, "line 2 is no kernel symbol");
	free(longest);
}

/* Each function's name leads to an address that leads back to a name of that address. */
static void test_running_kernel(void **state)
{
	struct kallsyms k;
	struct err e;
	size_t i;

	(void)state;
	kallsyms_init(&k);
	if (kallsyms_load(&k, "/proc/kallsyms", &e) < 0) {
		print_message("# %s\n", e.msg);
	} else if (!k.hidden) {
		assert_true(k.n > 1000);
		assert_true(k.stext && k.etext > k.stext);
		for (i = 0; i < k.n; i++) {
			assert_ptr_equal(kallsyms_find(&k, k.syms[i].addr), &k.syms[i]);
			assert_true(i == 0 || k.syms[i - 1].addr < k.syms[i].addr);
		}
	}
	kallsyms_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_running_kernel),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
