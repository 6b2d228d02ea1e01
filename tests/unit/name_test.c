/* SPDX-License-Identifier: Apache-2.0 */
/* Names made to fit: what each step of the ladder leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/ui/name.h"

#define DOTS "\xe2\x80\xa6"

static void fit(const char *name, size_t columns, const char *want)
{
	struct buf b = BUF_INIT(4096);

	name_fit(&b, name, strlen(name), columns);
	assert_string_equal(buf_str(&b), want);
	assert_true(name_width(buf_str(&b), b.len) <= columns);
	buf_release(&b);
}

static void test_cpp(void **state)
{
	static const char name[] =
		"std::vector<int, std::allocator<int> >::push_back(int const&)";

	(void)state;
	fit(name, 80, name);
	fit(name, 40, "std::vector::push_back");
	fit(name, 20, "vector::push_back");
	fit(name, 12, "push_back");
	fit(name, 5, "push" DOTS);
	fit("ns::operator()(int) const", 16, "ns::operator()");
	fit("(anonymous namespace)::f(int)", 26, "(anonymous namespace)::f");
	fit("std::operator<< <char>(x)", 20, "std::operator<< ");
}

static void test_go(void **state)
{
	static const char name[] =
		"github.com/grafana/pyroscope/pkg/util.(*Log).Wrap.func1";

	(void)state;
	fit(name, 60, name);
	fit(name, 50, "util.(*Log).Wrap.func1");
	fit(name, 12, "Wrap.func1");
	fit("a_rather_long_name_without_any_parts", 20, "a_rather_l" DOTS "any_parts");
	fit("golang.org/x/net/http2.(*serverConn).runHandler", 20, "runHandler");
}

static void test_java(void **state)
{
	(void)state;
	fit("org.apache.kafka.Partition.appendRecords(Ljava)", 30,
	    "Partition.appendRecords");
}

static void test_clones(void **state)
{
	(void)state;
	fit("copy_folio_from_iter_atomic.isra.0", 20, "copy_folio" DOTS "ic.isra.0");
	fit("copy_folio_from_iter_atomic.isra.0", 12, "copy_folio_" DOTS);
	fit("a::long_name.constprop.0.cold", 27, "long_name.constprop.0.cold");
	fit("runtime.asyncPreempt.cold", 17, "asyncPreempt.cold");
}

static void test_wide_characters(void **state)
{
	/* four characters of two columns each */
	static const char name[] = "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97";

	(void)state;
	assert_int_equal(name_width(name, strlen(name)), 8);
	fit(name, 8, name);
	fit(name, 7, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe2\x80\xa6");
	fit(name, 2, "\xe2\x80\xa6");
	fit(name, 1, "\xe2\x80\xa6");
}

static void test_always_fits(void **state)
{
	static const char combining[] = "e\xcc\x81"
					"e\xcc\x81"
					"e\xcc\x81"
					"e\xcc\x81";
	static const char *const names[] = {
		"a",	   "",
		"a::b",	   "::",
		".",	   "/",
		"a/",	   "<<<<>>>>",
		"((((",	   "a.b.c.d.e.f.g.h.i",
		"x<(",	   "<T as Trait>::f",
		combining,
	};
	struct buf b = BUF_INIT(4096);
	size_t i, columns;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (columns = 1; columns < 24; columns++) {
			buf_clear(&b);
			name_fit(&b, names[i], strlen(names[i]), columns);
			assert_true(name_width(buf_str(&b), b.len) <= columns);
			buf_clear(&b);
			name_cut(&b, names[i], strlen(names[i]), columns);
			assert_true(name_width(buf_str(&b), b.len) <= columns);
		}
	}
	buf_release(&b);
}

static void package(const char *name, const char *want)
{
	size_t n = name_package(name, strlen(name));

	assert_int_equal(n, strlen(want));
	assert_memory_equal(name, want, n);
}

static void test_package(void **state)
{
	(void)state;
	package("net/http.(*conn).serve", "net/http");
	package("runtime.mallocgc", "runtime");
	package("main.(*T).f", "main");
	package("std::vector<std::string>::push_back(int)", "std::vector<std::string>");
	package("java.util.HashMap.get", "java.util.HashMap");
	package("main", "");
	package("", "");
	package("[libz.so.1]", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpp),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_wide_characters),
		cmocka_unit_test(test_always_fits),
		cmocka_unit_test(test_package),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
