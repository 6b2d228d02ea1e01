/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/xalloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define HEAP_STEP (128 << 20)

void xalloc_huge_pages(void)
{
	uintptr_t from, to;

	/* what is large comes from the heap too, where it finds pages that were used before */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_STEP);
	mallopt(M_TOP_PAD, HEAP_STEP);
	from = ((uintptr_t)sbrk(0) + HUGE_PAGE - 1) & -HUGE_PAGE;
	free(malloc(1 << 20));
	to = (uintptr_t)sbrk(0) & -HUGE_PAGE;
	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static void __attribute__((noreturn)) out_of_memory(void)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s: out of memory\n",
			 program_invocation_short_name);

	if (write(STDERR_FILENO, line, n) < 0)
		_exit(2);
	_exit(2);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = n && size ? calloc(n, size) : calloc(1, 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		out_of_memory();
	return xrealloc(p, bytes);
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	char *p;

	n = strnlen(s, n);
	p = xmalloc(n + 1);
	memcpy(p, s, n);
	p[n] = 0;
	return p;
}

void *xmemdup(const void *p, size_t n)
{
	void *q = xmalloc(n);

	if (n)
		memcpy(q, p, n);
	return q;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory();
	return s;
}

void *xgrow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap + *cap / 2;

	if (n < 16)
		n = 16;
	if (n < need)
		n = need;
	p = xreallocarray(p, n, size);
	*cap = n;
	return p;
}
