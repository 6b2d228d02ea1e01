/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocate or exit. Sizes that come from input are checked against a cap *before* they get
 * here, so running out of memory is the machine's trouble: one line, exit status 2.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Ask for huge pages for the first 128 MiB of the heap, where the system has them to give. For
 * programs that fill much memory and end soon: a fifth of the time of a large profile goes into
 * page faults. To be called before anything large is allocated.
 */
void xalloc_huge_pages(void);

void *xmalloc(size_t n) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n) __attribute__((returns_nonnull));
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* New capacity (at least `need`, growing by half) for an array of items of `size` bytes. */
void *xgrow(void *p, size_t *cap, size_t need, size_t size)
	__attribute__((returns_nonnull));

/* Make room for one more item in the array `p` that holds `n` of `cap` items. */
#define XGROW(p, n, cap)                                                                 \
	do {                                                                             \
		if ((n) >= (cap)) {                                                      \
			size_t cap_ = (cap);                                             \
			(p) = xgrow((p), &cap_, (size_t)(n) + 1, sizeof(*(p)));          \
			(cap) = cap_;                                                    \
		}                                                                        \
	} while (0)

/* Make room for `need` items in all. */
#define XRESERVE(p, cap, need)                                                           \
	do {                                                                             \
		if ((size_t)(need) > (cap)) {                                            \
			size_t cap_ = (cap);                                             \
			(p) = xgrow((p), &cap_, (need), sizeof(*(p)));                   \
			(cap) = cap_;                                                    \
		}                                                                        \
	} while (0)
