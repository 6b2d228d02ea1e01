/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format and the profile reader: what is accepted means the right thing (seen as the
 * text twin), what is not is refused with byte and field. protobuf-c is the second opinion.
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
#include "lib/pprof/profile.pb-c.h"
#include "lib/pprof/reader.h"
#include "lib/pprof/wire.h"
#include "lib/pprof/writer.h"
#include "tests/unit/pbmake.h"

typedef Perftools__Profiles__Profile pb_profile;

/* "" samples count cpu nanoseconds main main.c /bin/app, strings 0 to 7 */
#define STRINGS                                                                          \
	" 6\"\" 6\"samples\" 6\"count\" 6\"cpu\" 6\"nanoseconds\" 6\"main\" "            \
	"6\"main.c\" 6\"/bin/app\" "
#define TYPE " 1{1:1 2:2} "
#define TABLES                                                                           \
	" 3{1:1 2:0x1000 3:0x2000 5:7} 5{1:1 2:5 3:5 4:6} 4{1:1 2:1 3:0x1234 "           \
	"4{1:1 2:12}} "
#define TABLES_TEXT                                                                      \
	"mapping 1 0x1000 0x2000 0x0 \"/bin/app\" \"\" -\n"                              \
	"function 1 \"main\" \"main\" \"main.c\" 0\n"                                    \
	"location 1 m1 0x1234 f1:12:0\n"
#define TYPE_TEXT "profile\ntype \"samples\" \"count\"\n"

/* What a message means, as text; it must also come back the same from what we write. */
static void means(const char *spec, const char *want)
{
	struct buf msg = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20),
		   again = BUF_INIT(1 << 20);
	struct store *st = store_new(STORE_EXACT), *st2 = store_new(STORE_EXACT);
	struct profile *p = NULL, *q = NULL;
	struct err e = {0};

	assert_int_equal(*pb_assemble(&msg, spec), 0);
	if (profile_decode(st, msg.data, msg.len, &p, &e) < 0)
		fail_msg("%s: %s", spec, e.msg);
	assert_int_equal(profile_write_text(p, false, &text, &e), 0);
	if (strcmp(buf_str(&text), want))
		fail_msg("%s\nmeans\n%s", spec, buf_str(&text));
	assert_int_equal(profile_encode(p, &again, &e), 0);
	if (profile_decode(st2, again.data, again.len, &q, &e) < 0)
		fail_msg("%s: written, then: %s", spec, e.msg);
	buf_clear(&text);
	assert_int_equal(profile_write_text(q, false, &text, &e), 0);
	if (strcmp(buf_str(&text), want))
		fail_msg("%s\nwritten means\n%s", spec, buf_str(&text));
	profile_free(p);
	profile_free(q);
	store_free(st);
	store_free(st2);
	buf_release(&msg);
	buf_release(&text);
	buf_release(&again);
}

static void test_basic(void **state)
{
	(void)state;
	means(TYPE STRINGS, TYPE_TEXT "end\n");
	means(TYPE "2{1[1 1] 2[5]}" TABLES STRINGS,
	      TYPE_TEXT TABLES_TEXT "sample 5 : 1 1\nend\n");
	/* any order of fields */
	means(STRINGS TABLES "2{2[5] 1[1 1]}" TYPE,
	      TYPE_TEXT TABLES_TEXT "sample 5 : 1 1\nend\n");
	/* equal samples are added; an empty stack is one; zero values stay */
	means(TYPE "2{1[1] 2[5]} 2{2[0]} 2{1[1] 2[6]}" TABLES STRINGS,
	      TYPE_TEXT TABLES_TEXT "sample 0 :\nsample 11 : 1\nend\n");
	/* all of the header */
	means("1{1:1 2:2} 1{1:3 2:4} 7:5 8:6 9:-77 10:1000 11{1:3 2:4} 12:-3 13[7 5] "
	      "14:1 "
	      "15:7" STRINGS,
	      "profile\ntime -77\nduration 1000\nperiod \"cpu\" \"nanoseconds\" -3\n"
	      "type \"samples\" \"count\" default\ntype \"cpu\" \"nanoseconds\"\n"
	      "comment \"/bin/app\"\ncomment \"main\"\ndrop \"main\"\nkeep \"main.c\"\n"
	      "doc \"/bin/app\"\nend\n");
	/* a default that is no type; a mapping that no sample needs, first only */
	means("1{1:1 2:2} 14:3 3{1:1 2:0x10 5:7 7:1 8:1 9:1 10:1} 3{1:2 2:0x20}" STRINGS,
	      TYPE_TEXT "default \"cpu\"\n"
			"mapping 1 0x10 0x0 0x0 \"/bin/app\" \"\" FNLI\nend\n");
}

