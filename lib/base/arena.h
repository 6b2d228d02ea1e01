/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: bump allocation from chunks. Nothing moves once allocated,
 * so pointers into an arena stay good until arena_release().
 */
#pragma once

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
	char *at, *end;	   /* free part of the newest chunk */
	size_t used_bytes; /* sum of all chunks, for budgets */
};

#define ARENA_INIT ((struct arena){0})

void arena_release(struct arena *a);
void *arena_alloc(struct arena *a, size_t n)
	__attribute__((returns_nonnull)); /* 8-aligned */
char *arena_bytes(struct arena *a, const void *p,
		  size_t n); /* copy, NUL after it, unaligned */
