/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: the rules one by one, in the text twin, and then that neither the order of inputs
 * nor the shape of a tree of merges shows in any byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "lib/base/xalloc.h"
#include "lib/pprof/merge.h"
#include "lib/pprof/text.h"
#include "lib/pprof/writer.h"
#include "tests/unit/pbmake.h"

#define MAX (1 << 22)
#define S 1000000000LL

/* Add all profiles of a text: 0, or the first error. */
static int add_text(struct merger *m, const char *text, struct err *e)
{
	struct buf msg = BUF_INIT(MAX);
	struct text_reader t;
	int r;

	text_open(&t, (const uint8_t *)text, strlen(text));
	while ((r = text_next(&t, &msg, e)) > 0) {
		r = merger_add(m, msg.data, msg.len, e);
		if (r < 0)
			break;
	}
	buf_release(&msg);
	return r;
}

static void results_text(struct merger *m, struct buf *out)
{
	struct profile **results;
	struct err e;
	size_t n, i;

	results = merger_results(m, &n);
	for (i = 0; i < n; i++)
		assert_int_equal(profile_write_text(results[i], false, out, &e), 0);
}

/* The profiles of `text`, merged, are `want`; also when they come the other way round. */
static void merges_windows(int64_t window_ns, const char *text, const char *want)
{
	struct merge_opts o = {.window_ns = window_ns};
	struct buf out = BUF_INIT(MAX), back = BUF_INIT(MAX);
	char *copy = xstrdup(text), *last;
	struct merger *m = merger_new(&o);
	struct err e = {0};

	if (add_text(m, text, &e) < 0)
		fail_msg("%s\n%s", e.msg, text);
	results_text(m, &out);
	if (strcmp(buf_str(&out), want))
		fail_msg("%s\nmerged is\n%s", text, buf_str(&out));
	merger_free(m);
	m = merger_new(&o);
	while (*copy) {
		for (last = copy + strlen(copy) - 1; last > copy; last--) {
			if (!strncmp(last, "profile\n", 8) && last[-1] == '\n')
				break;
		}
		assert_int_equal(add_text(m, last, &e), 0);
		*last = 0;
	}
	results_text(m, &back);
	assert_string_equal(buf_str(&back), want);
	merger_free(m);
	free(copy);
	buf_release(&out);
	buf_release(&back);
}

static void merges(const char *text, const char *want)
{
	merges_windows(0, text, want);
}

static void fails(const char *text, int code, const char *want)
{
	struct merge_opts o = {0};
	struct merger *m = merger_new(&o);
	struct err e = {0};

	assert_int_equal(add_text(m, text, &e), -code);
	assert_string_equal(e.msg, want);
	merger_free(m);
}

#define T "type \"t\" \"u\"\n"
#define P "profile\n" T
#define M(n) "comment \"profpipe: merged=" #n "\"\n"

static void test_headers(void **state)
{
	(void)state;
	/* the least time that is set, the sum of durations */
	merges("profile\ntime 7\nduration 3\n" T "end\n" P "end\n"
	       "profile\ntime 5\nduration 4\n" T "end\n",
	       "profile\ntime 5\nduration 7\n" T M(3) "end\n");
	merges("profile\ntime -5\nduration -4\n" T "end\nprofile\ntime 9\n" T "end\n",
	       "profile\ntime -5\nduration -4\n" T M(2) "end\n");
	/* periods: equal ones stay, others give 0, which nothing brings back */
	merges("profile\nperiod \"c\" \"n\" 10\n" T
	       "end\nprofile\nperiod \"c\" \"n\" 10\n" T "end\n",
	       "profile\nperiod \"c\" \"n\" 10\n" T M(2) "end\n");
	merges("profile\nperiod \"c\" \"n\" 10\n" T
	       "end\nprofile\nperiod \"c\" \"n\" 11\n" T
	       "end\nprofile\nperiod \"c\" \"n\" 10\n" T "end\n",
	       "profile\nperiod \"c\" \"n\" 0\n" T M(3) "end\n");
	/* default type and doc: the least text that is one */
	merges(P "default \"z\"\ndoc \"b\"\nend\n" P "end\n" P
		 "default \"k\"\ndoc \"a\"\nend\n",
	       P "default \"k\"\n" M(3) "doc \"a\"\nend\n");
	fails("profile\nduration 9223372036854775807\n" T "end\nprofile\nduration 1\n" T
	      "end\n",
	      EOVERFLOW, "the sum of durations does not fit 64 bits");
}