static void test_packing(void **state)
{
	const char *want =
		"profile\ntype \"samples\" \"count\"\n"
		"type \"cpu\" \"nanoseconds\"\n" TABLES_TEXT "sample 5 -6 : 1 1 1\nend\n";

	(void)state;
	means("1{1:1 2:2} 1{1:3 2:4} 2{1[1 1 1] 2[5 -6]}" TABLES STRINGS, want);
	means("1{1:1 2:2} 1{1:3 2:4} 2{1:1 1:1 1:1 2:5 2:-6}" TABLES STRINGS, want);
	means("1{1:1 2:2} 1{1:3 2:4} 2{1:1 2:5 1[1 1] 2[-6]}" TABLES STRINGS, want);
	means("1{1:1 2:2} 1{1:3 2:4} 2{1[] 1[1] 2[5] 1[] 2[] 1[1] 1:1 2:-6}" TABLES
		      STRINGS,
	      want);
	means(TYPE "13:5 13[6 5] 13:7" STRINGS,
	      TYPE_TEXT "comment \"main\"\ncomment \"main.c\"\ncomment \"main\"\n"
			"comment \"/bin/app\"\nend\n");
}

static void test_ids(void **state)
{
	(void)state;
	/* far from dense, not sorted, up to the largest */
	means(TYPE
	      "2{1[18446744073709551615 9 1000000] 2[5]}"
	      "5{1:18446744073709551615 2:5} 5{1:3 2:6}"
	      "3{1:18446744073709551614 2:0x10 3:0x20}"
	      "4{1:1000000 3:1 4{1:3}} 4{1:18446744073709551615 2:18446744073709551614 "
	      "3:0x11 4{1:18446744073709551615}} 4{1:9 3:2}" STRINGS,
	      TYPE_TEXT
	      "mapping 1 0x10 0x20 0x0 \"\" \"\" -\n"
	      "function 1 \"main\" \"\" \"\" 0\nfunction 2 \"main.c\" \"\" \"\" 0\n"
	      "location 1 m0 0x1 f2:0:0\nlocation 2 m0 0x2\n"
	      "location 3 m1 0x11 f1:0:0\nsample 5 : 3 2 1\nend\n");
	/* sparse within reach of a direct table, descending */
	means(TYPE "2{1[90 7] 2[5]} 4{1:90 3:1} 4{1:7 3:2}" STRINGS,
	      TYPE_TEXT "location 1 m0 0x1\nlocation 2 m0 0x2\nsample 5 : 1 2\nend\n");
	/* a mapping that is not there reads as none */
	means(TYPE "2{1[1] 2[5]} 4{1:1 2:77 3:1}" STRINGS,
	      TYPE_TEXT "location 1 m0 0x1\nsample 5 : 1\nend\n");
}

static void test_unknown_and_repeated(void **state)
{
	const char *want = TYPE_TEXT TABLES_TEXT "sample 5 : 1 : \"cpu\"=7\nend\n";

	(void)state;
	means(TYPE "2{1[1] 2[5] 3{1:3 3:7}}" TABLES STRINGS, want);
	/* one of each wire type, on every level, and number 0 */
	means("!a0060599060102030405060708a2060161a50601020304 0:5" TYPE
	      "2{99:5 1[1] 88\"x\" 2[5] 3{1:3 77:1 3:7 99\"y\"} 0:1}"
	      "3{1:1 !a50601020304 2:0x1000 3:0x2000 5:7 11:9}"
	      "5{1:1 2:5 3:5 4:6 6:1 99\"z\"}"
	      "4{1:1 2:1 3:0x1234 4{1:1 2:12 !99060102030405060708 4:4} 6:1}" STRINGS,
	      want);
	/* a number twice: the last one counts, a message twice too */
	means(TYPE "10:5 10:6 12:9 12:0 11{1:1 2:2} 11{1:3}"
		   "2{1[1] 2[5]} 4{1:7 1:1 3:9 3:5 5:1 5:0}" STRINGS,
	      "profile\nduration 6\nperiod \"cpu\" \"\" 0\ntype \"samples\" \"count\"\n"
	      "location 1 m0 0x5\nsample 5 : 1\nend\n");
	/* flags taken back, column, fold, inlining */
	means(TYPE "2{1[1] 2[1]} 3{1:1 7:1 8:1 7:0 10:5}"
		   "5{1:1 2:5} 5{1:2 2:6 5:-4}"
		   "4{1:1 2:1 3:5 4{1:1 2:-3 3:4} 4{1:2} 5:1}" STRINGS,
	      TYPE_TEXT
	      "mapping 1 0x0 0x0 0x0 \"\" \"\" NI\n"
	      "function 1 \"main\" \"\" \"\" 0\nfunction 2 \"main.c\" \"\" \"\" -4\n"
	      "location 1 m1 0x5 f1:-3:4 f2:0:0 folded\nsample 1 : 1\nend\n");
}

