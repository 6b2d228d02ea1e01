/* SPDX-License-Identifier: Apache-2.0 */
/* Gates: each form of the grammar, what it means for a comparison, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/diff/gate.h"

static struct str text(const char *s)
{
	return (struct str){s, (uint32_t)strlen(s)};
}

/* 1000 became 1100: parse grew, lex shrank, fresh is new, gone is gone. */
static void judge(const struct gate *g, struct gate_result *r)
{
	struct diff_row rows[] = {
		{.name = text("parse"),
		 .flat = {100, 150},
		 .cum = {300, 330},
		 .in_base = true,
		 .in_new = true},
		{.name = text("lex"),
		 .flat = {800, 780},
		 .cum = {800, 780},
		 .in_base = true,
		 .in_new = true},
		{.name = text("fresh"),
		 .flat = {0, 170},
		 .cum = {0, 170},
		 .in_new = true},
		{.name = text("gone"),
		 .flat = {100, 0},
		 .cum = {100, 0},
		 .in_base = true},
	};
	struct comparison c = {.total = {1000, 1100}, .rows = rows, .nrows = 4};
	struct gate_context ctx = {.c = &c}; /* values as they are, without a test */
	struct err e = {0};

	assert_int_equal(gate_judge(g, &ctx, r, &e), 0);
}

/* item NULL: nothing is large enough to be judged. */
static void holds(const char *gate, bool failed, const char *item, int64_t limit)
{
	struct gate_result r;
	struct gate *g = NULL;
	struct err e = {0};

	if (gate_parse(gate, &g, &e))
		fail_msg("%s", e.msg);
	assert_string_equal(gate_text(g), gate);
	judge(g, &r);
	if (r.failed != failed || r.limit != limit)
		fail_msg("\"%s\": failed %d, limit %ld", gate, r.failed, (long)r.limit);
	if (item) {
		assert_int_equal(r.item.n, strlen(item));
		assert_memory_equal(r.item.p, item, r.item.n);
	} else {
		assert_null(r.item.p);
	}
	gate_free(g);
}

static void test_subjects(void **state)
{
	(void)state;
	holds("total > +5%", true, "total", 1050);
	holds("total > +10%", false, "total", 1100);
	/* the worst is fresh: 170 more, of all functions by flat values */
	holds("regressed > +5%", true, "fresh", 50);
	holds("regressed > +20%", false, "fresh", 200);
	holds("new > +10%", true, "new functions", 100);
	holds("new > +17%", false, "new functions", 170);
	holds("flat:^parse$ > +4%", true, "parse", 140);
	holds("flat:parse > +5%", false, "parse", 150);
	holds("cum:^(parse|lex)$ > +2%", true, "parse", 320);
	holds("cum:^(parse|lex)$ > +3%", false, "parse", 330);
}

static void test_limits(void **state)
{
	(void)state;
	/* the sign may go; fractions; relative to the function itself */
	holds("total > 5%", true, "total", 1050);
	holds("total > +7.5%", true, "total", 1075);
	holds("total > 0%", true, "total", 1000);
	holds("total > x1.05", true, "total", 1050);
	holds("total > x1.1", false, "total", 1100);
	holds("flat:^parse$ > x1.4", true, "parse", 140);
	holds("flat:^parse$ > x1.15", true, "parse", 115); /* not 114 */
	holds("flat:^parse$ > x1.5", false, "parse", 150);
	holds("flat:^lex$ > x0.9", true, "lex", 720);
}

static void test_where(void **state)
{
	(void)state;
	/* of the larger total, 1100: parse has 13.6%, fresh 15.5% */
	holds("regressed > +1% where share >= 14%", true, "fresh", 10);
	holds("flat:^parse$ > +1% where share >= 13%", true, "parse", 110);
	holds("flat:^parse$ > +1% where share >= 14%", false, NULL, 0);
	holds("flat:^parse$ > x1.25 where share >= 13%", true, "parse", 125);
}

static void test_blanks(void **state)
{
	(void)state;
	holds("total>+5%", true, "total", 1050);
	holds("  total  >  +5%  ", true, "total", 1050);
	holds("\ttotal\t>\t+5%\twhere\tshare\t>=\t1%", true, "total", 1050);
	/* the last " > " ends an expression, also one that has it */
	holds("flat:^parse|a > b$ > +4%", true, "parse", 140);
}

static void test_severity(void **state)
{
	static const struct {
		const char *gate;
		bool warns;
	} cases[] = {
		{"total > +5%", false},		  {"fail total > +5%", false},
		{"warn total > +5%", true},	  {" warn  total > +5%", true},
		{"warn flat:^warn > x2", true},	  {"flat:warn > x2", false},
		{"label:warn=fail > +1%", false},
	};
	struct err e = {0};
	struct gate *g;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(gate_parse(cases[i].gate, &g, &e), 0);
		assert_int_equal(gate_only_warns(g), cases[i].warns);
		gate_free(g);
	}
}

/* 40 of pod a=b became 50, and 7 of tid 7 stayed. */
static struct profile *labelled(struct store *st)
{
	static const int64_t amounts[] = {-40, 50, -7, 7};
	struct label l[2] = {0};
	struct profile *p = profile_new(st);
	struct err e = {0};
	size_t i;

