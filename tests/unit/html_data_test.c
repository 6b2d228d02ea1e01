/* SPDX-License-Identifier: Apache-2.0 */
/* The page's data block: bytes of numbers, order of nodes, values of both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/render/html_data.h"
#include "tools/render/html_tree.h"

static struct store *st;
static struct query *q;
static struct profile *p;
static struct report_opts options = {.granularity = GRANULARITY_FUNCTIONS};
static struct report r;

static int setup(void **state)
{
	(void)state;
	st = store_new(STORE_MERGED);
	q = query_new();
	query_defer_filters(q);
	p = profile_new(st);
	r = (struct report){&options, q, p, 0, NULL};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	profile_free(p);
	query_free(q);
	store_free(st);
	return 0;
}

static void set_types(size_t n)
{
	size_t i;

	p->h.types = calloc(n, sizeof(*p->h.types));
	p->h.ntypes = n;
	for (i = 0; i < n; i++)
		p->h.types[i] = (struct value_type){store_puts(st, i ? "cpu" : "samples"),
						    store_puts(st, "count")};
}

/* A sample of the functions named by the letters, root first. */
static void add(const char *stack, bool base, int64_t v0, int64_t v1)
{
	struct label label = {.key = store_puts(st, "pprof::base"),
			      .str = store_puts(st, "true")};
	uint32_t locations[16], n = (uint32_t)strlen(stack), i;
	char name[2] = "";
	struct err e = {0};

	for (i = 0; i < n; i++) {
		name[0] = stack[n - 1 - i];
		locations[i] = store_location(
			st, ID_NONE, 0, false,
			&(struct line){.function = store_function(
					       st,
					       &(struct function){
						       .name = store_puts(st, name)})},
			1);
	}
	assert_int_equal(profile_add(p, store_stack(st, locations, n),
				     store_labelset(st, &label, base),
				     (const int64_t[]){v0, v1}, &e),
			 0);
}

/* The nodes in pre-order, "name:self[/self of the new side]", deeper ones after more dots. */
static void write_tree(const struct html_tree *t, struct buf *b)
{
	size_t width = t->nsides * t->ncolumns, i;
	uint32_t id, at;

	for (i = 1; i < t->calls.n; i++) {
		id = t->order[i];
		for (at = t->calls.v[id].parent; at; at = t->calls.v[at].parent)
			buf_putc(b, '.');
		buf_printf(b, "%s:%d", t->names[t->calls.v[id].frame].p,
			   (int)t->self[id * width]);
		if (t->nsides == 2)
			buf_printf(b, "/%d", (int)t->self[id * width + t->ncolumns]);
		buf_putc(b, ' ');
	}
}

static void expect_tree(const char *want)
{
	struct buf b = BUF_INIT(4096);
	struct html_tree t;
	struct err e = {0};

	assert_int_equal(html_tree_init(&t, &r, &e), 0);
	write_tree(&t, &b);
	assert_string_equal(buf_str(&b), want);
	html_tree_release(&t);
	buf_release(&b);
}

static void expect_bytes(struct buf *b, const char *want, size_t n)
{
	assert_int_equal(b->len, n);
	assert_memory_equal(b->data, want, n);
	buf_clear(b);
}

static void test_numbers(void **state)
{
	struct buf b = BUF_INIT(64);

	(void)state;
	html_put_u64(&b, 0);
	html_put_u64(&b, 127);
	html_put_u64(&b, 128);
	expect_bytes(&b, "\0\x7f\x80\x01", 4);
	html_put_u64(&b, UINT64_MAX);
	expect_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	html_put_i64(&b, 0);
	html_put_i64(&b, -1);
	html_put_i64(&b, 1);
	html_put_i64(&b, -64);
	html_put_i64(&b, 64);
	expect_bytes(&b, "\0\x01\x02\x7f\x80\x01", 6);
	html_put_i64(&b, INT64_MIN);
	expect_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	buf_release(&b);
}

