/* SPDX-License-Identifier: Apache-2.0 */
/* Perf maps and jitdumps: names, lines, code that takes the place of other code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/sym/jitmap.h"

#define ANY_TIME UINT64_MAX

static const char *name_at(struct jitmap *m, uint64_t addr, uint64_t time_ns)
{
	const struct jit_code *c = jitmap_find(m, addr, time_ns);

	return c ? c->name : "";
}

static void test_text(void **state)
{
	static const char text[] =
		"7f0000001000 20 first\n"
		"0x00007f0000001020 0x0000000000000010 void a.B.c(int)\r\n"
		"not a line\n"
		"7f0000001100 0 empty\n"
		"7f0000001200 zz broken\n"
		"ffffffffffffffff 10 over the end\n"
		"7f0000001010 8 inside\n"
		"7f0000002000 10 unfinished";
	struct jitmap m;
	size_t used;

	(void)state;
	jitmap_init(&m);
	used = jitmap_feed_text(&m, text, strlen(text));
	assert_int_equal(used, strlen(text) - strlen("7f0000002000 10 unfinished"));
	assert_int_equal(m.n, 3);
	assert_string_equal(name_at(&m, 0x7f0000001000, ANY_TIME), "first");
	assert_string_equal(name_at(&m, 0x7f000000100f, ANY_TIME), "first");
	assert_string_equal(name_at(&m, 0x7f0000001010, ANY_TIME), "inside");
	assert_string_equal(name_at(&m, 0x7f0000001018, ANY_TIME), "first");
	assert_string_equal(name_at(&m, 0x7f000000102f, ANY_TIME), "void a.B.c(int)");
	assert_string_equal(name_at(&m, 0x7f0000001030, ANY_TIME), "");
	assert_string_equal(name_at(&m, 0xfff, ANY_TIME), "");
	assert_string_equal(name_at(&m, ANY_TIME, ANY_TIME), "");
	/* the last definition counts */
	jitmap_feed_text(&m, "7f0000001000 20 second\n", 23);
	assert_string_equal(name_at(&m, 0x7f0000001010, ANY_TIME), "second");
	jitmap_release(&m);
}

static void check_v8(const char *line, const char *name, const char *file, uint32_t at)
{
	const struct jit_code *c;
	struct jitmap m;

	jitmap_init(&m);
	jitmap_feed_text(&m, line, strlen(line));
	c = jitmap_find(&m, 0x1000, ANY_TIME);
	assert_non_null(c);
	assert_string_equal(c->name, name);
	assert_string_equal(c->file, file);
	assert_int_equal(c->start_line, at);
	jitmap_release(&m);
}

static void test_v8(void **state)
{
	(void)state;
	check_v8("1000 10 JS:*fib /srv/app.js:12:15\n", "JS:*fib", "/srv/app.js", 12);
	check_v8("1000 10 JS:^a.b file:///srv/a b.mjs:3:1\n", "JS:^a.b",
		 "file:///srv/a b.mjs", 3);
	check_v8("1000 10 LazyCompile:~ node:internal/x:70:5\n",
		 "LazyCompile:~(anonymous)", "node:internal/x", 70);
	check_v8("1000 10 LazyCompile:*fib /srv/a b.js:12\n", "LazyCompile:*fib",
		 "/srv/a b.js", 12);
	check_v8("1000 10 Function:~ node:fs:3\n", "Function:~(anonymous)", "node:fs", 3);
	check_v8("1000 10 Eval:~ :7\n", "Eval:~ :7", "", 0);
	check_v8("1000 10 JS:*fib /srv/app.js:12\n", "JS:*fib /srv/app.js:12", "", 0);
	check_v8("1000 10 JS:~ :7:5\n", "JS:~ :7:5", "", 0);
	check_v8("1000 10 Builtin:Call_ReceiverIsAny\n", "Builtin:Call_ReceiverIsAny", "",
		 0);
	check_v8("1000 10 JS:~f x:1234567890:5\n", "JS:~f x:1234567890:5", "", 0);
	check_v8("1000 10 int Foo.bar(long) a:1:2\n", "int Foo.bar(long) a:1:2", "", 0);
}

/* --- jitdump ------------------------------------------------------------------------------- */

static void put32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_header(struct buf *b, uint64_t flags)
{
	put32(b, 0x4A695444);
	put32(b, 1);
	put32(b, 40);
	put32(b, 62);
	put32(b, 0);
	put32(b, 1234);
	put64(b, 1);
	put64(b, flags);
}

