/* SPDX-License-Identifier: Apache-2.0 */
/* A query as a whole: types, time, labels, status. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/query/query.h"

static struct store *st;
static struct query *q;
static struct value_type types[3];
static struct header h;

static struct value_type vt(const char *type, const char *unit)
{
	return (struct value_type){store_puts(st, type), store_puts(st, unit)};
}

static int setup(void **state)
{
	(void)state;
	st = store_new(STORE_EXACT);
	q = query_new();
	types[0] = vt("samples", "count");
	types[1] = vt("cpu", "nanoseconds");
	types[2] = vt("cpu", "cycles");
	h = (struct header){.types = types,
			    .ntypes = 3,
			    .period_type = vt("cpu", "nanoseconds"),
			    .time_ns = 1000,
			    .duration_ns = 5,
			    .default_type = types[1].type};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	query_free(q);
	store_free(st);
	return 0;
}

/* Index of the type, -1 where the profile is left out, -2 for a text that is refused. */
static int chosen(const char *type)
{
	struct header copy = h;
	struct err e = {0};
	int i;

	if (query_set_type(q, type, &e))
		return -2;
	i = query_type_index(q, st, &copy);
	assert_int_equal(query_take(q, st, &copy), i >= 0);
	if (i >= 0)
		assert_int_equal(copy.default_type, types[i].type);
	return i;
}

static void test_types(void **state)
{
	(void)state;
	assert_int_equal(query_type_index(q, st, &h), 1);
	h.default_type = 0;
	assert_int_equal(query_type_index(q, st, &h), 2);
	assert_int_equal(chosen("samples"), 0);
	assert_int_equal(chosen("cpu"), 1);
	assert_int_equal(chosen("2"), 2);
	assert_int_equal(chosen("3"), -1);
	assert_int_equal(chosen("alloc_space"), -1);
	assert_int_equal(chosen("cp"), -1);
	assert_int_equal(chosen(""), -2);
	assert_int_equal(chosen("99999999999"), -2);
}

static void test_parca_types(void **state)
{
	(void)state;
	assert_int_equal(chosen("any:samples:count:cpu:nanoseconds:delta"), 0);
	assert_int_equal(chosen("any:cpu:nanoseconds:cpu:nanoseconds"), 1);
	assert_int_equal(chosen(":cpu:cycles:cpu:nanoseconds:delta"), 2);
	assert_int_equal(chosen("any:cpu:seconds:cpu:nanoseconds"), -1);
	assert_int_equal(chosen("any:cpu:cycles:space:bytes"), -1);
	assert_int_equal(chosen("any:cpu:cycles:cpu"), -2);
	assert_int_equal(chosen("any:cpu:cycles:cpu:nanoseconds:gamma"), -2);
	assert_int_equal(chosen("any:cpu:cycles:cpu:nanoseconds:delta:x"), -2);
	h.duration_ns = 0;
	assert_int_equal(chosen("any:samples:count:cpu:nanoseconds:delta"), -1);
	assert_int_equal(chosen("any:samples:count:cpu:nanoseconds"), 0);
}

static void test_type_from_selector(void **state)
{
	struct header copy = h;
	struct err e;

	(void)state;
	assert_int_equal(query_add_selector(q, "samples{}", &e), 0);
	assert_int_equal(query_take(q, st, &copy), 1);
	assert_int_equal(copy.default_type, types[0].type);
	assert_int_equal(query_add_selector(q, "x:y{}", &e), -22);
}

static void test_type_missed(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(query_set_type(q, "alloc_space", &e), 0);
	assert_int_equal(query_take(q, st, &h), 0);
	assert_int_equal(query_taken_status(q, &e), -ENODATA);
	assert_string_equal(e.msg, "no profile has the type \"alloc_space\"");
	types[0] = vt("alloc_space", "bytes");
	query_set_time(q, 5000, 6000); /* the type is there, the time is another matter */
	assert_int_equal(query_take(q, st, &h), 0);
	assert_int_equal(query_taken_status(q, &e), -ENODATA);
	assert_string_equal(e.msg, "no profile in the time asked for");
	query_set_time(q, 0, 6000);
	assert_int_equal(query_take(q, st, &h), 1);
	assert_int_equal(query_taken_status(q, &e), 0);
}

