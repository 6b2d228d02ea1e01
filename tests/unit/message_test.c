/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables read by the quick way for usual rows and by the way for all: right or wrong, they mean
 * the same. The quick way needs room in the arrays and bytes behind a row, so that a short
 * message alone takes the other one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "lib/pprof/message_internal.h"
#include "tests/unit/pbmake.h"

#define HEAD "6\"\" 6\"a\" 6\"bc\" 1{1:1 2:2} 3{1:1}"
#define PADDING                                                                          \
	"20\"................................................................"           \
	"................................................................"               \
	"................................................................"               \
	"................................................................\""

static uint64_t state_of_rnd = 88172645463325252u;

static uint32_t rnd(uint32_t n)
{
	state_of_rnd ^= state_of_rnd << 13;
	state_of_rnd ^= state_of_rnd >> 7;
	state_of_rnd ^= state_of_rnd << 17;
	return (state_of_rnd >> 20) % n;
}

/* A number of any length, most often a short one. */
static uint64_t number(void)
{
	static const uint8_t bits[] = {1,  2,  2,  3,  7,  8,  13, 14,
				       15, 21, 31, 35, 56, 57, 64};
	uint8_t n = bits[rnd(sizeof(bits))];

	return (((uint64_t)rnd(UINT32_MAX) << 32) | rnd(UINT32_MAX)) >> (64 - n);
}

static bool framed(const struct buf *b)
{
	const uint8_t *p = b->data, *end = p + b->len, *bad;
	struct wire_field f;
	const char *why;

	while (p && p < end)
		p = wire_field(p, end, &f, &why, &bad);
	return p;
}

static void same_tables(const struct message *a, const struct message *b)
{
	const struct raw_location *l, *l2;
	const struct raw_function *f, *f2;
	const struct raw_line *n, *n2;
	size_t i;

	assert_int_equal(a->nfunctions, b->nfunctions);
	for (i = 0; i < a->nfunctions; i++) {
		f = &a->functions[i];
		f2 = &b->functions[i];
		assert_true(f->id == f2->id && f->name == f2->name &&
			    f->file == f2->file && f->system_name == f2->system_name &&
			    f->start_line == f2->start_line);
	}
	assert_int_equal(a->nlines, b->nlines);
	for (i = 0; i < a->nlines; i++) {
		n = &a->lines[i];
		n2 = &b->lines[i];
		assert_true(n->function_id == n2->function_id && n->line == n2->line &&
			    n->column == n2->column && n->function == n2->function);
	}
	assert_int_equal(a->nlocations, b->nlocations);
	for (i = 0; i < a->nlocations; i++) {
		l = &a->locations[i];
		l2 = &b->locations[i];
		assert_true(l->id == l2->id && l->mapping_id == l2->mapping_id &&
			    l->address == l2->address && l->mapping == l2->mapping &&
			    l->lines == l2->lines && l->nlines == l2->nlines &&
			    l->folded == l2->folded);
	}
	assert_int_equal(a->nstrs, b->nstrs);
	for (i = 0; i < a->nstrs; i++) {
		assert_int_equal(a->strs[i].n, b->strs[i].n);
		assert_memory_equal(a->strs[i].p, b->strs[i].p, a->strs[i].n);
	}
}

/* `warm` has room in all of its arrays. */
static bool same_both_ways(struct message *warm, const struct buf *msg)
{
	struct buf padded = BUF_INIT(1 << 16);
	struct message alone;
	struct err e = {0}, e2 = {0};
	int r, r2;

	message_init(&alone, message_budget(1 << 16));
	buf_put(&padded, msg->data, msg->len);
	pb_assemble(&padded, PADDING);
	r = message_decode(&alone, msg->data, msg->len, &e);
	r2 = message_decode(warm, padded.data, padded.len, &e2);
	assert_int_equal(r, r2);
	if (r < 0)
		assert_string_equal(e.msg, e2.msg);
	else
		same_tables(&alone, warm);
	message_release(&alone);
	buf_release(&padded);
	return r == 0;
}

static void put_function(struct buf *row, unsigned id)
{
	unsigned field;

	pb_varint(row, 1 << 3);
	pb_varint(row, id);
	for (field = 2; field <= 5; field++) {
		if (!rnd(4))
			continue;
		pb_varint(row, field << 3);
		pb_varint(row, field < 5 && rnd(8) ? rnd(3) : number());
	}
}

static void put_location(struct buf *row, unsigned id)
{
	struct buf line = BUF_INIT(1 << 10);
	unsigned field, n = rnd(3);

	pb_varint(row, 1 << 3);
	pb_varint(row, id);
	for (field = 2; field <= 3; field++) {
		if (!rnd(4))
			continue;
		pb_varint(row, field << 3);
		pb_varint(row, number());
	}
	while (n--) {
		buf_clear(&line);
		pb_varint(&line, 1 << 3);
		pb_varint(&line, rnd(2) ? 1 : number());
		for (field = 2; field <= 3; field++) {
			if (rnd(2))
				continue;
			pb_varint(&line, field << 3);
			pb_varint(&line, number());
		}
		pb_bytes(row, 4, line.data, line.len);
	}
	if (!rnd(4)) {
		pb_varint(row, 5 << 3);
		pb_varint(row, rnd(2));
	}
	buf_release(&line);
}

static void make(struct buf *msg)
{
	struct buf row = BUF_INIT(1 << 10);
	unsigned i, n = 1 + rnd(3), head;

	buf_clear(msg);
	pb_assemble(msg, HEAD);
	head = msg->len;
	for (i = 1; i <= n; i++) {
		buf_clear(&row);
		put_function(&row, i);
		pb_bytes(msg, 5, row.data, row.len);
		if (rnd(2))
			continue;
		buf_clear(&row);
		put_location(&row, i);
		pb_bytes(msg, 4, row.data, row.len);
	}
	/* most often as it is; else some bytes of the rows, and most of all their first ones */
	for (n = rnd(2) ? rnd(3) : 0; n; n--)
		msg->data[head + rnd(msg->len - head)] = rnd(2)	  ? rnd(256)
							 : rnd(2) ? rnd(6) << 3
								  : rnd(8);
	buf_release(&row);
}

static void test_both_ways(void **state)
{
	struct buf msg = BUF_INIT(1 << 16);
	size_t i, good = 0, tried = 0;
	struct message warm;
	struct err e = {0};

	(void)state;
	message_init(&warm, message_budget(1 << 20));
	pb_assemble(&msg, HEAD);
	for (i = 1; i <= 60; i++)
		buf_printf(&msg, "\x2a\x02\x08%c\x22\x06\x08%c\x22\x02\x08%c", (int)i,
			   (int)i, (int)i);
	assert_int_equal(message_decode(&warm, msg.data, msg.len, &e), 0);
	assert_int_equal(warm.nlocations, 60);
	for (i = 0; i < 100000; i++) {
		make(&msg);
		if (msg.len > 180 || !framed(&msg))
			continue;
		tried++;
		good += same_both_ways(&warm, &msg);
	}
	/* there are many of both kinds */
	assert_true(tried > 30000 && good > tried / 10 && good < tried * 9 / 10);
	message_release(&warm);
	buf_release(&msg);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