static void test_types_stay_apart(void **state)
{
	(void)state;
	/* by list of types, period type, drop and keep; ordered by time, then type */
	merges("profile\n" T T "end\n" P "end\n" P "drop \"x\"\nend\n" P
	       "keep \"x\"\nend\n"
	       "profile\nperiod \"c\" \"\" 0\n" T "end\n" P "end\n"
	       "profile\ntime 1\ntype \"u\" \"t\"\nend\n",
	       P M(2) "end\n" P M(1) "keep \"x\"\nend\n" P M(
		       1) "drop \"x\"\nend\n"
			  "profile\n" T T M(
				  1) "end\n"
				     "profile\nperiod \"c\" \"\" 0\n" T M(
					     1) "end\n"
						"profile\ntime 1\ntype \"u\" \"t\"\n" M(
							1) "end\n");
}

static void test_comments(void **state)
{
	(void)state;
	merges(P
	       "comment \"profpipe: kept=3\"\ncomment \"b\"\ncomment \"a\"\n"
	       "comment \"profpipe: lost_ring=1\"\ncomment \"profpipe: host=x\"\nend\n" P
	       "comment \"profpipe: kept=-1\"\ncomment \"a\"\n"
	       "comment \"profpipe: host=y\"\ncomment \"profpipe: expected=007\"\nend\n",
	       P "comment \"a\"\ncomment \"b\"\ncomment \"profpipe: expected=7\"\n"
		 "comment \"profpipe: host=x\"\ncomment \"profpipe: host=y\"\n"
		 "comment \"profpipe: kept=2\"\ncomment \"profpipe: lost_ring=1\"\n" M(
			 2) "end\n");
	/* what only looks like a counter is text */
	merges(P "comment \"profpipe: kept=\"\ncomment \"profpipe: kept= 1\"\n"
		 "comment \"profpipe: kept=+1\"\ncomment \"profpipe: kept=-\"\n"
		 "comment \"profpipe: kept=1x\"\ncomment \"profpipe: kept=1\\x00\"\n"
		 "comment \"profpipe: lost_=1\"\ncomment \"kept=1\"\n"
		 "comment \"profpipe: Kept=1\"\n"
		 "comment \"profpipe: kept=9223372036854775808\"\ncomment \"\"\nend\n" P
		 "comment \"profpipe: kept=\"\nend\n",
	       P "comment \"\"\ncomment \"kept=1\"\ncomment \"profpipe: Kept=1\"\n"
		 "comment \"profpipe: kept=\"\ncomment \"profpipe: kept= 1\"\n"
		 "comment \"profpipe: kept=+1\"\ncomment \"profpipe: kept=-\"\n"
		 "comment \"profpipe: kept=1\\x00\"\ncomment \"profpipe: kept=1x\"\n"
		 "comment \"profpipe: kept=9223372036854775808\"\n"
		 "comment \"profpipe: lost_=1\"\n" M(2) "end\n");
	/* merged counts profiles: one without it is one, one of many is many */
	merges(P M(5) "end\n" P "end\n" P M(2) M(3) "end\n", P M(11) "end\n");
	fails(P "comment \"profpipe: idle=9223372036854775807\"\nend\n" P
		"comment \"profpipe: idle=1\"\nend\n",
	      EOVERFLOW, "the sum of comment idle does not fit 64 bits");
}

