/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by time: bins of intervals, windows, bounded memory, sums that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/render/bins.h"

#define S INT64_C(1000000000)
#define START (1764547200 * S)

static struct store *st;
static struct timeline t;
static struct value_type type;
static struct header h;

static int setup(void **state)
{
	(void)state;
	st = store_new(STORE_MERGED);
	timeline_init(&t);
	type = (struct value_type){store_puts(st, "cpu"), store_puts(st, "nanoseconds")};
	h = (struct header){.types = &type, .ntypes = 1};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	timeline_release(&t);
	store_free(st);
	return 0;
}

/* A profile of one sample without frames. */
static void add(int64_t time_ns, int64_t duration_ns, int64_t value)
{
	h.time_ns = time_ns;
	h.duration_ns = duration_ns;
	timeline_begin(&t, st, &h);
	timeline_sample(&t, store_stack(st, NULL, 0), store_labelset(st, NULL, 0),
			&value);
}

static struct bins bins_of(size_t most)
{
	struct bins b;

	timeline_end(&t);
	assert_non_null(timeline_find(&t, &h));
	bins_init(&b, timeline_find(&t, &h), most);
	return b;
}

static int64_t sum(const struct bin *b)
{
	int64_t v = 0;
	size_t i;

	for (i = b->first; i < b->first + b->n; i++)
		v += profile_values(t.types[0].v[i].p, 0)[0];
	return v;
}

static void test_intervals(void **state)
{
	struct bins b;

	(void)state;
	add(START + 10 * S + 3000000, 10 * S, 2);
	add(START, 10 * S, 1);
	add(START + 30 * S, 4 * S, 3); /* after a pause, shorter */
	b = bins_of(240);
	assert_int_equal(b.n, 3);
	assert_false(b.windows);
	assert_true(b.v[0].start_ns == START &&
		    b.v[0].until_ns == START + 10 * S + 3000000);
	assert_true(b.v[1].until_ns == START + 30 * S && b.v[1].wall_ns == 10 * S);
	assert_true(b.v[2].until_ns == START + 34 * S && b.v[2].wall_ns == 4 * S);
	assert_true(sum(&b.v[0]) == 1 && sum(&b.v[1]) == 2 && sum(&b.v[2]) == 3);
	bins_release(&b);
}

/* Two machines, not in step: windows of their interval, spread over the time both took. */
static void test_machines(void **state)
{
	struct bins b;
	int i;

	(void)state;
	for (i = 0; i < 6; i++) {
		add(START + i * 10 * S, 10 * S, 1);
		add(START + i * 10 * S + 4 * S, 10 * S, 1);
	}
	b = bins_of(240);
	assert_int_equal(b.n, 6);
	assert_true(b.windows);
	assert_true(b.v[5].start_ns == START + 50 * S && b.v[5].merged == 2);
	assert_true(b.v[5].until_ns == START + 60 * S && b.v[5].wall_ns == 10 * S);
	bins_release(&b);
	b = bins_of(3);
	assert_int_equal(b.n, 3); /* of 20 s */
	assert_true(sum(&b.v[0]) == 4 && b.v[0].merged == 4);
	bins_release(&b);
}

static void test_no_time(void **state)
{
	struct bins b;

	(void)state;
	add(0, 0, 1);
	add(0, 10 * S, 2);
	add(-5, 0, 3);
	b = bins_of(240);
	assert_int_equal(b.n, 1);
	assert_true(b.v[0].start_ns == -5 && b.v[0].until_ns > -5 && b.v[0].wall_ns > 0);
	assert_int_equal(profile_values(t.types[0].timeless.p, 0)[0], 3);
	bins_release(&b);
}

/* More starts than are kept apart, in two orders. */
static void test_bound(void **state)
{
	int64_t first[3], v;
	size_t moments[2], i;
	int round;

	(void)state;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 10000; i++) {
			v = (int64_t)(round ? 9999 - i : i);
			add(START + v * S, S, 1);
			add(START + v * S, S, 1);
		}
		moments[round] = t.types[0].n;
		assert_true(moments[round] <= TIMELINE_MOMENTS &&
			    moments[round] > TIMELINE_MOMENTS / 3);
		for (v = 0, i = 0; i < t.types[0].n; i++)
			v += profile_values(t.types[0].v[i].p, 0)[0];
		assert_int_equal(v, 20000);
		first[round] = t.types[0].v[1].first_ns;
		timeline_release(&t);
		timeline_init(&t);
	}
	assert_int_equal(moments[0], moments[1]);
	assert_true(first[0] == first[1]);
}

/* Times from end to end of what there is. */
static void test_extremes(void **state)
{
	struct bins b;

	(void)state;
	add(INT64_MIN, INT64_MAX, 1);
	add(INT64_MAX, INT64_MAX, 2);
	add(START, -5, 3);
	b = bins_of(240);
	assert_in_range(b.n, 2, 3);
	assert_true(b.v[0].wall_ns > 0 && b.v[b.n - 1].wall_ns > 0);
	bins_release(&b);
	b = bins_of(1);
	assert_in_range(b.n, 1, 3);
	bins_release(&b);
}

static void test_overflow(void **state)
{
	struct err e = {0};

	(void)state;
	add(START, S, INT64_MAX);
	assert_int_equal(timeline_status(&t, &e), 0);
	add(START, S, 1);
	add(START + S, S, 1);
	assert_true(timeline_status(&t, &e) < 0);
	assert_true(strlen(e.msg) > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_intervals), TEST(test_machines), TEST(test_no_time),
		TEST(test_bound),     TEST(test_extremes), TEST(test_overflow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
