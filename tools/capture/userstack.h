/* SPDX-License-Identifier: Apache-2.0 */
/* The user's part of a sample's stack, with what is only unwound now from a copy. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "tools/capture/procs.h"

struct user_stack {
	uint64_t ip[EVENT_USER_MAX]; /* leaf first; with EVENT_EXACT */
	size_t n;
	enum unwind_stop stop;
	bool copied; /* the end was unwound from a copy */
};

void user_stack_read(struct user_stack *u, struct proc *p, const struct sample_event *ev);

/* The address of frame i as it goes into a profile: in the instruction that ran or called. */
uint64_t user_stack_addr(const struct user_stack *u, size_t i,
			 const struct sample_head *h);

/* Names of the counters, by enum unwind_stop. */
extern const char *const unwind_stop_names[];

/*
 * The text of the frame at the root that says why the stack ends there: false for none, as it is
 * complete. file: where it ended, NULL if not known; it goes in where the cause is the file's.
 */
bool user_stack_text(enum unwind_stop stop, const char *file, char *out, size_t size);