static void put_load(struct buf *b, uint64_t time, uint64_t addr, const char *name)
{
	put32(b, 0);
	put32(b, 16 + 40 + strlen(name) + 1 + 4);
	put64(b, time);
	put64(b, 0);
	put64(b, addr);
	put64(b, addr);
	put64(b, 0x10);
	put64(b, 7);
	buf_put(b, name, strlen(name) + 1);
	buf_put(b, "code", 4);
}

static void put_move(struct buf *b, uint64_t time, uint64_t from, uint64_t to)
{
	put32(b, 1);
	put32(b, 16 + 48);
	put64(b, time);
	put64(b, 0);
	put64(b, to);
	put64(b, from);
	put64(b, to);
	put64(b, 0x10);
	put64(b, 7);
}

static void put_lines(struct buf *b, uint64_t addr)
{
	put32(b, 2);
	put32(b, 16 + 16 + 2 * 16 + 5 + 2);
	put64(b, 1);
	put64(b, addr);
	put64(b, 2);
	put64(b, addr);
	put32(b, 10);
	put32(b, 0);
	buf_put(b, "a.js", 5);
	put64(b, addr + 8);
	put32(b, 11);
	put32(b, 0);
	buf_put(b, "\xff", 2);
}

static void test_dump(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	const struct jit_code *c;
	const struct jit_line *l;
	struct err e = {0};
	struct jitmap m;
	int64_t used;

	(void)state;
	jitmap_init(&m);
	put_header(&b, 0);
	put_lines(&b, 0x1000);
	put_load(&b, 100, 0x1000, "one");
	put_load(&b, 200, 0x1008, "two");
	put_move(&b, 300, 0x1008, 0x2000);
	put_load(&b, 400, 0x2000, "three");
	/* in pieces: half a header, half a record, the rest */
	assert_int_equal(jitmap_feed_dump(&m, b.data, 20, &e), 0);
	used = jitmap_feed_dump(&m, b.data, 60, &e);
	assert_int_equal(used, 40);
	assert_int_equal(jitmap_feed_dump(&m, b.data + used, b.len - used, &e),
			 b.len - used);
	assert_string_equal(name_at(&m, 0x1000, 99), "");
	assert_string_equal(name_at(&m, 0x1000, 100), "one");
	assert_string_equal(name_at(&m, 0x100a, 150), "one");
	assert_string_equal(name_at(&m, 0x100a, 250), "two");
	assert_string_equal(name_at(&m, 0x2001, 250), "");
	assert_string_equal(name_at(&m, 0x2001, 300), "two");
	assert_string_equal(name_at(&m, 0x2001, 500), "three");
	c = jitmap_find(&m, 0x1000, ANY_TIME);
	l = jitmap_line(&m, c, 0x1007);
	assert_int_equal(l->line, 10);
	assert_string_equal(l->file, "a.js");
	l = jitmap_line(&m, c, 0x1008);
	assert_int_equal(l->line, 11);
	assert_string_equal(l->file, "a.js");
	assert_null(jitmap_line(&m, jitmap_find(&m, 0x2001, 500), 0x2001));
	jitmap_release(&m);

	/* times of another clock are none */
	jitmap_init(&m);
	buf_clear(&b);
	put_header(&b, 1);
	put_load(&b, 100, 0x1000, "one");
	assert_int_equal(jitmap_feed_dump(&m, b.data, b.len, &e), b.len);
	assert_string_equal(name_at(&m, 0x1000, 0), "one");
	jitmap_release(&m);
	buf_release(&b);
}

static void refuse_dump(const struct buf *b, const char *want)
{
	struct err e = {0};
	struct jitmap m;

	jitmap_init(&m);
	assert_true(jitmap_feed_dump(&m, b->data, b->len, &e) < 0);
	if (!strstr(e.msg, want))
		fail_msg("got \"%s\", want \"%s\"", e.msg, want);
	jitmap_release(&m);
}

static void test_bad_dump(void **state)
{
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	put_header(&b, 0);
	b.data[0] ^= 1;
	refuse_dump(&b, "not a jitdump");
	b.data[0] ^= 1;
	b.data[8] = 4;
	refuse_dump(&b, "header of 4 bytes");
	b.data[8] = 40;
	put_load(&b, 1, 0x1000, "one");
	b.data[44] = 8;
	refuse_dump(&b, "record of 8 bytes");
	b.data[44] = 40;
	refuse_dump(&b, "record 0 is too short");
	buf_clear(&b);
	put_header(&b, 0);
	put_lines(&b, 0x1000);
	b.data[40 + 16 + 8 + 7] = 0xff; /* entries without end */
	refuse_dump(&b, "record 2 is too short");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_v8),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_bad_dump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jitmap", tests, NULL, NULL);
}
