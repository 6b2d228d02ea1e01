/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sym/demangle.h"
#include "lib/sym/simplify.h"

#define N(v) (sizeof(v) / sizeof(*(v)))

static void check(const char *name, enum demangle_mode mode, const char *want)
{
	struct buf b = BUF_INIT(DEMANGLED_MAX);
	bool ok = demangle(name, mode, &b);

	if (ok != (want != NULL))
		print_error("%s\n", name);
	assert_int_equal(ok, want != NULL);
	if (want)
		assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_modes(void **state)
{
	static const struct {
		const char *name, *simple, *templates, *full;
	} v[] = {
		{"_Z3fibi", "fib", "fib", "fib(int)"},
		{"_ZN1n1fIiEEvi@plt", "n::f@plt", "n::f<int>@plt",
		 "void n::f<int>(int)@plt"},
		{"_ZNK1n1SIiE1mIlEEiT_", "n::S::m", "n::S<int>::m<long>",
		 "int n::S<int>::m<long>(long) const"},
		{"_ZNK1n1SIiEgtERKS1_", "n::S::operator>", "n::S<int>::operator>",
		 "n::S<int>::operator>(n::S<int> const&) const"},
		{"_ZNK1n1SIiEltIcEEbT_", "n::S::operator<", "n::S<int>::operator< <char>",
		 "bool n::S<int>::operator< <char>(char) const"},
		{"_ZNK1n1SIiEleIcEEbT_",
		 "n::S::operator<=", "n::S<int>::operator<=<char>",
		 "bool n::S<int>::operator<=<char>(char) const"},
		{"_ZNK1n1SIiElsEi", "n::S::operator<<", "n::S<int>::operator<<",
		 "n::S<int>::operator<<(int) const"},
		{"_ZNK1n1SIiEptEv", "n::S::operator->", "n::S<int>::operator->",
		 "n::S<int>::operator->() const"},
		{"_ZNK1n1SIiEclEi", "n::S::operator()", "n::S<int>::operator()",
		 "n::S<int>::operator()(int) const"},
		{"_ZN1n1SIiEcmEi", "n::S::operator,", "n::S<int>::operator,",
		 "n::S<int>::operator,(int)"},
		{"_ZN1n1SIiEnaEm", "n::S::operator new[]", "n::S<int>::operator new[]",
		 "n::S<int>::operator new[](unsigned long)"},
		{"_ZNK1n1SIiEcvSt6vectorIiSaIiEEEv", "n::S::operator std::vector",
		 "n::S<int>::operator std::vector<int, std::allocator<int> >",
		 "n::S<int>::operator std::vector<int, std::allocator<int> >() const"},
		{"_Z2fpIXadL_ZL2idiEELb1EEii", "fp", "fp<&(id(int)), true>",
		 "int fp<&(id(int)), true>(int)"},
		{"_Z6taggedB1qv", "tagged[abi:q]", "tagged[abi:q]", "tagged[abi:q]()"},
		{"_ZN12_GLOBAL__N_14anonESt8functionIFiiEE",
		 "(anonymous namespace)::anon", "(anonymous namespace)::anon",
		 "(anonymous namespace)::anon(std::function<int (int)>)"},
		{"_ZThn8_N1X1gEv", "non-virtual thunk to X::g",
		 "non-virtual thunk to X::g", "non-virtual thunk to X::g()"},
		{"_ZZNK1n1SIiE1mIlEEiT_ENKUliE_clEi",
		 "n::S::m::{lambda(int)#1}::operator()",
		 "n::S<int>::m<long>::{lambda(int)#1}::operator()",
		 "n::S<int>::m<long>(long) const::{lambda(int)#1}::operator()(int) "
		 "const"},
		{"_ZNSt17_Function_handlerIFiiEZ4mainEUliE_E9_M_invokeERKSt9_Any_dataOi",
		 "std::_Function_handler::_M_invoke",
		 "std::_Function_handler<int (int), main::{lambda(int)#1}>::_M_invoke",
		 "std::_Function_handler<int (int), main::{lambda(int)#1}>::_M_invoke("
		 "std::_Any_data const&, int&&)"},
		{"_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
		 "core::ptr::drop_in_place", "core::ptr::drop_in_place",
		 "core::ptr::drop_in_place"},
		{"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$"
		 "17h0123456789abcdefE",
		 "core::ptr::drop_in_place",
		 "core::ptr::drop_in_place<alloc::string::String>",
		 "core::ptr::drop_in_place<alloc::string::String>"},
		{"_ZN50_$LT$r..P$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$"
		 "3fmt17h0123456789abcdefE",
		 "<r::P as core::fmt::Debug>::fmt", "<r::P<T> as core::fmt::Debug>::fmt",
		 "<r::P<T> as core::fmt::Debug>::fmt"},
		/* a v0 name with the hash of a crate and a suffix of the linker's */
		{"_RNvNtCs1234_7mycrate3mod3run", "mycrate::mod::run",
		 "mycrate::mod::run", "mycrate::mod::run"},
		{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of",
		 "std::mem::align_of::<f64>", "std::mem::align_of::<f64>"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < N(v); i++) {
		check(v[i].name, DEMANGLE_NONE, NULL);
		check(v[i].name, DEMANGLE_SIMPLE, v[i].simple);
		check(v[i].name, DEMANGLE_TEMPLATES, v[i].templates);
		check(v[i].name, DEMANGLE_FULL, v[i].full);
	}
}

/* Names of other languages, and what only looks mangled, are nobody's to change. */
static void test_left_alone(void **state)
{
	static const char *const v[] = {
		"main",
		"",
		"_",
		"_Z",
		"_R",
		"main.(*T[...]).Add",
		"operator<",
		"github.com/x/y.F[go.shape.int_0]",
		"$s4main3fooyyF",
		"caml_main__entry_12",
		"_ZNotAName",
		"_Z3fo",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N(v); i++)
		check(v[i], DEMANGLE_SIMPLE, NULL);
}

/* f(A<int, int>, …), each parameter an A of the one before, twice: the text doubles each time. */
static void doubling(char *name, size_t size, size_t times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = snprintf(name, size, "_Z1f1AIiiE"), i;

	for (i = 0; i < times; i++)
		n += snprintf(name + n, size - n, "S_IS%c_S%c_E", digits[i], digits[i]);
}

/* 2^36 times ten bytes from a name of 420, stopped at 64 KiB. */
static void test_explosion(void **state)
{
	char name[1024];
	struct buf b = BUF_INIT(DEMANGLED_MAX);
	size_t times;

	(void)state;
	doubling(name, sizeof(name), 1);
	check(name, DEMANGLE_FULL, "f(A<int, int>, A<A<int, int>, A<int, int> >)");
	for (times = 1; times < 36; times++) {
		doubling(name, sizeof(name), times);
		if (!demangle(name, DEMANGLE_FULL, &b))
			break;
		assert_true(b.len > 10u << times && b.len <= DEMANGLED_MAX);
	}
	assert_true(times > 10 && times < 16); /* it is the length that was refused */
	for (; times <= 36; times++) {
		doubling(name, sizeof(name), times);
		check(name, DEMANGLE_FULL, NULL);
		check(name, DEMANGLE_SIMPLE, "f"); /* parameters are not even written */
	}
	buf_release(&b);
}

static void test_long_names(void **state)
{
	size_t n = 1 << 20;
	char *name = malloc(n + 1);

	(void)state;
	memset(name, 'P', n);
	name[n] = 0;
	memcpy(name, "_Z1f", 4);
	check(name, DEMANGLE_FULL, NULL);
	free(name);
}

static void test_clone_suffixes(void **state)
{
	static const struct {
		const char *name, *base;
	} v[] = {
		{"f.isra.0", "f"},
		{"f.part.12", "f"},
		{"f.constprop.0.isra.0", "f"},
		{"_Z1fv.cold", "_Z1fv"},
		{"f.cold.3", "f"},
		{"f.isra.0.cold", "f"},
		{"f.llvm.1234567890123456789", "f"},
		{"f.lto_priv.0", "f"},
		{"f", "f"},
		{"f.isra", "f.isra"},
		{"f.isra.", "f.isra."},
		{"f.isra.x", "f.isra.x"},
		{"f.other.0", "f.other.0"},
		{".cold", ".cold"},
		{"f.0", "f.0"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < N(v); i++)
		assert_int_equal(demangle_clone_base(v[i].name, strlen(v[i].name)),
				 strlen(v[i].base));
}

/* Whatever comes in, the text gets no longer and its end is kept in sight. */
static void test_simplify_anything(void **state)
{
	static const char *const v[] = {
		"<",	      ">",
		"a<",	      "a<b",
		"a>b",	      "(",
		")",	      "f(",
		"f((",	      "operator",
		"operator<",  "operator<<",
		"operator<=", "operator(",
		"operator()", "operator()(",
		"a::<",	      "::<",
		"<a",	      "f<(>)",
		"{",	      "f{",
		"a-",	      "a->",
		"f<a->b>",    "f<operator< >",
		"x operator",
	};
	struct buf b;
	size_t i;

	(void)state;
	for (i = 0; i < N(v); i++) {
		buf_init(&b, 256);
		buf_puts(&b, v[i]);
		simplify_cxx(&b, false);
		assert_true(b.len <= strlen(v[i]));
		buf_clear(&b);
		buf_puts(&b, v[i]);
		simplify_rust(&b);
		assert_true(b.len <= strlen(v[i]));
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_explosion),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_clone_suffixes),
		cmocka_unit_test(test_simplify_anything),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
