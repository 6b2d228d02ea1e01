/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/xalloc.h"

void buf_init(struct buf *b, size_t max_bytes)
{
	*b = BUF_INIT(max_bytes);
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = BUF_INIT(b->max);
}

int buf_reserve(struct buf *b, size_t n)
{
	size_t need, cap;

	if (__builtin_add_overflow(b->len, n, &need) || need > b->max)
		return -E2BIG;
	if (b->data && need <= b->cap)
		return 0;
	cap = b->cap + b->cap / 2;
	if (cap < 64)
		cap = 64;
	if (cap < need)
		cap = need;
	if (cap > b->max)
		cap = b->max;
	/* one byte more than is counted, for buf_str() */
	b->data = xrealloc(b->data, cap + 1);
	b->cap = cap;
	return 0;
}

int buf_put(struct buf *b, const void *p, size_t n)
{
	int r = buf_reserve(b, n);

	if (r < 0) {
		b->overflow = true;
		return r;
	}
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	return 0;
}

int buf_putc(struct buf *b, char c)
{
	return buf_put(b, &c, 1);
}

int buf_puts(struct buf *b, const char *s)
{
	return buf_put(b, s, strlen(s));
}

int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	char small[256];
	va_list again;
	char *big;
	int n, r;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n < (int)sizeof(small)) {
		r = buf_put(b, small, n);
	} else {
		big = xmalloc((size_t)n + 1);
		vsnprintf(big, (size_t)n + 1, fmt, again);
		r = buf_put(b, big, n);
		free(big);
	}
	va_end(again);
	return r;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return r;
}

const char *buf_str(struct buf *b)
{
	if (!b->data)
		b->data = xcalloc(1, 1);
	b->data[b->len] = 0;
	return (const char *)b->data;
}