#define F "function 1 \"f\" \"\" \"\" 0\n"

static void test_samples(void **state)
{
	(void)state;
	/* stack and labels make a sample; zero ones go, also those that come to nothing */
	merges("profile\n" T T F "location 1 m0 1 f1:0:0\n"
	       "sample 1 0 : 1\nsample 2 0 : 1 1\nsample 3 -3 :\nsample 0 0 : 1 : "
	       "\"a\"=1\nsample 5 5 : 1 : \"b\"=1 \"a\"=1\nend\n"
	       "profile\n" T T F "location 1 m0 1 f1:0:0\n"
	       "sample 0 7 : 1\nsample -3 3 :\nsample 1 0 : 1 : \"a\"=1 \"b\"=1\nend\n",
	       "profile\n" T T M(2) F "location 1 m0 0x1 f1:0:0\n"
				      "sample 1 7 : 1\nsample 6 5 : 1 : \"a\"=1 "
				      "\"b\"=1\nsample 2 0 : 1 1\nend\n");
	fails(P F "location 1 m0 1 f1:0:0\nsample 9223372036854775807 : 1\nend\n" P F
		  "location 1 m0 1 f1:0:0\nsample 1 : 1\nend\n",
	      EOVERFLOW, "the sum of t in f does not fit 64 bits");
	fails(P "location 1 m0 1\nsample -9223372036854775807 : 1\nend\n" P
		"location 1 m0 1\nsample -2 : 1\nend\n",
	      EOVERFLOW, "the sum of t in a frame without a name does not fit 64 bits");
}

static void test_locations(void **state)
{
	(void)state;
	/* line, column, order of inlining, fold and address all count */
	merges(P F
	       "function 2 \"g\" \"\" \"\" 0\n"
	       "location 1 m0 1 f1:1:0\nlocation 2 m0 1 f1:1:2\nlocation 3 m0 1 f1:2:0\n"
	       "location 4 m0 1 f1:1:0 f2:1:0\nlocation 5 m0 1 f2:1:0 f1:1:0\n"
	       "location 6 m0 1 f1:1:0 folded\nlocation 7 m0 1\nlocation 8 m0 2 f1:1:0\n"
	       "sample 1 : 1 2 3 4 5 6 7 8\nend\n" P F
	       "location 1 m0 1 f1:1:0\nsample 1 : 1\nend\n",
	       P M(2) F "function 2 \"g\" \"\" \"\" 0\n"
			"location 1 m0 0x1\nlocation 2 m0 0x1 f1:1:0\n"
			"location 3 m0 0x1 f1:1:0 folded\nlocation 4 m0 0x1 f1:1:2\n"
			"location 5 m0 0x1 f1:2:0\nlocation 6 m0 0x1 f1:1:0 f2:1:0\n"
			"location 7 m0 0x1 f2:1:0 f1:1:0\nlocation 8 m0 0x2 f1:1:0\n"
			"sample 1 : 2\nsample 1 : 2 4 5 6 7 3 1 8\nend\n");
}

