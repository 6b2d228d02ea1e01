/* SPDX-License-Identifier: Apache-2.0 */
/* The base layer's containers: buffers, arenas, interned strings, id tables, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/idtable.h"
#include "lib/base/intern.h"
#include "lib/base/xalloc.h"

static void test_buf_keeps_its_maximum(void **state)
{
	struct buf b = BUF_INIT(10);
	size_t cap;

	(void)state;
	assert_int_equal(buf_put(&b, "0123456789", 10), 0);
	assert_false(b.overflow);
	assert_true(b.cap <= b.max);
	cap = b.cap;
	assert_int_equal(buf_putc(&b, 'x'), -E2BIG);
	assert_true(b.overflow);
	assert_int_equal(b.len, 10);
	assert_int_equal(b.cap, cap);
	assert_string_equal(buf_str(&b), "0123456789");
	buf_clear(&b);
	assert_false(b.overflow);
	assert_int_equal(buf_puts(&b, "ab"), 0);
	/* what does not fit is left out as a whole */
	assert_int_equal(buf_printf(&b, "%d", 123456789), -E2BIG);
	assert_string_equal(buf_str(&b), "ab");
	buf_release(&b);
	assert_null(b.data);
	assert_int_equal(b.max, 10);
	assert_int_equal(buf_puts(&b, "again"), 0);
	assert_string_equal(buf_str(&b), "again");
	buf_release(&b);
}

static void test_buf_sizes_that_wrap(void **state)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);

	(void)state;
	assert_int_equal(buf_puts(&b, "x"), 0);
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -E2BIG);
	assert_int_equal(buf_reserve(&b, SIZE_MAX / 2), -E2BIG);
	assert_false(b.overflow); /* only a put that is lost sets it */
	assert_int_equal(b.len, 1);
	buf_release(&b);
}

static void test_buf_reserve_is_idempotent(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t cap;
	int i;

	(void)state;
	assert_int_equal(buf_reserve(&b, 1000), 0);
	cap = b.cap;
	/* asking again for what is there must not grow: readers do it for every member */
	for (i = 0; i < 50; i++)
		assert_int_equal(buf_reserve(&b, cap), 0);
	assert_int_equal(b.cap, cap);
	buf_release(&b);
}

static void test_buf_printf_long(void **state)
{
	struct buf b = BUF_INIT(4096);
	char *s = xmalloc(1001);
	size_t n;

	(void)state;
	memset(s, 'y', 1000);
	s[1000] = 0;
	for (n = 250; n <= 260; n++) { /* about the size of its own scratch */
		buf_clear(&b);
		assert_int_equal(buf_printf(&b, "<%.*s>", (int)n, s), 0);
		assert_int_equal(b.len, n + 2);
		assert_int_equal(b.data[n + 1], '>');
	}
	buf_clear(&b);
	assert_int_equal(buf_printf(&b, "%s%s%s", s, s, s), 0);
	assert_int_equal(b.len, 3000);
	buf_release(&b);
	assert_string_equal(buf_str(&b), "");
	buf_release(&b);
	free(s);
}

static void test_arena(void **state)
{
	struct arena a = ARENA_INIT;
	struct {
		char *p;
		size_t n;
	} got[300];
	size_t i, k, total = 0;

	(void)state;
	for (i = 0; i < 300; i++) {
		got[i].n = i % 7 == 6 ? i * 1000 : i;
		got[i].p = arena_alloc(&a, got[i].n);
		assert_int_equal((uintptr_t)got[i].p % 8, 0);
		memset(got[i].p, (int)i, got[i].n);
		total += got[i].n;
		/* an unaligned copy in between */
		assert_string_equal(arena_bytes(&a, "abc", 3), "abc");
		assert_string_equal(arena_bytes(&a, NULL, 0), "");
	}
	assert_true(a.used_bytes >= total);
	for (i = 0; i < 300; i++) {
		for (k = 0; k < got[i].n; k++)
			assert_int_equal((unsigned char)got[i].p[k], i & 0xff);
	}
	arena_release(&a);
	assert_int_equal(a.used_bytes, 0);
	arena_release(&a);
}

