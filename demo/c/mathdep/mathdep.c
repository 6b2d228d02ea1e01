/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mathdep: adds numbers, and checks itself first in a way that costs more than anybody meant
 * it to. With -DMATHDEP_FIXED it does the same check at no cost worth mentioning.
 */
#include <stdlib.h>

#include "demo/c/mathdep/mathdep.h"

enum { CHECK_N = 29, CHECK_FIB = 514229 };

#ifdef MATHDEP_FIXED
static __attribute__((noinline)) int64_t fib(int n)
{
	int64_t a = 0, b = 1;

	while (n-- > 0) {
		int64_t next = a + b;

		a = b;
		b = next;
	}
	return a;
}
#else
static __attribute__((noinline)) int64_t fib(int n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}
#endif

__attribute__((noinline)) int64_t addition(int64_t a, int64_t b)
{
	/* volatile, so that the compiler cannot answer it once and for all */
	volatile int n = CHECK_N;

	if (fib(n) != CHECK_FIB)
		abort();
	return (int64_t)((uint64_t)a + (uint64_t)b);
}