static void test_mappings(void **state)
{
	(void)state;
	/* one binary at two places: one location; two segments of it: one mapping */
	merges(P "mapping 1 0x401000 0x402000 0x1000 \"/bin/a\" \"id\" F\n"
		 "location 1 m1 0x401234\nsample 1 : 1\nend\n" P
		 "mapping 1 0x7f0000001000 0x7f0000003000 0x1000 \"/bin/a\" \"id\" L\n"
		 "mapping 2 0x7f0000000000 0x7f0000001000 0 \"/lib/z\" \"id\" -\n"
		 "location 1 m1 0x7f0000001234\nlocation 2 m2 0x7f0000000010\n"
		 "sample 2 : 1\nsample 4 : 2\nend\n",
	       P M(2) "mapping 1 0x400000 0x403000 0x0 \"/bin/a\" \"id\" FL\n"
		      "location 1 m1 0x400010\nlocation 2 m1 0x401234\n"
		      "sample 4 : 1\nsample 3 : 2\nend\n");
	/* build id on one side only: two binaries; without one, the file counts */
	merges(P "mapping 1 0x1000 0x2000 0 \"/bin/a\" \"id\" -\n"
		 "location 1 m1 0x1010\nsample 1 : 1\nend\n" P
		 "mapping 1 0x1000 0x2000 0 \"/bin/a\" \"\" -\n"
		 "location 1 m1 0x1010\nsample 2 : 1\nend\n" P
		 "mapping 1 0x5000 0x6000 0 \"/bin/a\" \"\" -\n"
		 "location 1 m1 0x5010\nsample 4 : 1\nend\n",
	       P M(3) "mapping 1 0x1000 0x2000 0x0 \"/bin/a\" \"\" -\n"
		      "mapping 2 0x1000 0x2000 0x0 \"/bin/a\" \"id\" -\n"
		      "location 1 m1 0x1010\nlocation 2 m2 0x1010\n"
		      "sample 6 : 1\nsample 1 : 2\nend\n");
	/* neither: raw addresses, whatever the mappings say */
	merges(P "mapping 1 0x1000 0x2000 0x100 \"\" \"\" -\n"
		 "location 1 m1 0x1010\nsample 1 : 1\nend\n" P
		 "mapping 1 0x5000 0x6000 0x40 \"\" \"\" -\n"
		 "location 1 m1 0x1010\nlocation 2 m1 0x5010\nsample 2 : 1\n"
		 "sample 4 : 2\nend\n",
	       P M(2) "mapping 1 0x1000 0x6000 0x40 \"\" \"\" -\n"
		      "location 1 m1 0x1010\nlocation 2 m1 0x5010\n"
		      "sample 3 : 1\nsample 4 : 2\nend\n");
	/* of several names the least; a mapping that nothing came through does not count */
	merges(P
	       "mapping 1 0 0x10 0 \"/z\" \"id\" -\nlocation 1 m1 1\nsample 1 : "
	       "1\nend\n" P
	       "mapping 1 0 0x10 0 \"\" \"id\" N\nlocation 1 m1 1\nsample 1 : 1\nend\n" P
	       "mapping 1 0 0x10 0 \"/b\" \"id\" -\nlocation 1 m1 1\nsample 1 : "
	       "1\nend\n" P
	       "mapping 1 0 0x99 0 \"/a\" \"id\" -\nlocation 1 m1 1\nsample 0 : 1\nend\n",
	       P M(4) "mapping 1 0x0 0x10 0x0 \"/b\" \"id\" N\nlocation 1 m1 0x1\n"
		      "sample 3 : 1\nend\n");
	/* first the heaviest of user space by the default type, each sample once, then names */
	merges("profile\n" T "type \"v\" \"u\" default\n"
	       "mapping 1 0 0x10 0 \"[kernel]\" \"\" -\n"
	       "mapping 2 0 0x10 0 \"/a\" \"\" -\nmapping 3 0 0x10 0 \"/b\" \"\" -\n"
	       "mapping 4 0 0x10 0 \"/c\" \"\" -\n"
	       "location 1 m1 1\nlocation 2 m2 1\nlocation 3 m3 1\nlocation 4 m4 1\n"
	       "sample 1 9 : 1 4\nsample 50 1 : 2\nsample 1 5 : 3 3 3\nend\n",
	       "profile\n" T "type \"v\" \"u\" default\n" M(
		       1) "mapping 1 0x0 0x10 0x0 \"/c\" \"\" -\nmapping 2 0x0 0x10 0x0 "
			  "\"/a\" \"\" -\n"
			  "mapping 3 0x0 0x10 0x0 \"/b\" \"\" -\n"
			  "mapping 4 0x0 0x10 0x0 \"[kernel]\" \"\" -\n"
			  "location 1 m1 0x1\nlocation 2 m2 0x1\nlocation 3 m3 "
			  "0x1\nlocation 4 m4 0x1\n"
			  "sample 1 9 : 4 1\nsample 50 1 : 2\nsample 1 5 : 3 3 3\nend\n");
	/* sums of weights beyond 64 bits are still compared right */
	merges(P
	       "mapping 1 0 0x10 0 \"/a\" \"\" -\nmapping 2 0 0x10 0 \"/b\" \"\" -\n"
	       "location 1 m1 1\nlocation 2 m2 1\nlocation 3 m2 2\n"
	       "sample 9223372036854775807 : 1\nsample 9223372036854775807 : 2\n"
	       "sample 9223372036854775807 : 3\nsample -9223372036854775807 : 3 "
	       "3\nend\n" P
	       "mapping 1 0 0x10 0 \"/a\" \"\" -\nlocation 1 m1 1\nsample -1 : 1\nend\n",
	       P M(2) "mapping 1 0x0 0x10 0x0 \"/b\" \"\" -\n"
		      "mapping 2 0x0 0x10 0x0 \"/a\" \"\" -\n"
		      "location 1 m1 0x1\nlocation 2 m1 0x2\nlocation 3 m2 0x1\n"
		      "sample 9223372036854775807 : 1\nsample 9223372036854775807 : 2\n"
		      "sample -9223372036854775807 : 2 2\n"
		      "sample 9223372036854775806 : 3\nend\n");
}