static void test_labels(void **state)
{
	(void)state;
	/* str and num in one: str wins. num 0 without unit is a label all the same. */
	means(TYPE
	      "2{2[1] 3{1:5 2:6 3:9 4:7} 3{1:3 3:0} 3{1:1 3:-1 4:2} 3{1:4 4:2}}" STRINGS,
	      TYPE_TEXT "sample 1 : : \"cpu\"=0 \"main\"=\"main.c\" "
			"\"nanoseconds\"=0\"count\" \"samples\"=-1\"count\"\nend\n");
	/* sorted by key, values of a key in their order; keys may be empty */
	means(TYPE "2{2[1] 3{1:5 2:6} 3{1:3 2:1} 3{1:5 2:3} 3{1:5 3:4} 3{2:7}}" STRINGS,
	      TYPE_TEXT "sample 1 : : \"\"=\"/bin/app\" \"cpu\"=\"samples\" "
			"\"main\"=\"main.c\" \"main\"=\"cpu\" \"main\"=4\nend\n");
	/* order of keys is not content, order of values is */
	means(TYPE "2{2[1] 3{1:5 2:6} 3{1:3 2:1}} 2{2[2] 3{1:3 2:1} 3{1:5 2:6}}"
		   "2{2[4] 3{1:5 2:1} 3{1:5 2:6}} 2{2[8] 3{1:5 2:6} 3{1:5 2:1}}" STRINGS,
	      TYPE_TEXT "sample 3 : : \"cpu\"=\"samples\" \"main\"=\"main.c\"\n"
			"sample 8 : : \"main\"=\"main.c\" \"main\"=\"samples\"\n"
			"sample 4 : : \"main\"=\"samples\" \"main\"=\"main.c\"\nend\n");
	/* a string label without text: an index that is not 0 names "" */
	means(TYPE "2{2[1] 3{1:5 2:8}}" STRINGS "6\"\"",
	      TYPE_TEXT "sample 1 : : \"main\"=\"\"\nend\n");
	/* the same string at two indexes is one string */
	means(TYPE "2{2[1] 3{1:5 2:6}} 2{2[1] 3{1:8 2:9}}" STRINGS
		   "6\"main\" 6\"main.c\"",
	      TYPE_TEXT "sample 2 : : \"main\"=\"main.c\"\nend\n");
}

/* Labels that are the same bytes, whatever else stands between and behind them. */
static void test_labels_again(void **state)
{
	(void)state;
	means(TYPE
	      "2{3{1:1 2:5} 2[5] 1[1]} 2{3{1:1 2:5} 2[6] 1[1]} 2{3{1:1 2:5} 2[6] 1[1]} "
	      "2{1[1] 2[7] 3{1:1 2:5}} 2{2[1] 3{1:1 2:5}} 2{1[1] 2[3] 3{1:1 2:6}} "
	      "2{1[1] 2[4] 9:1 3{1:1 2:5} 9:1} 2{1[1] 3{1:1 2:5} 2[8] 3{1:3 2:5}} "
	      "2{1[1] 2[2] 3{1:1 2:5} 9:1}" TABLES STRINGS,
	      TYPE_TEXT TABLES_TEXT
	      "sample 1 : : \"samples\"=\"main\"\n"
	      "sample 8 : 1 : \"cpu\"=\"main\" \"samples\"=\"main\"\n"
	      "sample 30 : 1 : \"samples\"=\"main\"\n"
	      "sample 3 : 1 : \"samples\"=\"main.c\"\nend\n");
}

static void test_many_labels(void **state)
{
	enum { N = 20000 };
	struct buf msg = BUF_INIT(1 << 24), part = BUF_INIT(1 << 24), l = BUF_INIT(64);
	struct store *st = store_new(STORE_EXACT);
	const struct label *labels;
	struct profile *p = NULL;
	struct err e = {0};
	uint32_t i, n;

	(void)state;
	/* keys all the wrong way round: sorting must not take the square of them */
	buf_put(&part, "\x12\1\1", 3);
	for (i = 0; i < N; i++) {
		buf_clear(&l);
		buf_putc(&l, 1 << 3);
		pb_varint(&l, 3 + (N - 1 - i) / 2);
		buf_printf(&l, "%c", 3 << 3);
		pb_varint(&l, i % 2 + 1);
		pb_bytes(&part, 3, l.data, l.len);
	}
	pb_assemble(&msg, "1{1:1 2:2} 6\"\" 6\"samples\" 6\"count\"");
	pb_bytes(&msg, 2, part.data, part.len);
	for (i = 0; i < N / 2; i++) {
		buf_clear(&l);
		buf_printf(&l, "k%06u", i);
		pb_bytes(&msg, 6, l.data, l.len);
	}
	if (profile_decode(st, msg.data, msg.len, &p, &e) < 0)
		fail_msg("%s", e.msg);
	labels = store_labels(st, p->samples[0].labelset, &n);
	assert_int_equal(n, N);
	for (i = 0; i < N; i++) {
		char want[16];

		snprintf(want, sizeof(want), "k%06u", i / 2);
		assert_string_equal(store_cstr(st, labels[i].key), want);
		assert_int_equal(labels[i].num, i % 2 + 1);
	}
	profile_free(p);
	store_free(st);
	buf_release(&msg);
	buf_release(&part);
	buf_release(&l);
}

static void test_extremes(void **state)
{
	(void)state;
	means(TYPE "9:-9223372036854775808 10:9223372036854775807 "
		   "2{1[1] 2[-9223372036854775808] 3{1:5 3:-9223372036854775808}}"
		   "2{2[9223372036854775807]}"
		   "3{1:1 2:18446744073709551615 3:18446744073709551614 "
		   "4:18446744073709551613}"
		   "5{1:1 2:5 5:-9223372036854775808}"
		   "4{1:1 2:1 3:18446744073709551615 4{1:1 2:9223372036854775807 "
		   "3:-9223372036854775808}}" STRINGS,
	      "profile\ntime -9223372036854775808\nduration 9223372036854775807\n"
	      "type \"samples\" \"count\"\n"
	      "mapping 1 0xffffffffffffffff 0xfffffffffffffffe 0xfffffffffffffffd \"\" "
	      "\"\" "
	      "-\n"
	      "function 1 \"main\" \"\" \"\" -9223372036854775808\n"
	      "location 1 m1 0xffffffffffffffff "
	      "f1:9223372036854775807:-9223372036854775808\n"
	      "sample 9223372036854775807 :\n"
	      "sample -9223372036854775808 : 1 : \"main\"=-9223372036854775808\nend\n");
}