static void test_intern(void **state)
{
	struct intern t;
	uint32_t ids[5000], i;
	const char *first;
	char name[32];

	(void)state;
	intern_init(&t);
	assert_int_equal(intern_puts(&t, ""), 0);
	assert_int_equal(intern_put(&t, "a\0b", 3), 1);
	assert_int_equal(intern_put(&t, "a\0c", 3), 2);
	assert_int_equal(intern_put(&t, "a", 1), 3);
	assert_int_equal(intern_put(&t, "a\0", 2), 4);
	assert_int_equal(intern_put(&t, "a\0b", 3), 1);
	assert_int_equal(intern_find(&t, "a\0c", 3), 2);
	assert_int_equal(intern_find(&t, "a\0d", 3), UINT32_MAX);
	assert_int_equal(intern_str(&t, 1).n, 3);
	first = intern_str(&t, 1).p;
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		ids[i] = intern_puts(&t, name);
		assert_int_equal(ids[i], 5 + i);
	}
	assert_ptr_equal(intern_str(&t, 1).p, first);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(intern_puts(&t, name), ids[i]);
		assert_int_equal(intern_find(&t, name, strlen(name)), ids[i]);
		assert_string_equal(intern_str(&t, ids[i]).p, name);
	}
	assert_int_equal(t.n, 5005);
	intern_release(&t);
	intern_release(&t);
}

static int order_of(const char *a, size_t na, const char *b, size_t nb)
{
	int c = str_cmp((struct str){a, na}, (struct str){b, nb});

	return (c > 0) - (c < 0);
}

static void test_str_cmp(void **state)
{
	(void)state;
	assert_int_equal(order_of("", 0, "", 0), 0);
	assert_int_equal(order_of("", 0, "\0", 1), -1);
	assert_int_equal(order_of("a", 1, "a\0", 2), -1);
	assert_int_equal(order_of("a\0b", 3, "a\0a", 3), 1);
	assert_int_equal(order_of("\xff", 1, "a", 1), 1); /* bytes, not signed chars */
	assert_int_equal(order_of("b", 1, "aa", 2), 1);
}

static uint32_t find_number(const struct id_table *t, uint64_t h, const uint64_t *items,
			    uint64_t want)
{
	size_t s;
	uint32_t id;

	for (s = id_table_first(t, h); (id = id_table_at(t, h, &s)) != ID_NONE; s++) {
		if (items[id] == want)
			return id;
	}
	return ID_NONE;
}

static void test_id_table(void **state)
{
	static uint64_t items[20000];
	struct id_table t;
	uint32_t i;

	(void)state;
	id_table_init(&t);
	for (i = 0; i < 20000; i++) {
		items[i] = i * 0x9e3779b97f4a7c15u;
		assert_int_equal(find_number(&t, hash_u64(0, items[i]), items, items[i]),
				 ID_NONE);
		id_table_put(&t, hash_u64(0, items[i]), i);
	}
	for (i = 0; i < 20000; i++)
		assert_int_equal(find_number(&t, hash_u64(0, items[i]), items, items[i]),
				 i);
	id_table_clear(&t);
	assert_int_equal(find_number(&t, hash_u64(0, items[7]), items, items[7]),
			 ID_NONE);
	/* equal hashes: the owner tells them apart, over a growing table too */
	for (i = 0; i < 300; i++)
		id_table_put(&t, 0xabcdef0123456789u, i);
	for (i = 0; i < 300; i++)
		assert_int_equal(find_number(&t, 0xabcdef0123456789u, items, items[i]),
				 i);
	/* the hash 0, and the largest id */
	id_table_clear(&t);
	id_table_put(&t, 0, 0);
	assert_int_equal(find_number(&t, 0, items, items[0]), 0);
	id_table_release(&t);
	id_table_release(&t);
}

static void test_err_keeps_the_cause(void **state)
{
	char name[3000];
	struct err e = {0};

	(void)state;
	assert_int_equal(err_set(&e, EBADMSG, "bad %s", "thing"), -EBADMSG);
	assert_int_equal(err_prefix(&e, "%s", "file"), -EBADMSG);
	assert_string_equal(e.msg, "file: bad thing");
	assert_int_equal(err_errno(&e, ENOENT, "%s", "file"), -ENOENT);
	assert_string_equal(e.msg, "file: No such file or directory");
	/* a name as long as names get: the end says what is wrong */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	err_errno(&e, ENOENT, "%s", name);
	assert_string_equal(e.msg + strlen(e.msg) - 28, "n: No such file or directory");
	err_set(&e, EBADMSG, "truncated varint");
	err_prefix(&e, "%s", name);
	assert_string_equal(e.msg + strlen(e.msg) - 19, "n: truncated varint");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf_keeps_its_maximum),
		cmocka_unit_test(test_buf_sizes_that_wrap),
		cmocka_unit_test(test_buf_reserve_is_idempotent),
		cmocka_unit_test(test_buf_printf_long),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_str_cmp),
		cmocka_unit_test(test_id_table),
		cmocka_unit_test(test_err_keeps_the_cause),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