/* A file name at a second index of "" is no file: its addresses are raw. */
static void test_second_empty_string(void **state)
{
	struct buf msg = BUF_INIT(MAX), out = BUF_INIT(MAX);
	struct merge_opts o = {0};
	struct merger *m = merger_new(&o);
	struct err e = {0};

	(void)state;
	pb_assemble(&msg,
		    "1{1:1 2:2} 6\"\" 6\"t\" 6\"u\" 6\"\""
		    "2{1:1 2:5} 4{1:1 2:1 3:0x1010} 3{1:1 2:0x1000 3:0x2000 5:3 6:3}");
	assert_int_equal(merger_add(m, msg.data, msg.len, &e), 0);
	results_text(m, &out);
	assert_string_equal(buf_str(&out),
			    P M(1) "mapping 1 0x1000 0x2000 0x0 \"\" \"\" -\n"
				   "location 1 m1 0x1010\nsample 5 : 1\nend\n");
	merger_free(m);
	buf_release(&msg);
	buf_release(&out);
}

static void test_windows(void **state)
{
	(void)state;
	merges_windows(60 * S,
		       "profile\ntime 60000000000\n" T "end\n"
		       "profile\ntime 119999999999\n" T "end\n"
		       "profile\ntime 120000000000\n" T "end\n"
		       "profile\ntime 59999999999\n" T "end\n"
		       "profile\ntime -1\n" T "end\n"
		       "profile\ntime -60000000000\n" T "end\n"
		       "profile\ntime -60000000001\n" T "end\n" P "end\n",
		       "profile\ntime -60000000001\n" T M(
			       1) "end\n"
				  "profile\ntime -60000000000\n" T M(
					  2) "end\n"
					     "profile\ntime 59999999999\n" T M(
						     2) "end\n"
							"profile\ntime 60000000000\n" T M(
								2) "end\n"
								   "profile\ntime "
								   "120000000000\n" T M(
									   1) "end\n");
	/* within a window by type, whatever the times */
	merges_windows(
		60 * S,
		"profile\ntime 61000000000\ntype \"b\" \"\"\nend\n"
		"profile\ntime 62000000000\ntype \"a\" \"\"\nend\n",
		"profile\ntime 62000000000\ntype \"a\" \"\"\n" M(
			1) "end\n"
			   "profile\ntime 61000000000\ntype \"b\" \"\"\n" M(1) "end\n");
	merges_windows(INT64_MAX,
		       "profile\ntime -9223372036854775808\n" T "end\n"
		       "profile\ntime 9223372036854775807\n" T "end\n"
		       "profile\ntime 9223372036854775806\n" T "end\n",
		       "profile\ntime -9223372036854775808\n" T M(
			       1) "end\n"
				  "profile\ntime 9223372036854775806\n" T M(
					  1) "end\n"
					     "profile\ntime 9223372036854775807\n" T M(
						     1) "end\n");
}

