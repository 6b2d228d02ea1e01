/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a ceiling. Every buffer is made with a maximum size: growth past
 * it is an error that the caller hands on, never an allocation.
 *
 * data/len may be read directly; len may be lowered. Only buf_* may raise it.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* owned; NULL while cap is 0 */
	size_t len, cap, max;
	bool overflow; /* a buf_put* did not fit and was left out */
};

#define BUF_INIT(max_bytes) ((struct buf){.max = (max_bytes)})

void buf_init(struct buf *b, size_t max_bytes);
void buf_release(
	struct buf *b); /* free the memory; the buffer is empty and usable after */
static inline void buf_clear(struct buf *b)
{
	b->len = 0;
	b->overflow = false;
}

/* Room for n more bytes after len: 0, or -E2BIG when that passes max. */
int buf_reserve(struct buf *b, size_t n);

/*
 * Append. Past the maximum nothing is appended, `overflow` is set and -E2BIG returned, so that
 * a caller may write much and check once.
 */
int buf_put(struct buf *b, const void *p, size_t n);
int buf_putc(struct buf *b, char c);
int buf_puts(struct buf *b, const char *s);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Contents as a C string (a NUL is stored after the last byte, not counted in len). */
const char *buf_str(struct buf *b);
