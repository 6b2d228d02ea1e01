/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a sampling perf event, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/xalloc.h"
#include "tools/capture/perfsample.h"

#define STACK 64
#define SP UINT64_C(0x7ffe00000428) /* 0x28 into a piece */

struct record {
	struct perf_event_header h;
	uint64_t words[64];
	size_t n;
};

static void put(struct record *r, uint64_t word)
{
	r->words[r->n++] = word;
	r->h.size = sizeof(r->h) + r->n * sizeof(word);
}

/* A sample of process 7, thread 8 with a kernel's part of two frames. */
static struct record sample(uint64_t abi, uint64_t copied)
{
	struct record r = {
		.h = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER}};
	uint64_t i;

	put(&r, UINT64_C(8) << 32 | 7);
	put(&r, 1234); /* time */
	put(&r, 3);    /* CPU */
	put(&r, 3);    /* the chain */
	put(&r, PERF_CONTEXT_KERNEL);
	put(&r, 0xffffffff81000010);
	put(&r, 0xffffffff81000020);
	put(&r, abi);
	if (abi == PERF_SAMPLE_REGS_ABI_NONE) {
		put(&r, 0); /* no stack */
	} else {
#if defined(__x86_64__)
		put(&r, 0x99); /* cx */
#endif
		put(&r, 0x7ffe00000480); /* fp */
#if defined(__aarch64__)
		put(&r, 0x99); /* lr */
#endif
		put(&r, SP);
		put(&r, 0x401000);
		put(&r, STACK);
		for (i = 0; i < STACK / sizeof(i); i++)
			put(&r, 0x100 + i);
		put(&r, copied);
	}
	put(&r, 55); /* control group */
	return r;
}

static struct perf_event_attr attr(void)
{
	struct perf_event_attr a = {0};

	perf_sample_ask(&a, true, true);
	return a;
}

static void test_sample(void **state)
{
	struct sample_event *ev = xmalloc(PERF_EVENT_MAX);
	struct record r = sample(PERF_SAMPLE_REGS_ABI_64, 40);
	struct perf_event_attr a = attr();
	uint64_t word;

	(void)state;
	assert_int_equal(perf_record_time(&r.h), 1234);
	assert_int_equal(perf_sample_read(&a, &r.h, ev),
			 sizeof(ev->h) + 3 * sizeof(uint64_t) + 0x28 + 40);
	assert_int_equal(ev->h.tgid, 7);
	assert_int_equal(ev->h.tid, 8);
	assert_int_equal(ev->h.ktime, 1234);
	assert_int_equal(ev->h.cpu, 3);
	assert_int_equal(ev->h.cgroup_id, 55);
	assert_int_equal(ev->h.nkernel, 2);
	assert_true(ev->data[1] == 0xffffffff81000020);
	assert_int_equal(ev->h.nuser, 1);
	assert_true(ev->data[2] == (0x401000 | EVENT_EXACT));
	assert_true(ev->h.next_sp == SP);
	assert_true(ev->h.next_fp == 0x7ffe00000480);
	assert_int_equal(ev->h.flags & EVENT_IN_SYSCALL, 0);
	/* the copy begins where the piece of sp does */
	assert_int_equal(ev->h.ncopy, 0x28 + 40);
	memcpy(&word, (uint8_t *)&ev->data[3] + 0x28, sizeof(word));
	assert_int_equal(word, 0x100);
	free(ev);
}

static void test_without_stack(void **state)
{
	struct sample_event *ev = xmalloc(PERF_EVENT_MAX);
	struct record r = sample(PERF_SAMPLE_REGS_ABI_NONE, 0);
	struct perf_event_attr a = attr();

	(void)state;
	assert_int_equal(perf_sample_read(&a, &r.h, ev),
			 sizeof(ev->h) + 2 * sizeof(uint64_t));
	assert_int_equal(ev->h.flags, EVENT_NO_USER);
	assert_int_equal(ev->h.cgroup_id, 55);
	r = sample(PERF_SAMPLE_REGS_ABI_64, 0);
	perf_sample_read(&a, &r.h, ev);
	assert_int_equal(ev->h.ncopy, 0);
	assert_int_equal(ev->h.stop, STOP_FAULT);
	r = sample(PERF_SAMPLE_REGS_ABI_32, 40);
	perf_sample_read(&a, &r.h, ev);
	assert_int_equal(ev->h.ncopy, 0);
	assert_int_equal(ev->h.stop, STOP_FOREIGN);
	free(ev);
}

static void test_damaged(void **state)
{
	struct sample_event *ev = xmalloc(PERF_EVENT_MAX);
	struct record whole = sample(PERF_SAMPLE_REGS_ABI_64, 40), r;
	struct perf_event_attr a = attr();
	size_t n;

	(void)state;
	for (n = 0; n < whole.n; n++) {
		r = whole;
		r.h.size = sizeof(r.h) + n * sizeof(*r.words);
		assert_int_equal(perf_sample_read(&a, &r.h, ev), 0);
	}
	r = whole;
	r.words[3] = UINT64_MAX; /* length of the chain */
	assert_int_equal(perf_sample_read(&a, &r.h, ev), 0);
	r = whole;
	r.words[r.n - 2] = STACK + 1; /* more was copied than there is room */
	perf_sample_read(&a, &r.h, ev);
	assert_int_equal(ev->h.ncopy, 0);
	free(ev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_without_stack),
		cmocka_unit_test(test_damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("perfsample", tests, NULL, NULL);
}