/* --- trees -------------------------------------------------------------------------------- */

static uint64_t seed = 7;

static unsigned rnd(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

/* Few of everything, so that much is equal; binaries at random places. */
static void random_profile(struct buf *b)
{
	static const char *const types[] = {
		"type \"t\" \"u\"\ntype \"v\" \"u\"\n",
		"type \"v\" \"u\"\ntype \"t\" \"u\"\n",
		"type \"t\" \"u\"\ntype \"v\" \"u\" default\n"};
	unsigned i, k, base, off, nloc = 1 + rnd(8);

	buf_printf(b, "profile\ntime %d\nduration %u\nperiod \"%s\" \"n\" %u\n%s",
		   (int)rnd(3) * 100 - 100, rnd(50), rnd(4) ? "c" : "", 5 + rnd(2),
		   types[rnd(3)]);
	for (i = rnd(4); i; i--)
		buf_printf(b, "comment \"%s%u\"\n",
			   rnd(2) ? "profpipe: kept=" : "profpipe: host=", rnd(4));
	if (!rnd(4))
		buf_printf(b, "drop \"d%u\"\n", rnd(2));
	if (!rnd(2))
		buf_printf(b, "doc \"%u\"\n", rnd(3));
	for (i = 1; i <= 4; i++) {
		base = rnd(3) * 0x100000;
		off = rnd(3) * 0x1000;
		buf_printf(b, "mapping %u 0x%x 0x%x 0x%x \"%s\" \"%s\" %s\n", i,
			   base + off, base + off + (1 + rnd(3)) * 0x1000, off,
			   (const char *[]){"", "/a", "/b", "[k]"}[rnd(4)],
			   (const char *[]){"", "", "id1", "id2"}[rnd(4)],
			   (const char *[]){"-", "F", "NL"}[rnd(3)]);
	}
	for (i = 1; i <= 3; i++)
		buf_printf(b, "function %u \"f%u\" \"s%u\" \"\" %u\n", i, rnd(3), rnd(2),
			   rnd(2));
	for (i = 1; i <= nloc; i++) {
		buf_printf(b, "location %u m%u 0x%x", i, rnd(5),
			   rnd(3) * 0x100000 + rnd(3) * 0x1000 + rnd(3));
		for (k = rnd(3); k; k--)
			buf_printf(b, " f%u:%u:%u", 1 + rnd(3), rnd(2), rnd(2));
		buf_puts(b, rnd(5) ? "\n" : " folded\n");
	}
	for (i = rnd(20); i; i--) {
		buf_printf(b, "sample %u %u :", rnd(3), rnd(3));
		for (k = rnd(4); k; k--)
			buf_printf(b, " %u", 1 + rnd(nloc));
		buf_puts(b, " :");
		for (k = rnd(3); k; k--)
			buf_printf(b, rnd(2) ? " \"k%u\"=%u" : " \"k%u\"=\"%u\"", rnd(2),
				   rnd(2));
		buf_puts(b, "\n");
	}
	buf_puts(b, "end\n");
}

#define LEAVES 8

/* A stream: messages one after another. */
struct stream {
	struct buf msgs[LEAVES * 4];
	size_t n;
};

static void merge_streams(struct stream *const *in, size_t nin, int64_t window_ns,
			  struct stream *out)
{
	struct merge_opts o = {.window_ns = window_ns};
	struct merger *m = merger_new(&o);
	struct profile **results;
	struct err e = {0};
	size_t i, k;

	for (i = 0; i < nin; i++) {
		for (k = 0; k < in[i]->n; k++) {
			if (merger_add(m, in[i]->msgs[k].data, in[i]->msgs[k].len, &e) <
			    0)
				fail_msg("%s", e.msg);
		}
	}
	results = merger_results(m, &out->n);
	assert_in_range(out->n, 1, LEAVES * 4);
	for (i = 0; i < out->n; i++) {
		buf_init(&out->msgs[i], MAX);
		assert_int_equal(profile_encode(results[i], &out->msgs[i], &e), 0);
	}
	merger_free(m);
}

static void stream_release(struct stream *s)
{
	while (s->n)
		buf_release(&s->msgs[--s->n]);
}

static void same_streams(const struct stream *a, const struct stream *b)
{
	size_t i;

	assert_int_equal(a->n, b->n);
	for (i = 0; i < a->n; i++) {
		assert_int_equal(a->msgs[i].len, b->msgs[i].len);
		assert_memory_equal(a->msgs[i].data, b->msgs[i].data, a->msgs[i].len);
	}
}

/* Merge random groups until one is left; frees the streams. */
static void merge_tree(struct stream *const *leaves, int64_t window_ns,
		       struct stream *out)
{
	struct stream *nodes[LEAVES], *swap;
	size_t n = LEAVES, i, k;

	memcpy(nodes, leaves, sizeof(nodes));
	do {
		for (i = n; i > 1; i--) {
			k = rnd(i);
			swap = nodes[i - 1];
			nodes[i - 1] = nodes[k];
			nodes[k] = swap;
		}
		k = 1 + rnd(n);
		swap = xcalloc(1, sizeof(*swap));
		merge_streams(nodes + n - k, k, window_ns, swap);
		for (i = n - k; i < n; i++) {
			stream_release(nodes[i]);
			free(nodes[i]);
		}
		n -= k;
		nodes[n++] = swap;
	} while (n > 1);
	*out = *nodes[0];
	free(nodes[0]);
}

static struct stream *copy_stream(const struct stream *s)
{
	struct stream *c = xcalloc(1, sizeof(*c));
	size_t i;

	for (i = 0; i < s->n; i++, c->n++) {
		buf_init(&c->msgs[i], MAX);
		buf_put(&c->msgs[i], s->msgs[i].data, s->msgs[i].len);
	}
	return c;
}

static void test_trees(void **state)
{
	struct stream leaves[LEAVES], *copies[LEAVES], flat, tree;
	struct buf text = BUF_INIT(MAX);
	struct text_reader t;
	int round, i, k;
	struct err e;
	int64_t window;

	(void)state;
	for (round = 0; round < 60; round++) {
		window = round % 3 ? 0 : 70;
		for (i = 0; i < LEAVES; i++) {
			buf_clear(&text);
			random_profile(&text);
			text_open(&t, text.data, text.len);
			leaves[i].n = 1;
			buf_init(&leaves[i].msgs[0], MAX);
			if (text_next(&t, &leaves[i].msgs[0], &e) != 1)
				fail_msg("%s\n%s", e.msg, buf_str(&text));
		}
		for (i = 0; i < LEAVES; i++)
			copies[i] = copy_stream(&leaves[i]);
		merge_streams(copies, LEAVES, window, &flat);
		for (k = 0; k < 5; k++) {
			if (k) {
				for (i = 0; i < LEAVES; i++)
					copies[i] = copy_stream(&leaves[i]);
			}
			merge_tree(copies, window, &tree);
			same_streams(&tree, &flat);
			stream_release(&tree);
		}
		stream_release(&flat);
		for (i = 0; i < LEAVES; i++)
			stream_release(&leaves[i]);
	}
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_types_stay_apart),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_second_empty_string),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_trees),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