static void refused(const char *spec, int code, const char *want)
{
	struct buf msg = BUF_INIT(1 << 20);
	struct store *st = store_new(STORE_EXACT);
	struct profile *p = NULL;
	struct err e = {0};
	uint8_t *copy;
	int r;

	assert_int_equal(*pb_assemble(&msg, spec), 0);
	/* exactly as long as it is, for the sanitizer */
	copy = xmemdup(msg.data ? msg.data : (uint8_t *)"", msg.len);
	r = profile_decode(st, copy, msg.len, &p, &e);
	if (r != -code || strcmp(e.msg, want))
		fail_msg("%s: %d, \"%s\", wanted \"%s\"", spec, r, e.msg, want);
	assert_null(p);
	free(copy);
	store_free(st);
	buf_release(&msg);
}

static const struct {
	const char *spec, *message;
} bad[] = {
	{"", "no string_table in 0 bytes"},
	{"!00000000", "no string_table in 4 bytes"},
	{"6\"\"", "no sample_type"},
	{STRINGS, "no sample_type"},
	{"6\"x\"", "string 0 is not empty at byte 0 in string_table"},
	{TYPE "6\"x\" 6\"\"", "string 0 is not empty at byte 6 in string_table"},
	/* the wire */
	{"!08", "truncated varint at byte 1 in sample_type"},
	{"!80", "truncated varint at byte 0 in the message"},
	{"!4880", "truncated varint at byte 1 in time_nanos"},
	{"!4880808080808080808080800100",
	 "varint longer than ten bytes at byte 1 in time_nanos"},
	{"!8080808080808080808001",
	 "varint longer than ten bytes at byte 0 in the message"},
	{"!0a05", "length runs past the end at byte 0 in sample_type"},
	{TYPE "!32ffffffffffffffffff01",
	 "length runs past the end at byte 6 in string_table"},
	{"!1280", "truncated varint at byte 1 in sample"},
	{"!0b", "unsupported wire type at byte 0 in sample_type"},
	{"!0c", "unsupported wire type at byte 0 in sample_type"},
	{"!a306", "unsupported wire type at byte 0 in the message"},
	{"!a706", "unsupported wire type at byte 0 in the message"},
	{"!a106010203", "truncated fixed-size number at byte 0 in the message"},
	{"!a506010203", "truncated fixed-size number at byte 0 in the message"},
	{"1:1", "wrong wire type at byte 0 in sample_type"},
	{"9\"x\"", "wrong wire type at byte 0 in time_nanos"},
	{"!4d01020304", "wrong wire type at byte 0 in time_nanos"},
	{TYPE "6:1", "wrong wire type at byte 6 in string_table"},
	{"!690102030405060708", "wrong wire type at byte 0 in comment"},
	{"13[1] !6a0180", "truncated varint at byte 5 in comment"},
	{"1{1\"x\"}", "wrong wire type at byte 2 in value_type.type"},
	{"1{!0880}", "truncated varint at byte 3 in value_type.type"},
	{"3{5\"x\"}", "wrong wire type at byte 2 in mapping.filename"},
	{"3{!8a80}", "truncated varint at byte 2 in the message"},
	{"4{1:1 4:1}", "wrong wire type at byte 4 in location.line"},
	{"4{1:1 4{1:1 2\"\"}}", "wrong wire type at byte 8 in line.line"},
	{"4{!2205}", "length runs past the end at byte 2 in location.line"},
	{"5{1:1 2{}}", "wrong wire type at byte 4 in function.name"},
	{TYPE STRINGS "2{1{!80} 2[1]}",
	 "truncated varint at byte 70 in sample.location_id"},
	{TYPE STRINGS "2{2{!8080}}", "truncated varint at byte 70 in sample.value"},
	{TYPE STRINGS "2{2[1] 3:1}", "wrong wire type at byte 71 in sample.label"},
	{TYPE STRINGS "2{!0d01020304}",
	 "wrong wire type at byte 68 in sample.location_id"},
	{TYPE STRINGS "2{2[1] 3{1\"\"}}", "wrong wire type at byte 73 in label.key"},
	{TYPE STRINGS "2{2[1] 3{!08}}", "truncated varint at byte 74 in label.key"},
	/* strings */
	{"1{1:1 2:9} 6\"\" 6\"a\"",
	 "string index 9 out of range (2 strings) at byte 4 in value_type.unit"},
	{"1{1:-1} 6\"\"",
	 "string index -1 out of range (1 strings) at byte 2 in value_type.type"},
	{"1{1:0x100000000} 6\"\"",
	 "string index 4294967296 out of range (1 strings) at byte 2 in value_type.type"},
	{TYPE STRINGS "13[1 8]",
	 "string index 8 out of range (8 strings) at byte 66 in comment"},
	{TYPE STRINGS "14:8",
	 "string index 8 out of range (8 strings) at byte 66 in default_sample_type"},
	{TYPE STRINGS "15:-5",
	 "string index -5 out of range (8 strings) at byte 66 in doc_url"},
	{TYPE STRINGS "11{2:9}",
	 "string index 9 out of range (8 strings) at byte 68 in value_type.unit"},
	{TYPE STRINGS "3{1:1 6:99}",
	 "string index 99 out of range (8 strings) at byte 70 in mapping.build_id"},
	{TYPE STRINGS "5{1:1 4:8}",
	 "string index 8 out of range (8 strings) at byte 70 in function.filename"},
	{TYPE STRINGS "2{2[1] 3{1:8}}",
	 "string index out of range at byte 73 in label.key"},
	{TYPE STRINGS "2{2[1] 3{1:1 2:300}}",
	 "string index out of range at byte 75 in label.str"},
	{TYPE STRINGS "2{2[1] 3{1:1 4:-1}}",
	 "string index out of range at byte 75 in label.num_unit"},
	/* values */
	{TYPE STRINGS "2{}", "0 values for 1 sample types at byte 66 in sample.value"},
	{TYPE STRINGS "2{2[1]} 2{2[1 2]}",
	 "2 values for 1 sample types at byte 71 in sample.value"},
	{"2{2[1]}" TYPE TYPE STRINGS,
	 "1 values for 2 sample types at byte 0 in sample.value"},
	/* ids */
	{TYPE STRINGS "2{1[1] 2[1]}",
	 "no location with id 1 at byte 70 in sample.location_id"},
	{TYPE STRINGS TABLES "2{1[1 0] 2[1]}",
	 "no location with id 0 at byte 108 in sample.location_id"},
	{TYPE STRINGS TABLES "2{1:1 1:7 2[1]}",
	 "no location with id 7 at byte 107 in sample.location_id"},
	{TYPE STRINGS "4{1:5} 4{1:9000} 2{1[6] 2[1]}",
	 "no location with id 6 at byte 79 in sample.location_id"},
	{TYPE STRINGS "4{3:1}", "reserved id 0 at byte 66 in location.id"},
	{TYPE STRINGS "4{1:1} 4{1:0}", "reserved id 0 at byte 70 in location.id"},
	{TYPE STRINGS "3{5:1}", "reserved id 0 at byte 66 in mapping.id"},
	{TYPE STRINGS "5{2:1}", "reserved id 0 at byte 66 in function.id"},
	{TYPE STRINGS "4{1:1} 5{1:1} 4{1:2} 4{1:1}",
	 "id 1 used twice at byte 78 in location.id"},
	{TYPE STRINGS "3{1:900000} 3{1:5} 3{1:900000}",
	 "id 900000 used twice at byte 76 in mapping.id"},
	{TYPE STRINGS "5{1:-1} 5{1:-1}",
	 "id 18446744073709551615 used twice at byte 79 in function.id"},
	{TYPE STRINGS "4{1:1 4{2:5}}",
	 "no function with id 0 at byte 66 in line.function_id"},
	{TYPE STRINGS "5{1:1} 4{1:1} 4{1:2 4{1:1} 4{1:2}}",
	 "no function with id 2 at byte 74 in line.function_id"},
	/* two plain profiles in a row */
	{TYPE STRINGS "9:5" TYPE STRINGS "9:6",
	 "a second profile (plain profiles cannot be concatenated) at byte 134 in "
	 "time_nanos"},
	{TYPE STRINGS "2{2[1]}" TYPE STRINGS "2{2[1]}",
	 "1 values for 2 sample types at byte 66 in sample.value"},
};

