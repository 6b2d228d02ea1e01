/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stack filters, frame pruning and granularity against pprof's meaning. Stacks are written
 * root first: frames by ";", inlined callees after "<" (outer<inner), "@x" a frame without
 * names in binary x, "f@x" a frame in binary x, "" an empty stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/xalloc.h"
#include "lib/query/query.h"

static struct store *st;
static struct query *q;

static int setup(void **state)
{
	(void)state;
	st = store_new(STORE_EXACT);
	q = query_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	query_free(q);
	store_free(st);
	return 0;
}

/* "outer<inner@binary": each name NAME is in NAME.c, line 7. */
static uint32_t make_location(char *text)
{
	struct mapping m = {.start = 0x1000, .limit = 0x2000};
	struct line lines[8];
	char *binary = strchr(text, '@'), *name, *file;
	uint32_t n = 0, i, mapping = ID_NONE;
	struct line swap;

	if (binary) {
		*binary++ = 0;
		m.file = store_puts(st, binary);
		mapping = store_mapping(st, &m);
	}
	while (*text && (name = strsep(&text, "<"))) {
		file = xasprintf("%s.c", name);
		lines[n++] = (struct line){
			.function = store_function(
				st,
				&(struct function){.name = store_puts(st, name),
						   .system_name = store_puts(st, name),
						   .file = store_puts(st, file),
						   .start_line = 5}),
			.line = 7,
			.column = 3};
		free(file);
		if (!text)
			break;
	}
	for (i = 0; i < n / 2; i++) {
		swap = lines[i];
		lines[i] = lines[n - 1 - i];
		lines[n - 1 - i] = swap;
	}
	return store_location(st, mapping, 0x1234, false, lines, n);
}

static uint32_t make_stack(const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *frame, *frames[32];
	uint32_t locations[32], n = 0, i, stack;

	while (*text && (frame = strsep(&rest, ";")))
		frames[n++] = frame;
	for (i = 0; i < n; i++)
		locations[n - 1 - i] = make_location(frames[i]);
	stack = store_stack(st, locations, n);
	free(copy);
	return stack;
}

static void put_location(struct buf *b, uint32_t id)
{
	const struct location *l = &st->locations[id];
	const struct function *f;
	const struct line *line;
	uint32_t i;

	for (i = l->nlines; i; i--) {
		line = &st->lines[l->lines + i - 1];
		f = &st->functions[line->function];
		buf_printf(b, "%s%s", i == l->nlines ? "" : "<", store_cstr(st, f->name));
		if (f->name == 0)
			buf_printf(b, "(%s)", store_cstr(st, f->file));
	}
	if (l->mapping != ID_NONE)
		buf_printf(b, "@%s", store_cstr(st, st->mappings[l->mapping].file));
}

