/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical names: what each rule takes off, and what must stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sym/canonical.h"

static void becomes(const char *name, const char *want)
{
	struct buf b = BUF_INIT(1000);
	bool changed = canonical_name(name, strlen(name), &b);

	if (changed != (strcmp(name, want) != 0))
		fail_msg("%s: changed is %d", name, changed);
	if (changed && strcmp(buf_str(&b), want))
		fail_msg("%s: got %s, want %s", name, buf_str(&b), want);
	buf_release(&b);
}

static void stays(const char *name)
{
	becomes(name, name);
}

static void test_clones(void **state)
{
	static const char *const suffixes[] = {
		".isra.0",     ".part.12",	 ".constprop.1", ".cold",
		".cold.3",     ".llvm.1234567",	 ".lto_priv.0",	 ".warm",
		".cfi",	       ".argprom",	 ".argelim",	 ".specialized.2",
		".__uniq.998", " [clone .cold]", " (.cold)",	 " [clone .isra.0]",
	};
	char name[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		strcpy(name, "parse_line");
		strcat(name, suffixes[i]);
		becomes(name, "parse_line");
		strcpy(name, "ns::parse(int, char const*)");
		strcat(name, suffixes[i]);
		becomes(name, "ns::parse(int, char const*)");
	}
	becomes("f.isra.0.part.1.cold", "f");
	becomes("f() [clone .isra.0] [clone .cold]", "f()");
	stays("f.isra");
	stays("f.part");
	stays("f.constprop");
	stays("f.llvm");
	stays("f.0");
	stays("f.cold_path");
	stays(".cold");
	stays("f [clone]");
	stays("f (.)");
	stays("main.func1");
	stays("main.run.func1.2");
	stays("f.resume");
	stays("f.omp_outlined");
	stays("f.omp_outlined.1");
	stays("a.b");
	stays("");
}

static void test_rust(void **state)
{
	(void)state;
	becomes("core::fmt::write::h0123456789abcdef", "core::fmt::write");
	becomes("core::fmt::write::h0123456789abcdef.llvm.42", "core::fmt::write");
	becomes("core[1f2e3d4c5b6a7988]::fmt::write", "core::fmt::write");
	becomes("<alloc[1f2e3d4c5b6a7]::vec::Vec<u8>>::push",
		"<alloc::vec::Vec<u8>>::push");
	stays("core::fmt::h0123456789abcde");
	stays("core::fmt::write::{{closure}}");
	stays("core::fmt::g0123456789abcdef");
	stays("a[0123456789ab]::f");
	stays("a[0123456789abcdef01]::f");
}

static void test_go(void **state)
{
	(void)state;
	becomes("slices.Sort[go.shape.int64]", "slices.Sort[...]");
	becomes("a.Map[go.shape.string,go.shape.[]uint8].Get", "a.Map[...].Get");
	becomes("a.F[go.shape.int].func1", "a.F[...].func1");
	stays("slices.Sort[...]");
	stays("a.F[int]");
	stays("a.F[go.shape.int");
}

static void test_run_times(void **state)
{
	(void)state;
	becomes("App$$Lambda$17/0x00007f12.run", "App$$Lambda$/0x.run");
	becomes("App.lambda$main$0", "App.lambda$main$");
	becomes("App.access$000", "App.access$");
	becomes("com.sun.proxy.$Proxy12.call", "com.sun.proxy.$Proxy.call");
	becomes("sun.reflect.GeneratedMethodAccessor31.invoke",
		"sun.reflect.GeneratedMethodAccessor.invoke");
	stays("App.main");
	stays("App$Inner.run");
	stays("lambda$0");
	stays("main::{lambda()#2}::operator()");
	stays("main::{lambda()#2}");
}

static void test_abi_tags(void **state)
{
	(void)state;
	becomes("std::string::size[abi:cxx11]()", "std::string::size()");
	becomes("f[abi:a][abi:b]", "f");
	stays("f[abi:cxx11");
}

static void test_versions(void **state)
{
	(void)state;
	becomes("[unwind stopped: no unwind info: libfoo.so.1.2]",
		"[unwind stopped: no unwind info: libfoo.so]");
	becomes("github.com/a/b@v1.2.3/c.go", "github.com/a/b/c.go");
	becomes("github.com/a/b@v0.0.0-20230101000000-abcdef012345/c.go",
		"github.com/a/b/c.go");
	stays("libfoo.so.x");
	stays("libfoo.so");
	stays("a@version");
}

static void test_addresses(void **state)
{
	(void)state;
	becomes("thunk at 0x7f0012", "thunk at 0x");
	stays("x0x12");
	stays("0xyz");
	stays("base0x12");
}

static void family(const char *name, const char *want)
{
	struct buf b = BUF_INIT(1000);
	bool is = canonical_family(name, strlen(name), &b);

	if (is != (want != NULL))
		fail_msg("%s: a family is %d", name, is);
	if (is && strcmp(buf_str(&b), want))
		fail_msg("%s: got %s, want %s", name, buf_str(&b), want);
	buf_release(&b);
}

static void test_families(void **state)
{
	(void)state;
	/* Go */
	family("main.run.func1", "main.run.func#");
	family("main.run.func12", "main.run.func#");
	family("main.run.func1.2", "main.run.func#.#");
	family("main.run.func1.2.3", "main.run.func#.#.#");
	family("main.(*T).Do.func2", "main.(*T).Do.func#");
	family("main.F[...].func1", "main.F[...].func#");
	family("main.run.gowrap1", "main.run.gowrap#");
	family("main.run.deferwrap2", "main.run.deferwrap#");
	family("main.run-range1", "main.run-range#");
	family("main.run.func1.deferwrap1", "main.run.func#.deferwrap#");
	family("main.run.func", NULL);
	family("main.run.func1x", NULL);
	family("main.func", NULL);
	family("main.function1", NULL);
	/* C++ */
	family("run()::{lambda(int)#2}::operator()(int) const",
	       "run()::{lambda(int)#}::operator()(int) const");
	family("run()::{lambda()#1}", "run()::{lambda()#}");
	family("run()::$_0::operator()() const", "run()::$_#::operator()() const");
	family("run()::'lambda1'(int)::operator()(int) const",
	       "run()::'lambda#'(int)::operator()(int) const");
	family("run()::'lambda'(int)", NULL);
	family("a$_b", NULL);
	/* Rust */
	family("app::run::{closure#0}", "app::run::{closure#}");
	family("app::run::{closure#0}::{closure#11}", "app::run::{closure#}::{closure#}");
	family("<f as FnOnce>::call_once::{shim:vtable#0}",
	       "<f as FnOnce>::call_once::{shim:vtable#}");
	family("app::run::{{closure}}", NULL);
	family("app::run", NULL);
	family("", NULL);
	family("1", NULL);
	family(".func1", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clones),	  cmocka_unit_test(test_rust),
		cmocka_unit_test(test_go),	  cmocka_unit_test(test_run_times),
		cmocka_unit_test(test_abi_tags),  cmocka_unit_test(test_versions),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_families),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