static void test_time(void **state)
{
	(void)state;
	query_set_time(q, 1000, 1001);
	assert_int_equal(query_take(q, st, &h), 1);
	query_set_time(q, 999, 1000);
	assert_int_equal(query_take(q, st, &h), 0);
	query_set_time(q, 1001, INT64_MAX);
	assert_int_equal(query_take(q, st, &h), 0);
	/* a profile at the end of time is only left out if somebody asks for that */
	h.time_ns = INT64_MAX;
	assert_int_equal(query_take(q, st, &h), 1);
	query_set_time(q, INT64_MIN, INT64_MAX - 1);
	assert_int_equal(query_take(q, st, &h), 0);
}

/* --- labels ------------------------------------------------------------------------------- */

static struct label text(const char *key, const char *value)
{
	return (struct label){.key = store_puts(st, key), .str = store_puts(st, value)};
}

static uint32_t apply(void)
{
	struct sample_hooks hooks = query_hooks(q);
	struct label l[] = {text("a", "1"), text("b", "2"), text("c", "3")};
	uint32_t set = store_labelset(st, l, 3), result;

	assert_non_null(hooks.labelset);
	result = hooks.labelset(hooks.ctx, st, set);
	assert_int_equal(hooks.labelset(hooks.ctx, st, set), result);
	return result;
}

static const char *value_of(uint32_t set, const char *key)
{
	const struct label *l;
	uint32_t n, i;

	l = store_labels(st, set, &n);
	for (i = 0; i < n; i++) {
		if (!strcmp(store_cstr(st, l[i].key), key))
			return store_cstr(st, l[i].str);
	}
	return NULL;
}

static void test_by(void **state)
{
	char b[] = "b", x[] = "x", *keys[] = {b, x};
	uint32_t set;

	(void)state;
	query_set_by(q, keys, 2);
	set = apply();
	assert_int_equal(st->labelsets[set].n, 1);
	assert_string_equal(value_of(set, "b"), "2");
}

static void test_by_nothing(void **state)
{
	uint32_t set;

	(void)state;
	query_set_by(q, NULL, 0);
	set = apply();
	assert_int_equal(st->labelsets[set].n, 0);
}

static void test_without(void **state)
{
	char b[] = "b", x[] = "x", *keys[] = {b, x};
	uint32_t set;

	(void)state;
	query_set_without(q, keys, 2);
	set = apply();
	assert_int_equal(st->labelsets[set].n, 2);
	assert_null(value_of(set, "b"));
}

static void test_added_label_replaces(void **state)
{
	char c[] = "c", *keys[] = {c};
	uint32_t set;

	(void)state;
	query_set_by(q, keys, 1);
	query_add_label(q, "version", "v1");
	query_add_label(q, "c", "new");
	query_add_label(q, "version", "v2");
	set = apply();
	assert_int_equal(st->labelsets[set].n, 2);
	assert_string_equal(value_of(set, "version"), "v2");
	assert_string_equal(value_of(set, "c"), "new");
}

static void test_selectors_come_first(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(query_add_selector(q, "a=1", &e), 0);
	query_add_label(q, "a", "9");
	assert_string_equal(value_of(apply(), "a"), "9");
}

static void test_all_selectors_hold(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(query_add_selector(q, "a=1", &e), 0);
	assert_int_equal(query_add_selector(q, "b=3", &e), 0);
	assert_int_equal(apply(), SAMPLE_DROP);
}

static void test_status(void **state)
{
	struct sample_hooks hooks;
	struct label l = text("k", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
	struct err e = {0};

	(void)state;
	assert_int_equal(query_add_selector(q, "k=~'(a|aa|a+)+c?$'", &e), 0);
	hooks = query_hooks(q);
	assert_int_equal(query_status(q, &e), 0);
	hooks.labelset(hooks.ctx, st, store_labelset(st, &l, 1));
	assert_true(query_status(q, &e) < 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_types),
		T(test_parca_types),
		T(test_type_from_selector),
		T(test_type_missed),
		T(test_time),
		T(test_by),
		T(test_by_nothing),
		T(test_without),
		T(test_added_label_replaces),
		T(test_selectors_come_first),
		T(test_all_selectors_hold),
		T(test_status),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