static void check_stack(uint32_t stack, const char *want)
{
	struct buf b = BUF_INIT(4096);
	uint32_t n, i;

	if (stack == SAMPLE_DROP) {
		buf_puts(&b, "dropped");
	} else {
		n = st->stacks[stack].n;
		for (i = n; i; i--) {
			put_location(&b, st->frames[st->stacks[stack].off + i - 1]);
			if (i > 1)
				buf_putc(&b, ';');
		}
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void check(const char *in, const char *want)
{
	struct sample_hooks hooks = query_hooks(q);
	uint32_t stack = make_stack(in);

	assert_non_null(hooks.stack);
	check_stack(hooks.stack(hooks.ctx, st, stack), want);
	check_stack(hooks.stack(hooks.ctx, st, stack), want); /* the remembered one */
}

static void filter(enum stack_filter kind, const char *re)
{
	struct err e;

	assert_int_equal(query_add_filter(q, kind, re, &e), 0);
}

static void test_no_filter_no_hook(void **state)
{
	(void)state;
	filter(FILTER_FOCUS, "");
	query_set_granularity(q, GRANULARITY_ADDRESSES);
	assert_null(query_hooks(q).stack);
	assert_null(query_hooks(q).labelset);
}

static void test_focus(void **state)
{
	(void)state;
	filter(FILTER_FOCUS, "b");
	check("a;b;c", "a;b;c");
	check("a;c", "dropped");
	check("a;xby", "a;xby"); /* not anchored */
	check("a;o<ib", "a;o<ib");
	check("a;@/usr/lib", "a;@/usr/lib");
	check("", "dropped");
}

static void test_focus_matches_files(void **state)
{
	(void)state;
	filter(FILTER_FOCUS, "^b\\.c$");
	check("a;b", "a;b");
	check("a;bb", "dropped");
}

static void test_ignore(void **state)
{
	(void)state;
	filter(FILTER_IGNORE, "b");
	check("a;c", "a;c");
	check("a;b;c", "dropped");
	check("", "dropped"); /* any of the four drops empty stacks */
}

static void test_ignore_wins(void **state)
{
	(void)state;
	filter(FILTER_IGNORE, "b");
	filter(FILTER_FOCUS, "b|a");
	check("a;c", "a;c");
	check("a;b", "dropped");
	check("c", "dropped");
}

static void test_hide(void **state)
{
	(void)state;
	filter(FILTER_HIDE, "^h");
	check("a;h;c", "a;c");
	check("a;o<h<i;c", "a;o<i;c");
	check("h;h", "dropped");
	check("a;h<hi", "a");
	check("a;@x;b", "a;@x;b");
	check("a;f<g@hx;b", "a;b"); /* the binary matches: all of it */
	check("a;@hx", "a");
}

static void test_show(void **state)
{
	(void)state;
	filter(FILTER_SHOW, "^s");
	check("a;s;c", "s");
	check("a;o<s<i;c", "s");
	check("a;b", "dropped");
	check("a;@x;s", "s"); /* without names: goes */
	check("a;@sx;o<i@sx",
	      "o<i@sx"); /* of a binary that matches, all that has names */
}

static void test_hide_then_show(void **state)
{
	(void)state;
	filter(FILTER_SHOW, "^s");
	filter(FILTER_HIDE, "^sh");
	check("a;s1;sh", "s1");
	check("sh", "dropped");
}

static void test_focus_sees_hidden_frames(void **state)
{
	(void)state;
	filter(FILTER_HIDE, "^h$");
	filter(FILTER_FOCUS, "^h$");
	check("a;h;c", "a;c");
	check("a;c", "dropped");
}

static void test_show_from(void **state)
{
	(void)state;
	filter(FILTER_SHOW_FROM, "^[bB]");
	check("a;b;c;b;d", "b;c;b;d");
	check("a;c", "dropped");
	check("a;o<b<i;c", "b<i;c");
	check("a;o<i@Bin;c", "o<i@Bin;c");
	check("", "dropped");
}

static void test_show_from_trims_every_match(void **state)
{
	(void)state;
	filter(FILTER_SHOW_FROM, "^b$");
	check("b;o<b;x", "b;b;x");
}

static void test_show_from_sees_what_hide_left(void **state)
{
	(void)state;
	filter(FILTER_HIDE, "^b$");
	filter(FILTER_SHOW_FROM, "^(b|c)$");
	check("a;b;c;d", "c;d");
}

static void test_alternatives(void **state)
{
	(void)state;
	filter(FILTER_FOCUS, "^x$");
	filter(FILTER_FOCUS, "^y$");
	check("x", "x");
	check("a;y", "a;y");
	check("a", "dropped");
}

/* --- drop_frames ------------------------------------------------------------------------- */

static void stored(const char *drop, const char *keep)
{
	struct header h = {.drop_frames = store_puts(st, drop),
			   .keep_frames = store_puts(st, keep)};

	query_set_stored_frames(q, true);
	assert_int_equal(query_take(q, st, &h), 1);
}

static void test_drop_frames(void **state)
{
	(void)state;
	stored("malloc|new.*", "newish");
	check("main;f;malloc;mmap", "main;f");
	check("main;f;mallocx;mmap", "main;f;mallocx;mmap"); /* whole name */
	check("main;newer;g;malloc", "main");
	check("main;newish;g", "main;newish;g");
	check("malloc;malloc",
	      "malloc;malloc"); /* nothing is cut before a frame that stays */
	check("malloc;f;malloc;g", "malloc;f");
	check("main;.malloc;g", "main");
	check("main;malloc(int);g", "main");
	check("main;@x", "main;@x");
	check("", "");
}

static void test_drop_frames_inlined(void **state)
{
	(void)state;
	stored("malloc", "");
	check("main;f<malloc<g;h", "main;f");
	check("main;malloc<f;h", "main");
	/* the location is trimmed also where nothing below it is cut */
	check("f<malloc;main", "f;main");
}

static void test_drop_frames_simplifies(void **state)
{
	(void)state;
	stored("a::\\(anonymous namespace\\)::f|b::operator\\(\\)", "");
	check("m;a::(anonymous namespace)::f(int);x", "m");
	check("m;b::operator()(int);x", "m");
	check("m;b::operator();x", "m");
}

static void test_keep_is_no_anchor(void **state)
{
	(void)state;
	stored(".*", "main");
	check("main;f;g", "main");
	check("f;main;g", "f;main");
}

static void test_bad_drop_frames(void **state)
{
	size_t n;

	(void)state;
	stored("(", "");
	check("a;b", "a;b");
	query_notes(q, &n);
	assert_int_equal(n, 1);
	stored("(", "");
	query_notes(q, &n);
	assert_int_equal(n, 1);
	stored("b", "(");
	check("a;b", "a;b");
}

static void test_drop_frames_are_per_profile(void **state)
{
	(void)state;
	stored("b", "");
	check("a;b", "a");
	stored("c", "");
	check("a;b", "a;b");
	check("a;c", "a");
	stored("", "");
	check("a;c", "a;c");
	stored("b", "");
	check("a;b", "a");
}

static void test_deferred(void **state)
{
	uint32_t stack;

	(void)state;
	filter(FILTER_FOCUS, "b");
	query_defer_filters(q);
	assert_null(query_hooks(q).stack);
	stored("d", "");
	check("a;c;d", "a;c");
	stack = make_stack("a;c");
	check_stack(query_filter(q, st, stack), "dropped");
	check_stack(query_filter(q, st, make_stack("a;b")), "a;b");
}

/* --- granularity -------------------------------------------------------------------------- */

static const struct location *only_location(const char *text)
{
	struct sample_hooks hooks = query_hooks(q);
	uint32_t stack = hooks.stack(hooks.ctx, st, make_stack(text));

	assert_int_equal(st->stacks[stack].n, 1);
	return &st->locations[st->frames[st->stacks[stack].off]];
}

static void test_functions(void **state)
{
	const struct location *l;
	const struct function *f;

	(void)state;
	query_set_granularity(q, GRANULARITY_FUNCTIONS);
	check("a;o<i@x", "a;o<i@x");
	l = only_location("o<i@x");
	assert_int_equal(l->nlines, 2);
	assert_int_equal(l->address, 0);
	f = &st->functions[st->lines[l->lines].function];
	assert_string_equal(store_cstr(st, f->name), "i");
	assert_int_equal(f->file, 0);
	assert_int_equal(st->lines[l->lines].line, 0);
}

static void test_lines(void **state)
{
	const struct location *l;

	(void)state;
	query_set_granularity(q, GRANULARITY_LINES);
	l = only_location("f@x");
	assert_int_equal(l->address, 0);
	assert_int_equal(st->lines[l->lines].line, 7);
	assert_int_equal(st->lines[l->lines].column, 0);
	assert_int_not_equal(st->functions[st->lines[l->lines].function].file, 0);
}

static void test_files(void **state)
{
	(void)state;
	query_set_granularity(q, GRANULARITY_FILES);
	check("a;o<i@x", "(a.c);(o.c)<(i.c)@x");
}

static void test_binaries(void **state)
{
	(void)state;
	query_set_granularity(q, GRANULARITY_BINARIES);
	check("a@x;b@x;c@y;@y;d@x", "@x;@y;@x");
}

static void test_no_inlines(void **state)
{
	const struct location *l;

	(void)state;
	query_set_no_inlines(q);
	check("a;o<m<i@x;@y", "a;o@x;@y");
	l = only_location("o<i");
	assert_int_equal(l->address, 0x1234);
	assert_int_equal(st->lines[l->lines].column, 3);
}

static void test_filters_before_inlines_go(void **state)
{
	(void)state;
	query_set_no_inlines(q);
	filter(FILTER_FOCUS, "^i$");
	check("a;o<i", "a;o");
}

static void test_texts(void **state)
{
	static const char *const want[] = {"focus=a", "focus=b", "ignore=c",
					   "hide=d",  "show=e",	 "show_from=f"};
	const char *const *texts;
	size_t n, i;

	(void)state;
	filter(FILTER_SHOW_FROM, "f");
	filter(FILTER_FOCUS, "a");
	filter(FILTER_SHOW, "e");
	filter(FILTER_HIDE, "d");
	filter(FILTER_FOCUS, "b");
	filter(FILTER_IGNORE, "");
	filter(FILTER_IGNORE, "c");
	texts = query_filter_texts(q, &n);
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < n; i++)
		assert_string_equal(texts[i], want[i]);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_filter_no_hook),
		T(test_focus),
		T(test_focus_matches_files),
		T(test_ignore),
		T(test_ignore_wins),
		T(test_hide),
		T(test_show),
		T(test_hide_then_show),
		T(test_focus_sees_hidden_frames),
		T(test_show_from),
		T(test_show_from_trims_every_match),
		T(test_show_from_sees_what_hide_left),
		T(test_alternatives),
		T(test_drop_frames),
		T(test_drop_frames_inlined),
		T(test_drop_frames_simplifies),
		T(test_keep_is_no_anchor),
		T(test_bad_drop_frames),
		T(test_drop_frames_are_per_profile),
		T(test_deferred),
		T(test_functions),
		T(test_lines),
		T(test_files),
		T(test_binaries),
		T(test_no_inlines),
		T(test_filters_before_inlines_go),
		T(test_texts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
