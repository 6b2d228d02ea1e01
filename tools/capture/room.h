/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may use which part of an array that BPF programs read while it is changed. What is given
 * back may be in use by a program that runs at that moment, so it is not given out again before
 * ROOM_REST_NS are over.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOM_REST_NS 1000000000ull

struct room_gap {
	uint32_t first, n;
	uint64_t since_ns; /* when it was given back */
};

struct room {
	struct room_gap *free; /* by first */
	size_t nfree, cap;
	uint32_t used; /* what was given out ever lies below */
	uint32_t size; /* of the array */
};

void room_init(struct room *x, uint32_t size);
void room_release(struct room *x);

/* n in a row: true, or false if there is no room. Grows x->used where nothing else fits. */
bool room_take(struct room *x, uint32_t n, uint64_t now_ns, uint32_t *first);
void room_give(struct room *x, uint32_t first, uint32_t n, uint64_t now_ns);