static void test_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refused(bad[i].spec, EBADMSG, bad[i].message);
	refused(TYPE "2{2[9223372036854775807]} 2{2[1]}" STRINGS, EOVERFLOW,
		"the sum of samples in an empty stack does not fit 64 bits");
	refused(TYPE "2{1[1] 2[-9223372036854775808]} 2{1[1] 2[-1]}" TABLES STRINGS,
		EOVERFLOW, "the sum of samples in main does not fit 64 bits");
}

/* Cut anywhere, a message is refused or a valid shorter one; the sanitizer watches reads. */
static void test_cut_at_every_byte(void **state)
{
	struct buf msg = BUF_INIT(1 << 20);
	struct store *st = store_new(STORE_EXACT);
	struct profile *p;
	struct err e;
	uint8_t *copy;
	size_t n;

	(void)state;
	pb_assemble(&msg, STRINGS TYPE TABLES
		    "2{1[1 1] 2[5] 3{1:5 2:6} 3{1:3 3:-1 4:2}} 13[1 2] 9:5");
	for (n = 0; n <= msg.len; n++) {
		copy = xmemdup(msg.data, n);
		e.msg[0] = 0;
		if (profile_decode(st, copy, n, &p, &e) == 0)
			profile_free(p);
		else if (!strstr(e.msg, " byte"))
			assert_string_equal(e.msg, "no sample_type");
		free(copy);
	}
	store_free(st);
	buf_release(&msg);
}

