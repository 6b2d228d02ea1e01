/* SPDX-License-Identifier: Apache-2.0 */
/* Room in an array that others read: who gets what, and when it is free again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/capture/room.h"

#define LATER (2 * ROOM_REST_NS)

static void test_take(void **state)
{
	struct room x;
	uint32_t at;

	(void)state;
	room_init(&x, 10);
	assert_true(room_take(&x, 4, 0, &at));
	assert_int_equal(at, 0);
	assert_true(room_take(&x, 6, 0, &at));
	assert_int_equal(at, 4);
	assert_false(room_take(&x, 1, 0, &at));
	room_release(&x);
}

/* What was given back may still be read for a moment. */
static void test_rest(void **state)
{
	struct room x;
	uint32_t at;

	(void)state;
	room_init(&x, 4);
	assert_true(room_take(&x, 4, 0, &at));
	room_give(&x, 0, 4, 100);
	assert_false(room_take(&x, 4, 100 + ROOM_REST_NS - 1, &at));
	assert_true(room_take(&x, 4, 100 + ROOM_REST_NS, &at));
	assert_int_equal(at, 0);
	room_release(&x);
}

/* Neighbours join, in any order, and the smallest gap that fits is taken. */
static void test_join(void **state)
{
	struct room x;
	uint32_t at;

	(void)state;
	room_init(&x, 12);
	assert_true(room_take(&x, 12, 0, &at));
	room_give(&x, 0, 2, 0);
	room_give(&x, 4, 2, 0);
	room_give(&x, 2, 2, 0);
	room_give(&x, 8, 3, 0);
	assert_int_equal(x.nfree, 2);
	assert_true(room_take(&x, 3, LATER, &at));
	assert_int_equal(at, 8);
	assert_true(room_take(&x, 6, LATER, &at));
	assert_int_equal(at, 0);
	assert_int_equal(x.nfree, 0);
	room_release(&x);
}

/* Random takes and gives: nothing is given out twice. */
static void test_random(void **state)
{
	enum { SIZE = 64, HELD = 16 };
	uint8_t owner[SIZE] = {0};
	struct {
		uint32_t first, n;
	} held[HELD] = {{0}};
	uint64_t seed = 1, now = 0;
	struct room x;
	int i, taken = 0;

	(void)state;
	room_init(&x, SIZE);
	for (i = 0; i < 20000; i++, now += ROOM_REST_NS / 4) {
		uint32_t at, n, j;
		int h;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		h = (int)(seed >> 60);
		n = 1 + (uint32_t)(seed >> 50) % 7;
		if (held[h].n) {
			for (j = 0; j < held[h].n; j++)
				owner[held[h].first + j] = 0;
			room_give(&x, held[h].first, held[h].n, now);
			held[h].n = 0;
		} else if (room_take(&x, n, now, &at)) {
			assert_true(at + n <= SIZE);
			for (j = 0; j < n; j++) {
				assert_int_equal(owner[at + j], 0);
				owner[at + j] = 1;
			}
			held[h].first = at;
			held[h].n = n;
			taken++;
		}
	}
	assert_true(taken > 1000);
	room_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_random),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