static void test_order(void **state)
{
	(void)state;
	set_types(2);
	add("ab", false, 5, 0);
	add("acd", false, 7, 0);
	add("ac", false, 1, 0);
	add("e", false, 100, 0);
	add("af", false, 5, 0); /* as wide as b: by name */
	expect_tree("e:100 a:0 .c:1 ..d:7 .b:5 .f:5 ");
}

static void test_diff(void **state)
{
	(void)state;
	set_types(1);
	add("ab", true, -60, 0);
	add("ac", true, -40, 0);
	add("ac", false, 150, 0);
	add("ad", false, 50, 0);
	/* shares: c 40 % and 75 %, b 60 % and 0, d 0 and 25 % */
	expect_tree("a:0/0 .c:40/150 .b:60/0 .d:0/50 ");
}

/* Tags and lengths of the sections of one tree, and where a section's content is. */
static size_t find_section(const struct buf *b, unsigned int tag, const uint8_t **at)
{
	const uint8_t *c = b->data, *end = b->data + b->len;
	size_t length, found = 0;
	unsigned int t, shift;

	assert_int_equal(*c++, HTML_DATA_VERSION);
	while (c < end) {
		t = *c++;
		for (length = 0, shift = 0;; shift += 7) {
			length |= (size_t)(*c & 0x7f) << shift;
			if (!(*c++ & 0x80))
				break;
		}
		if (t == tag) {
			*at = c;
			found = length;
		}
		c += length;
	}
	assert_ptr_equal(c, end);
	return found;
}

static void encode(struct buf *b)
{
	struct html_data d;
	struct html_tree t;
	struct err e = {0};

	html_data_init(&d, "T", 1);
	assert_int_equal(html_tree_init(&t, &r, &e), 0);
	html_data_add(&d, &r, &t, NULL);
	html_data_finish(&d, b);
	assert_false(b->overflow);
	html_tree_release(&t);
	html_data_release(&d);
}

static void expect_section(const struct buf *b, unsigned int tag, const char *want,
			   size_t n)
{
	const uint8_t *at = NULL;

	assert_int_equal(find_section(b, tag, &at), n);
	if (n)
		assert_memory_equal(at, want, n);
}

static void test_block(void **state)
{
	struct buf b = BUF_INIT(4096);

	(void)state;
	set_types(2);
	add("ab", false, 3, 30);
	add("acb", false, 2, 20);
	encode(&b);
	/* a, b, c, b; b is the most frequent: 0, then a, c by name */
	expect_section(&b, HTML_POPS, "\x04\0\0\x01\0", 5);
	expect_section(&b, HTML_NODES, "\x01\0\x02\0", 4);
	expect_section(&b, HTML_INLINED, "\0", 1);
	/* the last of the two: cpu, ten times the samples, so there is none of it */
	expect_section(&b, HTML_SELF, "\0\0\0\0\x06\0\x04", 7);
	expect_section(&b, HTML_MULTIPLE, "\0\x01\0\x0a", 4);
	buf_release(&b);
}

static void test_too_large_for_exact(void **state)
{
	struct buf b = BUF_INIT(4096);

	(void)state;
	set_types(1);
	add("a", false, INT64_C(1) << 53, 0);
	encode(&b);
	expect_section(&b, HTML_SELF, "\0\0\0\x80\x80\x80\x80\x80\x80\x80\x20", 11);
	buf_clear(&b);
	/* 2^53 + 2: all divided by 2 */
	add("b", false, 2, 0);
	encode(&b);
	expect_section(&b, HTML_SELF, "\0\0\0\x80\x80\x80\x80\x80\x80\x80\x10\x02", 12);
	buf_release(&b);
}

static void test_overflow(void **state)
{
	struct html_tree t;
	struct err e = {0};

	(void)state;
	set_types(1);
	add("a", false, INT64_MAX, 0);
	add("b", false, -1, 0);
	assert_true(html_tree_init(&t, &r, &e) < 0);
	assert_string_equal(e.msg, "the total of samples does not fit 64 bits");
	html_tree_release(&t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_numbers), TEST(test_order),	 TEST(test_diff),
		TEST(test_block),   TEST(test_overflow), TEST(test_too_large_for_exact),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("html_data", tests, NULL, NULL);
}