static void test_budget(void **state)
{
	struct buf labels = BUF_INIT(1 << 22), frames = BUF_INIT(1 << 22);
	struct store *st = store_new(STORE_EXACT);
	struct reader *r;
	struct err e = {0};
	int i;

	(void)state;
	/* two bytes a label, twenty when decoded */
	pb_assemble(&labels, TYPE STRINGS);
	buf_put(&labels, "\x12\xd3\x86\3\x12\1\1", 7);
	for (i = 0; i < 25000; i++)
		buf_put(&labels, "\x1a\0", 2);
	/* one byte a frame, four when decoded */
	pb_assemble(&frames, TYPE TABLES STRINGS);
	buf_put(&frames, "\x12\xd7\x86\3\x12\1\1\x0a\xd0\x86\3", 11);
	for (i = 0; i < 50000; i++)
		buf_put(&frames, "\1", 1);

	r = reader_new(st, 50000);
	assert_int_equal(reader_open(r, labels.data, labels.len, &e), -E2BIG);
	assert_string_equal(e.msg,
			    "profile too large: over 200000 bytes decoded (--max-size)");
	assert_int_equal(reader_open(r, frames.data, frames.len, &e), -E2BIG);
	/* what was refused leaves no trace */
	buf_clear(&labels);
	pb_assemble(&labels, TYPE STRINGS TABLES "2{1[1] 2[5] 3{1:1 2:2}}");
	assert_int_equal(reader_open(r, labels.data, labels.len, &e), 0);
	reader_free(r);

	/* less than the small tables take at their least: still refused, not run over */
	r = reader_new(st, 64);
	assert_int_equal(reader_open(r, frames.data, frames.len, &e), -E2BIG);
	reader_free(r);

	/* each message alone fits; arrays of the one before do not count against the next */
	r = reader_new(st, 150000);
	assert_int_equal(reader_open(r, frames.data, frames.len, &e), 0);
	buf_clear(&labels);
	pb_assemble(&labels, TYPE STRINGS);
	buf_put(&labels, "\x12\xa3\x9c\1\x12\1\1", 7);
	for (i = 0; i < 10000; i++)
		buf_put(&labels, "\x1a\0", 2);
	if (reader_open(r, labels.data, labels.len, &e) < 0)
		fail_msg("%s", e.msg);
	reader_free(r);
	reader_free(NULL);
	store_free(st);
	buf_release(&labels);
	buf_release(&frames);
}

/* --- random messages that protobuf-c has written ------------------------------------------- */

static uint64_t seed = 1;

