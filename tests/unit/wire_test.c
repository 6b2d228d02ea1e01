/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and lengths of the wire format: what is written is read, wherever the bytes end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "lib/pprof/wireput.h"

/* Read from memory that ends where it is said to, so that a sanitizer sees one byte too many. */
static size_t read_varint(const uint8_t *p, size_t n, uint64_t *v)
{
	uint8_t *copy = malloc(n ? n : 1);
	const uint8_t *next;
	size_t used;

	if (n)
		memcpy(copy, p, n);
	next = wire_varint(copy, copy + n, v);
	used = next ? (size_t)(next - copy) : 0;
	free(copy);
	return used;
}

static void round_trip(uint64_t want)
{
	uint8_t bytes[WIRE_VARINT_MAX + 9];
	uint64_t v, x;
	size_t n, have, length = 1;

	/* behind it stand bytes that look as if it went on, and others */
	memset(bytes, want & 1 ? 0xff : 0, sizeof(bytes));
	n = wire_put_varint(bytes, want) - bytes;
	for (x = want; x >= 0x80; x >>= 7)
		length++;
	assert_int_equal(n, length);
	for (have = 0; have <= sizeof(bytes); have++) {
		v = 42;
		assert_int_equal(read_varint(bytes, have, &v), have < n ? 0 : n);
		assert_true(have < n || v == want);
	}
}

static void test_every_length(void **state)
{
	uint64_t x = 88172645463325252u;
	int bits, i;

	(void)state;
	round_trip(0);
	for (bits = 0; bits < 64; bits++) {
		round_trip((uint64_t)1 << bits);
		round_trip(((uint64_t)1 << bits) - 1);
		for (i = 0; i < 50; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			round_trip(x >> bits);
		}
	}
}

/* What nobody needs to write: more bytes than the number has, up to ten. */
static void test_longer_than_need_be(void **state)
{
	uint8_t bytes[16] = {0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
	uint64_t v;
	size_t n;

	(void)state;
	for (n = 2; n <= 10; n++) {
		bytes[n - 1] = 0;
		assert_int_equal(read_varint(bytes, 16, &v), n);
		assert_int_equal(v, 5);
		assert_int_equal(read_varint(bytes, n - 1, &v), 0);
		bytes[n - 1] = 0x80;
	}
	memset(bytes, 0x80, sizeof(bytes));
	assert_int_equal(read_varint(bytes, 16, &v), 0);
}

static void test_lengths(void **state)
{
	static const size_t lengths[] = {0, 1, 127, 128, 129, 16383, 16384, 70000};
	uint8_t *room = malloc(70000 + 2 * WIRE_HEAD_MAX), *p, *body;
	const uint8_t *bad;
	struct wire_field f;
	const char *why;
	size_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		n = lengths[i];
		body = wire_begin(room, 15);
		for (k = 0; k < n; k++)
			body[k] = k % 251;
		p = wire_end(body, body + n);
		assert_ptr_equal(wire_field(room, p, &f, &why, &bad), p);
		assert_int_equal(f.number, 15);
		assert_int_equal(f.type, WIRE_BYTES);
		assert_int_equal(f.n, n);
		for (k = 0; k < n; k++)
			assert_int_equal(f.p[k], k % 251);
		assert_null(wire_field(room, p - (n ? 1 : 0) - !n, &f, &why, &bad));
	}
	free(room);
}

static void test_zero_is_left_out(void **state)
{
	uint8_t bytes[WIRE_NUMBER_MAX];

	(void)state;
	assert_ptr_equal(wire_put_number(bytes, 3, 0), bytes);
	assert_ptr_equal(wire_put_number(bytes, 3, -1), bytes + WIRE_NUMBER_MAX);
	assert_int_equal(bytes[0], 3 << 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_longer_than_need_be),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_zero_is_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