	p->h.types = calloc(1, sizeof(*p->h.types));
	p->h.ntypes = 1;
	p->h.types[0].type = store_puts(st, "samples");
	for (i = 0; i < 4; i++) {
		l[0] = i < 2 ? (struct label){.key = store_puts(st, "pod"),
					      .str = store_puts(st, "a=b")}
			     : (struct label){.key = store_puts(st, "tid"),
					      .numeric = true,
					      .num = 7};
		l[1] = (struct label){.key = store_puts(st, "pprof::base"),
				      .str = store_puts(st, "true")};
		assert_int_equal(
			profile_add(p, store_stack(st, NULL, 0),
				    store_labelset(st, l, amounts[i] < 0 ? 2 : 1),
				    &amounts[i], &e),
			0);
	}
	return p;
}

static void test_labels(void **state)
{
	static const struct {
		const char *gate;
		int64_t base, new, limit;
		bool failed;
	} cases[] = {
		{"label:pod=a=b > x1.2", 40, 50, 48, true},
		{"label:pod=a=b > x1.25", 40, 50, 50, false},
		{"label:pod=a=b > +5%", 40, 50, 45, true},
		{"label:tid=7 > +0%", 7, 7, 7, false},
	};
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = labelled(st);
	struct comparison c = {.p = p, .total = {100, 110}};
	struct gate_result r;
	struct gate *g = NULL;
	struct err e = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(gate_parse(cases[i].gate, &g, &e), 0);
		assert_int_equal(gate_judge(g, &(struct gate_context){.c = &c}, &r, &e),
				 0);
		assert_int_equal(r.amount.base, cases[i].base);
		assert_int_equal(r.amount.new, cases[i].new);
		assert_int_equal(r.limit, cases[i].limit);
		assert_int_equal(r.failed, cases[i].failed);
		gate_free(g);
	}
	profile_free(p);
	store_free(st);
}

/* A gate that watches nothing must not pass. */
static void test_nothing_there(void **state)
{
	static const char *const gates[] = {"flat:nothing > +1%", "cum:^$ > x2",
					    "label:pod=b > +1%"};
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = labelled(st);
	struct comparison c = {.p = p, .total = {100, 110}};
	struct gate_result r;
	struct gate *g = NULL;
	struct err e = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		assert_int_equal(gate_parse(gates[i], &g, &e), 0);
		assert_int_equal(gate_judge(g, &(struct gate_context){.c = &c}, &r, &e),
				 -ENOENT);
		assert_non_null(strstr(e.msg, "matches nothing"));
		gate_free(g);
	}
	profile_free(p);
	store_free(st);
}

static void test_refused(void **state)
{
	static const struct {
		const char *gate, *why;
	} cases[] = {
		{"", "'> LIMIT' expected"},
		{"warn", "'> LIMIT' expected"},
		{"total", "'> LIMIT' expected"},
		{"total >= +5%", "'> LIMIT' expected"},
		{"total < +5%", "'> LIMIT' expected"},
		{"> +5%", "expected, not \"\""},
		{"totals > +5%", "expected, not \"totals\""},
		{"Total > +5%", "expected, not \"Total\""},
		{"warning total > +5%", "expected, not \"warning total\""},
		{"fail warn total > +5%", "expected, not \"warn total\""},
		{"flat > +5%", "expected, not \"flat\""},
		{"self:parse > +5%", "expected, not \"self:parse\""},
		{"label:pod > +5%", "expected, not \"label:pod\""},
		{"label:=b > +5%", "expected, not \"label:=b\""},
		{"flat:( > +5%", "parenthesis"},
		{"total >", "limit +P% or xR expected"},
		{"total > ", "limit +P% or xR expected"},
		{"total > 5", "limit +P% or xR expected"},
		{"total > +5", "limit +P% or xR expected"},
		{"total > -5%", "limit +P% or xR expected"},
		{"total > ++5%", "limit +P% or xR expected"},
		{"total > +%", "limit +P% or xR expected"},
		{"total > +nan%", "limit +P% or xR expected"},
		{"total > +5%%", "limit +P% or xR expected"},
		{"total > + 5%", "limit +P% or xR expected"},
		{"total > x", "limit +P% or xR expected"},
		{"total > x0", "limit +P% or xR expected"},
		{"total > x-1", "limit +P% or xR expected"},
		{"total > x110%", "limit +P% or xR expected"},
		{"total > xinf", "limit +P% or xR expected"},
		{"total > 2x", "limit +P% or xR expected"},
		{"new > x2", "no base to be xR of"},
		{"total > +5% where", "\"where share >= P%\" expected"},
		{"total > +5% share >= 1%", "\"where share >= P%\" expected"},
		{"total > +5% where share > 1%", "not \"total > +5% where share\""},
		{"total > +5% where share >= ", "share"},
		{"total > +5% where share >= x", "share"},
		{"total > +5% where share >= -1%", "share"},
		{"total > +5% where share >= 1% or so", "share"},
		{"total > +5% and so on", "expected"},
	};
	struct gate *g = NULL;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e = (struct err){0};
		if (gate_parse(cases[i].gate, &g, &e) != -EINVAL)
			fail_msg("\"%s\": not refused", cases[i].gate);
		assert_null(g);
		/* named, with the reason */
		if (strncmp(e.msg, "gate \"", 6) != 0 || !strstr(e.msg, cases[i].gate) ||
		    !strstr(e.msg, cases[i].why))
			fail_msg("\"%s\": %s", cases[i].gate, e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subjects), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_where),	 cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_severity), cmocka_unit_test(test_labels),
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_nothing_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