static uint64_t rnd(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

static int64_t rnd_number(void)
{
	switch (rnd(4)) {
	case 0:
		return rnd(3);
	case 1:
		return (int64_t)(rnd(1u << 31) << 32 | rnd(1u << 31));
	case 2:
		return -(int64_t)rnd(1u << 31);
	default:
		return INT64_MIN + (int64_t)rnd(2);
	}
}

#define NSTR 40

static struct str pb_str(const pb_profile *p, int64_t i)
{
	const ProtobufCBinaryData *s = &p->string_table[i];

	return (struct str){s->len ? (const char *)s->data : "", s->len};
}

static void same_str(const struct store *st, uint32_t id, const pb_profile *p, int64_t i)
{
	assert_int_equal(str_cmp(store_str(st, id), pb_str(p, i)), 0);
}

static const void *by_id(void *const *rows, size_t n, uint64_t id)
{
	uint64_t *row_id;
	size_t i;

	for (i = 0; i < n; i++) {
		/* every row message has its id first, behind the base */
		row_id = (uint64_t *)((char *)rows[i] + sizeof(ProtobufCMessage));
		if (*row_id == id)
			return rows[i];
	}
	return NULL;
}

static void same_location(const struct store *st, uint32_t id, const pb_profile *p,
			  uint64_t want_id)
{
	const Perftools__Profiles__Location *w =
		by_id((void **)p->location, p->n_location, want_id);
	const struct location *l = &st->locations[id];
	const Perftools__Profiles__Mapping *wm =
		by_id((void **)p->mapping, p->n_mapping, w->mapping_id);
	const Perftools__Profiles__Function *wf;
	const struct function *f;
	const struct mapping *m;
	uint32_t i;

	assert_true(l->address == w->address);
	assert_int_equal(l->folded, w->is_folded);
	assert_int_equal(l->nlines, w->n_line);
	assert_int_equal(l->mapping == ID_NONE, !wm);
	if (wm) {
		m = &st->mappings[l->mapping];
		assert_true(m->start == wm->memory_start &&
			    m->limit == wm->memory_limit && m->offset == wm->file_offset);
		same_str(st, m->file, p, wm->filename);
		same_str(st, m->build_id, p, wm->build_id);
		assert_int_equal(m->flags, wm->has_functions | wm->has_filenames << 1 |
						   wm->has_line_numbers << 2 |
						   wm->has_inline_frames << 3);
	}
	for (i = 0; i < l->nlines; i++) {
		const struct line *line = &store_lines(st, id)[i];

		wf = by_id((void **)p->function, p->n_function, w->line[i]->function_id);
		f = &st->functions[line->function];
		assert_true(line->line == w->line[i]->line &&
			    line->column == w->line[i]->column &&
			    f->start_line == wf->start_line);
		same_str(st, f->name, p, wf->name);
		same_str(st, f->system_name, p, wf->system_name);
		same_str(st, f->file, p, wf->filename);
	}
}

/* Every label of the message is in the set, in order among those of its key. */
static void same_labels(const struct store *st, uint32_t set, const pb_profile *p,
			const Perftools__Profiles__Sample *w)
{
	const struct label *l;
	uint32_t n, k;
	size_t i, j, before, seen;

	l = store_labels(st, set, &n);
	assert_int_equal(n, w->n_label);
	for (i = 0; i < w->n_label; i++) {
		const Perftools__Profiles__Label *wl = w->label[i];

		before = 0;
		for (j = 0; j < i; j++)
			before +=
				!str_cmp(pb_str(p, w->label[j]->key), pb_str(p, wl->key));
		for (k = 0, seen = 0; k < n; k++) {
			if (!str_cmp(store_str(st, l[k].key), pb_str(p, wl->key)) &&
			    seen++ == before)
				break;
		}
		assert_true(k < n);
		assert_int_equal(l[k].numeric, !wl->str);
		if (wl->str) {
			same_str(st, l[k].str, p, wl->str);
		} else {
			assert_true(l[k].num == wl->num);
			same_str(st, l[k].unit, p, wl->num_unit);
		}
	}
}

static void same_content(const struct profile *p, const pb_profile *w)
{
	const struct store *st = p->store;
	const uint32_t *frames;
	uint32_t n, k;
	size_t i, t;

	assert_int_equal(p->h.ntypes, w->n_sample_type);
	for (i = 0; i < p->h.ntypes; i++) {
		same_str(st, p->h.types[i].type, w, w->sample_type[i]->type);
		same_str(st, p->h.types[i].unit, w, w->sample_type[i]->unit);
	}
	assert_true(p->h.time_ns == w->time_nanos &&
		    p->h.duration_ns == w->duration_nanos && p->h.period == w->period);
	same_str(st, p->h.drop_frames, w, w->drop_frames);
	same_str(st, p->h.keep_frames, w, w->keep_frames);
	same_str(st, p->h.default_type, w, w->default_sample_type);
	same_str(st, p->h.doc_url, w, w->doc_url);
	assert_int_equal(p->h.ncomments, w->n_comment);
	for (i = 0; i < p->h.ncomments; i++)
		same_str(st, p->h.comments[i], w, w->comment[i]);
	assert_int_equal(p->nsamples, w->n_sample);
	for (i = 0; i < p->nsamples; i++) {
		frames = store_frames(st, p->samples[i].stack, &n);
		assert_int_equal(n, w->sample[i]->n_location_id);
		for (k = 0; k < n; k++)
			same_location(st, frames[k], w, w->sample[i]->location_id[k]);
		for (t = 0; t < p->h.ntypes; t++)
			assert_true(profile_values(p, i)[t] == w->sample[i]->value[t]);
		same_labels(st, p->samples[i].labelset, w, w->sample[i]);
	}
}

#define NEW(a, i, type)                                                                  \
	((a)[i] = xmalloc(sizeof(*(a)[i])), perftools__profiles__##type##__init((a)[i]), \
	 (a)[i])
#define ARRAY(n) xcalloc((n) + 1, sizeof(void *))

static uint64_t row_id(size_t i, int shape)
{
	return shape == 0 ? i + 1 : shape == 1 ? 500 - 3 * i : UINT64_MAX - 7919 * i;
}

static void fill_tables(pb_profile *p, int shape)
{
	size_t i, k, n;

	p->mapping = ARRAY(p->n_mapping = rnd(4));
	for (i = 0; i < p->n_mapping; i++) {
		Perftools__Profiles__Mapping *m = NEW(p->mapping, i, mapping);

		m->id = row_id(i, shape);
		m->memory_start = rnd_number();
		m->memory_limit = rnd_number();
		m->file_offset = rnd_number();
		m->filename = rnd(NSTR);
		m->build_id = rnd(NSTR);
		m->has_functions = rnd(2);
		m->has_filenames = rnd(2);
		m->has_line_numbers = rnd(2);
		m->has_inline_frames = rnd(2);
	}
	p->function = ARRAY(p->n_function = 1 + rnd(10));
	for (i = 0; i < p->n_function; i++) {
		Perftools__Profiles__Function *f = NEW(p->function, i, function);

		f->id = row_id(i, shape);
		f->name = rnd(NSTR);
		f->system_name = rnd(NSTR);
		f->filename = rnd(NSTR);
		f->start_line = rnd_number();
	}
	p->location = ARRAY(p->n_location = 1 + rnd(20));
	for (i = 0; i < p->n_location; i++) {
		Perftools__Profiles__Location *l = NEW(p->location, i, location);

		l->id = row_id(i, shape);
		l->mapping_id =
			p->n_mapping && rnd(4) ? row_id(rnd(p->n_mapping), shape) : 0;
		l->address = rnd_number();
		l->is_folded = rnd(2);
		l->line = ARRAY(n = rnd(4));
		l->n_line = n;
		for (k = 0; k < n; k++) {
			Perftools__Profiles__Line *line = NEW(l->line, k, line);

			line->function_id = row_id(rnd(p->n_function), shape);
			line->line = rnd_number();
			line->column = rnd(2) ? rnd_number() : 0;
		}
	}
}

static void fill_samples(pb_profile *p, int shape)
{
	Perftools__Profiles__Label *l;
	size_t i, k;

	p->sample = ARRAY(p->n_sample = rnd(100));
	for (i = 0; i < p->n_sample; i++) {
		Perftools__Profiles__Sample *s = NEW(p->sample, i, sample);

		s->n_location_id = rnd(12);
		s->location_id = xcalloc(s->n_location_id, sizeof(uint64_t));
		for (k = 0; k < s->n_location_id; k++)
			s->location_id[k] = row_id(rnd(p->n_location), shape);
		s->n_value = p->n_sample_type;
		s->value = xcalloc(s->n_value, sizeof(int64_t));
		for (k = 0; k < s->n_value; k++)
			s->value[k] = rnd_number();
		s->label = ARRAY(s->n_label = 1 + rnd(50));
		/* a label that no other sample has keeps samples apart */
		l = NEW(s->label, 0, label);
		l->key = 1;
		l->num = i + 1;
		for (k = 1; k < s->n_label; k++) {
			l = NEW(s->label, k, label);
			l->key = 2 + rnd(NSTR - 2);
			l->str = rnd(NSTR);
			if (!l->str) {
				l->num = rnd_number();
				l->num_unit = rnd(NSTR);
			}
		}
	}
}

static pb_profile *random_profile(void)
{
	pb_profile *p = xmalloc(sizeof(*p));
	int shape = rnd(3);
	size_t i, n;

	perftools__profiles__profile__init(p);
	p->string_table = xcalloc(NSTR, sizeof(*p->string_table));
	p->n_string_table = NSTR;
	for (i = 1; i < NSTR; i++) {
		/* few distinct ones, some equal, some empty, any byte */
		p->string_table[i].len = n = rnd(4);
		p->string_table[i].data = xcalloc(n, 1);
		while (n--)
			p->string_table[i].data[n] = "\0ab\xff\n\xc3\xa9\""[rnd(8)];
	}
	p->sample_type = ARRAY(p->n_sample_type = 1 + rnd(4));
	for (i = 0; i < p->n_sample_type; i++) {
		NEW(p->sample_type, i, value_type)->type = rnd(NSTR);
		p->sample_type[i]->unit = rnd(NSTR);
	}
	fill_tables(p, shape);
	fill_samples(p, shape);
	p->drop_frames = rnd(NSTR);
	p->keep_frames = rnd(NSTR);
	p->time_nanos = rnd_number();
	p->duration_nanos = rnd_number();
	p->period = rnd_number();
	p->comment = xcalloc(5, sizeof(*p->comment));
	p->n_comment = rnd(5);
	for (i = 0; i < p->n_comment; i++)
		p->comment[i] = rnd(NSTR);
	p->default_sample_type = rnd(NSTR);
	p->doc_url = rnd(NSTR);
	return p;
}

static void test_random_against_protobuf_c(void **state)
{
	struct buf msg = BUF_INIT(1 << 24), out = BUF_INIT(1 << 24),
		   out2 = BUF_INIT(1 << 24);
	struct store *st, *st2;
	struct profile *p, *q;
	pb_profile *w;
	struct err e;
	int i;

	(void)state;
	for (i = 0; i < 300; i++) {
		w = random_profile();
		buf_clear(&msg);
		buf_reserve(&msg, perftools__profiles__profile__get_packed_size(w));
		msg.len = perftools__profiles__profile__pack(w, msg.data);
		st = store_new(STORE_EXACT);
		if (profile_decode(st, msg.data, msg.len, &p, &e) < 0)
			fail_msg("%d: %s", i, e.msg);
		same_content(p, w);
		perftools__profiles__profile__free_unpacked(w, NULL);
		/* what we write has the same meaning, for us and for protobuf-c, and is stable */
		buf_clear(&out);
		assert_int_equal(profile_encode(p, &out, &e), 0);
		st2 = store_new(STORE_EXACT);
		if (profile_decode(st2, out.data, out.len, &q, &e) < 0)
			fail_msg("%d, written: %s", i, e.msg);
		w = perftools__profiles__profile__unpack(NULL, out.len, out.data);
		assert_non_null(w);
		same_content(q, w);
		assert_int_equal(p->nsamples, q->nsamples);
		buf_clear(&out2);
		assert_int_equal(profile_encode(q, &out2, &e), 0);
		assert_int_equal(out.len, out2.len);
		assert_memory_equal(out.data, out2.data, out.len);
		perftools__profiles__profile__free_unpacked(w, NULL);
		profile_free(p);
		profile_free(q);
		store_free(st);
		store_free(st2);
	}
	buf_release(&msg);
	buf_release(&out);
	buf_release(&out2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basic),
		cmocka_unit_test(test_packing),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_unknown_and_repeated),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_labels_again),
		cmocka_unit_test(test_many_labels),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_random_against_protobuf_c),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
